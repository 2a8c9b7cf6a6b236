//! Debug of the messages that hold secrets.

use std::fmt;

use super::{AuthenticationInfo, TaskPushNotificationConfig};

impl fmt::Debug for AuthenticationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scheme,
            credentials,
        } = self;
        f.debug_struct("AuthenticationInfo")
            .field("scheme", scheme)
            .field("credentials", &Redacted(credentials))
            .finish()
    }
}

impl fmt::Debug for TaskPushNotificationConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tenant,
            id,
            task_id,
            url,
            token,
            authentication,
        } = self;
        f.debug_struct("TaskPushNotificationConfig")
            .field("tenant", tenant)
            .field("id", id)
            .field("task_id", task_id)
            .field("url", url)
            .field("token", &Redacted(token))
            .field("authentication", authentication)
            .finish()
    }
}

/// Shows whether there is a secret, and nothing of it.
struct Redacted<'a>(&'a str);

impl fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() {
            "\"\""
        } else {
            "[redacted]"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_secret() {
        let config = TaskPushNotificationConfig {
            url: "https://hook.test".to_owned(),
            token: "hidden-token".to_owned(),
            authentication: Some(AuthenticationInfo {
                scheme: "Bearer".to_owned(),
                credentials: "hidden-credentials".to_owned(),
            }),
            ..Default::default()
        };
        let shown = format!("{config:?} {config:#?}");
        assert!(!shown.contains("hidden"), "{shown}");
        assert!(shown.contains("https://hook.test"), "{shown}");
    }
}

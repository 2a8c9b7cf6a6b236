//! Which protocol version a call may speak.

use std::fmt;

use a2a_proto::header::{RequestedVersion, Version};
use a2a_proto::{A2aError, Method};

/// What an endpoint makes of a call that names no protocol version.
///
/// Patch numbers never matter; any version but 1.0 is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VersionPolicy {
    /// It is taken to speak 1.0.
    AssumeCurrent,
    /// It is refused: to the specification absent means 0.3 (A2A 1.0 §3.6.2).
    #[default]
    Require,
}

impl VersionPolicy {
    pub(crate) fn check(self, requested: &RequestedVersion) -> Result<(), A2aError> {
        match requested {
            RequestedVersion::Version(Version::V1_0) => Ok(()),
            RequestedVersion::Absent if self == Self::AssumeCurrent => Ok(()),
            RequestedVersion::Version(version) => {
                Err(not_supported(format_args!("A2A {version} was asked for")))
            }
            RequestedVersion::Absent | RequestedVersion::Empty => {
                Err(not_supported("a call without a version counts as A2A 0.3"))
            }
            _ => Err(not_supported(
                "the version that was asked for can't be read",
            )),
        }
    }
}

/// The error for a name that is not that of an operation. A 0.3 name gets told what to call instead.
pub(crate) fn unknown_method(
    policy: VersionPolicy,
    requested: &RequestedVersion,
    name: &str,
) -> A2aError {
    let today = NAMES_0_3.iter().find(|(legacy, _)| *legacy == name);
    match (today, requested) {
        (Some((_, method)), RequestedVersion::Absent) => not_supported(format_args!(
            "`{name}` is a method of A2A 0.3, call `{method}` instead"
        )),
        _ => match (policy.check(requested), today) {
            (Err(error), _) => error,
            (Ok(()), Some((_, method))) => A2aError::method_not_found(format!(
                "`{name}` is a method of A2A 0.3; {SPEAKS}, where it is called `{method}`"
            )),
            (Ok(()), None) => A2aError::method_not_found("there is no such method in A2A 1.0"),
        },
    }
}

fn not_supported(what: impl fmt::Display) -> A2aError {
    A2aError::version_not_supported(format!(
        "{what}; {SPEAKS}: send the header `A2A-Version: 1.0`"
    ))
    .with_metadata("supportedVersions", Version::V1_0.to_string())
}

const SPEAKS: &str = "this endpoint speaks A2A 1.0";

/// The JSON-RPC methods of 0.3 and what they are called now.
const NAMES_0_3: [(&str, Method); 10] = [
    ("message/send", Method::SendMessage),
    ("message/stream", Method::SendStreamingMessage),
    ("tasks/get", Method::GetTask),
    ("tasks/cancel", Method::CancelTask),
    ("tasks/resubscribe", Method::SubscribeToTask),
    (
        "tasks/pushNotificationConfig/set",
        Method::CreateTaskPushNotificationConfig,
    ),
    (
        "tasks/pushNotificationConfig/get",
        Method::GetTaskPushNotificationConfig,
    ),
    (
        "tasks/pushNotificationConfig/list",
        Method::ListTaskPushNotificationConfigs,
    ),
    (
        "tasks/pushNotificationConfig/delete",
        Method::DeleteTaskPushNotificationConfig,
    ),
    (
        "agent/getAuthenticatedExtendedCard",
        Method::GetExtendedAgentCard,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_proto::ErrorCode;

    #[test]
    fn ver_04_05_07_08_only_1_0_passes_and_absent_by_choice() {
        for (value, passes) in [
            ("1.0", true),
            ("1.0.7", true),
            ("", false),
            ("0.3", false),
            ("1.1", false),
            ("99.0", false),
            ("abc", false),
        ] {
            for policy in [VersionPolicy::Require, VersionPolicy::AssumeCurrent] {
                assert_eq!(
                    policy.check(&RequestedVersion::parse(value)).is_ok(),
                    passes,
                    "{value}"
                );
            }
        }
        assert!(
            VersionPolicy::AssumeCurrent
                .check(&RequestedVersion::Absent)
                .is_ok()
        );
        let error = VersionPolicy::Require
            .check(&RequestedVersion::Absent)
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::VersionNotSupported);
        assert_eq!(error.metadata()["supportedVersions"], "1.0");
        assert!(
            error.message().contains("A2A-Version: 1.0"),
            "{}",
            error.message()
        );
    }

    #[test]
    fn v03_01_a_method_of_0_3_is_told_its_name_of_today() {
        let current = RequestedVersion::Version(Version::V1_0);
        let error = unknown_method(VersionPolicy::Require, &current, "message/send");
        assert_eq!(error.code(), ErrorCode::MethodNotFound);
        assert!(
            error.message().contains("`SendMessage`"),
            "{}",
            error.message()
        );
        let error = unknown_method(
            VersionPolicy::AssumeCurrent,
            &RequestedVersion::Absent,
            "tasks/get",
        );
        assert_eq!(error.code(), ErrorCode::VersionNotSupported);
        assert!(
            error.message().contains("A2A-Version: 1.0"),
            "{}",
            error.message()
        );
        let error = unknown_method(VersionPolicy::Require, &current, "nope");
        assert_eq!(error.code(), ErrorCode::MethodNotFound);
        let error = unknown_method(VersionPolicy::Require, &RequestedVersion::Absent, "nope");
        assert_eq!(error.code(), ErrorCode::VersionNotSupported);
    }
}

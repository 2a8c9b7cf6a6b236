use std::fmt;

use a2a_proto::v1::{AgentCard, SecurityRequirement, SecurityScheme};
use async_trait::async_trait;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use subtle::ConstantTimeEq as _;

use super::{AuthError, Authenticator, Principal};

/// Callers that are known by a bearer token each (RFC 6750).
///
/// The card announces the scheme `bearer` and requires it, unless it was configured with requirements of its own. How
/// long a look-up takes does not tell how much of a token was right.
///
/// ```
/// use a2a_server::auth::BearerTokens;
/// use a2a_server::{Agent, Principal, executor_fn};
///
/// let agent = Agent::builder(executor_fn(|cx, out| async move {
///     let name = cx.principal().name().unwrap_or("nobody");
///     Ok(out.reply(format!("hello {name}")).await?)
/// }))
/// .authenticator(BearerTokens::new([("token-of-alice", Principal::named("alice"))]));
/// ```
pub struct BearerTokens {
    callers: Vec<(String, Principal)>,
}

impl BearerTokens {
    /// The tokens, and whom each one stands for. Two tokens may stand for one caller, so that tokens can be renewed.
    ///
    /// An empty token lets nobody in.
    pub fn new<T: Into<String>>(tokens: impl IntoIterator<Item = (T, Principal)>) -> Self {
        let callers = tokens
            .into_iter()
            .map(|(token, principal)| (token.into(), principal))
            .filter(|(token, _)| !token.is_empty());
        Self {
            callers: callers.collect(),
        }
    }

    fn caller(&self, token: &[u8]) -> Option<&Principal> {
        // All are looked at, whichever it is.
        self.callers.iter().fold(None, |found, (known, principal)| {
            match bool::from(known.as_bytes().ct_eq(token)) {
                true => Some(principal),
                false => found,
            }
        })
    }
}

#[async_trait]
impl Authenticator for BearerTokens {
    async fn authenticate(&self, parts: &http::request::Parts) -> Result<Principal, AuthError> {
        let Some(header) = parts.headers.get(AUTHORIZATION) else {
            return Err(unauthenticated("Bearer"));
        };
        let caller = bearer_token(header).and_then(|token| self.caller(token));
        caller
            .cloned()
            .ok_or_else(|| unauthenticated(r#"Bearer error="invalid_token""#))
    }

    fn announce(&self, card: &mut AgentCard) {
        if card.security_requirements.is_empty() {
            let scheme = card.security_schemes.entry(SCHEME.to_owned());
            scheme.or_insert_with(SecurityScheme::bearer);
            let requirement = SecurityRequirement::new(SCHEME, [""; 0]);
            card.security_requirements.push(requirement);
        }
    }
}

/// The scheme's name is read in any case (RFC 9110 §11.1).
fn bearer_token(header: &HeaderValue) -> Option<&[u8]> {
    let (scheme, rest) = header.as_bytes().split_at_checked("Bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"Bearer ")
        .then(|| rest.trim_ascii())
}

fn unauthenticated(challenge: &str) -> AuthError {
    AuthError::Unauthenticated {
        challenge: challenge.to_owned(),
    }
}

/// Without the tokens.
impl fmt::Debug for BearerTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BearerTokens")
            .field("callers", &self.callers.len())
            .finish_non_exhaustive()
    }
}

const SCHEME: &str = "bearer";

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> BearerTokens {
        BearerTokens::new([
            ("one", Principal::named("alice")),
            ("two", Principal::named("alice")),
            ("three", Principal::named("bob")),
            ("", Principal::named("nobody")),
        ])
    }

    async fn caller(authorization: &[&str]) -> Result<String, String> {
        let mut request = http::Request::builder();
        for value in authorization {
            request = request.header(AUTHORIZATION, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        match tokens().authenticate(&parts).await {
            Ok(principal) => Ok(principal.name().unwrap_or_default().to_owned()),
            Err(AuthError::Unauthenticated { challenge }) => Err(challenge),
            Err(error) => panic!("{error}"),
        }
    }

    #[tokio::test]
    async fn sec_03_err_08_a_token_stands_for_its_caller() {
        for (header, name) in [
            ("Bearer one", "alice"),
            ("bearer  two ", "alice"),
            ("BEARER three", "bob"),
        ] {
            assert_eq!(caller(&[header]).await.as_deref(), Ok(name), "{header}");
        }
        let none = caller(&[]).await;
        assert_eq!(none.unwrap_err(), "Bearer");
        for header in [
            "Bearer",
            "Bearer ",
            "Bearer on",
            "Bearer onee",
            "Basic one",
            "one",
            "",
        ] {
            let told = caller(&[header]).await.unwrap_err();
            assert_eq!(told, r#"Bearer error="invalid_token""#, "{header}");
        }
    }

    #[test]
    fn sec_10_debug_shows_no_token() {
        let shown = format!("{:?}", tokens());
        assert!(!shown.contains("one") && shown.contains('3'), "{shown}");
    }

    #[test]
    fn the_card_announces_what_is_needed() {
        let mut card = AgentCard::default();
        tokens().announce(&mut card);
        assert!(card.security_schemes.contains_key("bearer"));
        assert!(card.security_requirements[0].schemes.contains_key("bearer"));
        let own = SecurityRequirement::new("oauth", ["read"]);
        let mut card = AgentCard {
            security_requirements: vec![own.clone()],
            ..AgentCard::default()
        };
        tokens().announce(&mut card);
        assert_eq!(card.security_requirements, [own]);
        assert!(card.security_schemes.is_empty());
    }
}

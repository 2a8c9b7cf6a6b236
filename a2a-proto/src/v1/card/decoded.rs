use std::ops::Deref;

use serde_json::Value;

use super::legacy;
use crate::header::Version;
use crate::json::{self, JsonError};
use crate::v1::AgentCard;

/// A card as it was served: read leniently, with the JSON that it came from.
///
/// Signatures are over that JSON, and it alone has what an older card says. Reading takes the shapes that agents in the
/// field write: `null`, `""`, `[]` and `{}` for what is absent, scopes as a bare list, security schemes and
/// requirements as in version 0.3. A security scheme that is still not one is left out.
///
/// ```
/// use a2a_proto::header::Version;
/// use a2a_proto::v1::DecodedCard;
///
/// let card = DecodedCard::from_slice(br#"{"name":"old","url":"https://old.test","skills":null}"#).unwrap();
/// assert_eq!(card.name, "old");
/// assert_eq!(card.peer_version(), Version::V0_3);
/// assert_eq!(card.legacy_url(), Some("https://old.test"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedCard {
    card: AgentCard,
    raw: Value,
}

impl DecodedCard {
    /// Reads a card.
    ///
    /// # Errors
    ///
    /// When the bytes are no JSON object, or a member is of a type that it can't be.
    pub fn from_slice(json: &[u8]) -> Result<Self, JsonError> {
        let raw: Value =
            serde_json::from_slice(json).map_err(|error| JsonError::new(&error, &[]))?;
        Self::from_value(raw)
    }

    /// Reads a card that is parsed already.
    ///
    /// # Errors
    ///
    /// When the value is no object, or a member is of a type that it can't be.
    pub fn from_value(raw: Value) -> Result<Self, JsonError> {
        let mut tidy = raw.clone();
        legacy::tidy(&mut tidy);
        let card = json::from_value(tidy)?;
        Ok(Self { card, raw })
    }

    /// The JSON that was served.
    #[must_use]
    pub fn raw(&self) -> &Value {
        &self.raw
    }

    /// The card without its JSON.
    #[must_use]
    pub fn into_card(self) -> AgentCard {
        self.card
    }

    /// The newest protocol version that the agent names; 0.3 when it names none, as that version did not have to.
    #[must_use]
    pub fn peer_version(&self) -> Version {
        let interfaces = self.card.supported_interfaces.iter();
        interfaces
            .filter_map(|interface| interface.version())
            .chain(
                self.text("protocolVersion")
                    .and_then(|text| text.parse().ok()),
            )
            .max()
            .unwrap_or(Version::V0_3)
    }

    /// The address at the top level of a card of version 0.3.
    #[must_use]
    pub fn legacy_url(&self) -> Option<&str> {
        self.text("url")
    }

    /// The binding at that address, `JSONRPC` unless the card says otherwise.
    #[must_use]
    pub fn legacy_transport(&self) -> Option<&str> {
        self.legacy_url()
            .map(|_| self.text("preferredTransport").unwrap_or("JSONRPC"))
    }

    fn text(&self, member: &str) -> Option<&str> {
        self.raw
            .get(member)?
            .as_str()
            .filter(|text| !text.is_empty())
    }
}

impl Deref for DecodedCard {
    type Target = AgentCard;

    fn deref(&self) -> &AgentCard {
        &self.card
    }
}

/// A card of our own, as if it had been served.
impl From<AgentCard> for DecodedCard {
    fn from(card: AgentCard) -> Self {
        let raw = serde_json::to_value(&card).unwrap_or_default();
        Self { card, raw }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::v1::security_scheme::Scheme;

    fn read(value: Value) -> AgentCard {
        DecodedCard::from_value(value).unwrap().into_card()
    }

    #[test]
    fn w2_what_is_absent_may_be_null_or_empty() {
        let card = read(json!({
            "name": "a", "documentationUrl": "", "iconUrl": null, "provider": {}, "capabilities": {},
            "supportedInterfaces": null, "skills": [{"id": "s", "tags": null, "examples": {}}, null],
            "securitySchemes": [], "signatures": "", "defaultInputModes": {},
        }));
        assert_eq!(card.documentation_url, None);
        assert_eq!(card.provider, None);
        assert!(card.capabilities.is_some());
        assert_eq!(card.skills.len(), 1);
        assert!(card.supported_interfaces.is_empty());
    }

    #[test]
    fn w2_scopes_in_all_forms() {
        for (scopes, expected) in [
            (json!(["a"]), vec!["a".to_owned()]),
            (json!({"list": ["a"]}), vec!["a".to_owned()]),
            (json!({}), vec![]),
            (json!(null), vec![]),
        ] {
            let requirement = json!([{"schemes": {"k": scopes}}]);
            let card = read(json!({
                "securityRequirements": requirement, "skills": [{"securityRequirements": requirement}],
            }));
            assert_eq!(card.security_requirements[0].schemes["k"].list, expected);
            let skill = &card.skills[0];
            assert_eq!(skill.security_requirements, card.security_requirements);
        }
    }

    #[test]
    fn w2_a_bad_security_scheme_is_left_out() {
        let card = read(json!({"securitySchemes": {
            "good": {"apiKeySecurityScheme": {"location": "header", "name": "X"}},
            "tagged": {"scheme": {"$case": "mtlsSecurityScheme", "value": {}}},
            "empty": {}, "unknown": {"quantum": {}}, "wrong": {"apiKeySecurityScheme": 7}, "text": "x",
        }}));
        assert_eq!(
            card.security_schemes.keys().collect::<Vec<_>>(),
            ["good", "tagged"]
        );
    }

    #[test]
    fn card_08_schemes_and_requirements_of_0_3_are_read() {
        let card = DecodedCard::from_value(json!({
            "name": "old", "url": "https://old.test/", "protocolVersion": "0.3.0", "preferredTransport": "GRPC",
            "security": [{"key": []}, {"oauth": ["read"]}],
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
                "web": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "oauth": {"type": "oauth2", "flows": {
                    "implicit": {"authorizationUrl": "https://a.test", "scopes": {}},
                    "clientCredentials": {"tokenUrl": "https://t.test", "scopes": {"read": ""}},
                }},
                "open": {"type": "openIdConnect", "openIdConnectUrl": "https://o.test"},
                "cert": {"type": "mutualTLS"},
            },
        }))
        .unwrap();
        assert_eq!(card.peer_version(), Version::V0_3);
        assert_eq!(card.legacy_transport(), Some("GRPC"));
        assert_eq!(
            card.security_requirements[1].schemes["oauth"].list,
            ["read"]
        );
        assert_eq!(card.security_schemes.len(), 5);
        let Some(Scheme::ApiKeySecurityScheme(key)) = &card.security_schemes["key"].scheme else {
            panic!("no API key");
        };
        assert_eq!(
            (key.location.as_str(), key.name.as_str()),
            ("header", "X-Key")
        );
        let Some(Scheme::Oauth2SecurityScheme(oauth)) = &card.security_schemes["oauth"].scheme
        else {
            panic!("no OAuth");
        };
        let flow = oauth.flows.as_ref().unwrap().flow.as_ref().unwrap();
        let crate::v1::o_auth_flows::Flow::ClientCredentials(flow) = flow else {
            panic!("the deprecated flow was taken");
        };
        assert!(flow.scopes.contains_key("read"));
    }

    #[test]
    fn w3_a_card_of_both_versions_is_one_of_the_newer() {
        let card = DecodedCard::from_value(json!({
            "name": "both", "url": "https://b.test", "protocolVersion": "0.3.0",
            "supportedInterfaces": [{"url": "https://b.test", "protocolBinding": "jsonrpc", "protocolVersion": "1.0.2"}],
        }))
        .unwrap();
        assert_eq!(card.peer_version(), Version::V1_0);
        assert!(card.interface(crate::Binding::JsonRpc).is_some());
        assert_eq!(card.raw()["protocolVersion"], "0.3.0");
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        let error = DecodedCard::from_slice(br#"{"skills":[{"id":7}]}"#).unwrap_err();
        assert_eq!(error.path(), "skills[0].id");
        assert!(DecodedCard::from_slice(b"<html>").unwrap_err().is_syntax());
        assert!(!DecodedCard::from_slice(b"[]").unwrap_err().is_syntax());
    }
}

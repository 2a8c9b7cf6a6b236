//! The card against what is served.

use std::collections::BTreeSet;
use std::fmt;

use a2a_proto::header::Version;
use a2a_proto::v1::{AgentCard, AgentInterface};
use a2a_proto::{Binding, FieldViolation, Validate as _};

use super::Endpoint;

/// Something in an agent's card that is not as it is served, or that some clients can't read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CardFault {
    /// The field of the card, such as `supported_interfaces[1].url`.
    pub field: String,
    /// What is wrong with it, and what to do.
    pub description: String,
}

impl fmt::Display for CardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.description)
    }
}

impl From<FieldViolation> for CardFault {
    fn from(violation: FieldViolation) -> Self {
        Self {
            field: violation.field,
            description: violation.description,
        }
    }
}

impl Endpoint {
    /// What is wrong with the card; each fault is logged as a warning when the endpoint is served.
    ///
    /// | field | fault |
    /// |---|---|
    /// | any that is REQUIRED | it is missing |
    /// | `supported_interfaces[…].protocol_binding` | the binding is not served, or not written as clients compare it |
    /// | `supported_interfaces[…].protocol_version` | it is not 1.0, which is what is spoken here |
    /// | `supported_interfaces[…].url` | it is no http(s) URL, or on gRPC not host and port |
    /// | `supported_interfaces` | a binding that is served is not named |
    /// | `capabilities.extensions[…]` | the URI is empty or stands there twice |
    /// | `security_requirements` | callers are asked for something that nothing here checks; a scheme is not described; or callers are checked and the card does not say so |
    /// | `skills[…].id` | two skills have it |
    /// | `default_input_modes`, `default_output_modes` | it is no media type |
    ///
    /// Of interfaces only those are looked at that the card was given: what is filled in follows what is served.
    #[must_use]
    pub fn card_faults(&self) -> Vec<CardFault> {
        let mut faults = Faults(Vec::new());
        let card = &self.0.card;
        faults.missing(card);
        faults.interfaces(self, card);
        faults.extensions(card);
        faults.security(card, self.0.authenticator.is_some());
        faults.skills(card);
        faults.modes("default_input_modes", &card.default_input_modes);
        faults.modes("default_output_modes", &card.default_output_modes);
        faults.0
    }
}

struct Faults(Vec<CardFault>);

impl Faults {
    fn add(&mut self, field: impl Into<String>, description: impl Into<String>) {
        self.0.push(CardFault {
            field: field.into(),
            description: description.into(),
        });
    }

    fn missing(&mut self, card: &AgentCard) {
        let violations = card.validate_response().err().unwrap_or_default();
        self.0.extend(violations.into_iter().map(CardFault::from));
    }

    fn interfaces(&mut self, endpoint: &Endpoint, card: &AgentCard) {
        for (index, interface) in card.supported_interfaces.iter().enumerate() {
            self.interface(
                endpoint,
                &format!("supported_interfaces[{index}]"),
                interface,
            );
        }
        if card.supported_interfaces.is_empty() {
            return;
        }
        for binding in &endpoint.0.bindings {
            if card.interface(*binding).is_none() {
                let text = format!("{binding} is served and not named");
                self.add("supported_interfaces", text);
            }
        }
    }

    fn interface(&mut self, endpoint: &Endpoint, place: &str, interface: &AgentInterface) {
        let field = format!("{place}.protocol_binding");
        match interface.binding() {
            None => {}
            Some(binding) if !endpoint.serves(binding) => {
                self.add(field, format!("{binding} is not served here"));
            }
            Some(binding) if binding.name() != interface.protocol_binding => {
                let text = format!(
                    "write `{}`: some clients compare letter by letter",
                    binding.name()
                );
                self.add(field, text);
            }
            Some(_) => {}
        }
        if interface.version() != Some(Version::V1_0) {
            let text = "it must be `1.0`: that is spoken here, and some clients use no other";
            self.add(format!("{place}.protocol_version"), text);
        }
        let is_url = interface.url.starts_with("http://") || interface.url.starts_with("https://");
        match interface.binding() {
            Some(Binding::Grpc)
                if interface.url.contains('/') && !interface.url.starts_with("dns:///") =>
            {
                self.add(
                    format!("{place}.url"),
                    "on gRPC it is host and port: some clients take nothing else",
                );
            }
            Some(Binding::JsonRpc | Binding::HttpJson) if !is_url => {
                self.add(
                    format!("{place}.url"),
                    "it must begin with http:// or https://",
                );
            }
            _ => {}
        }
    }

    fn extensions(&mut self, card: &AgentCard) {
        let mut seen = BTreeSet::new();
        for (index, extension) in card.extensions().enumerate() {
            let field = format!("capabilities.extensions[{index}].uri");
            if extension.uri.is_empty() {
                self.add(field, "is required");
            } else if !seen.insert(&extension.uri) {
                self.add(field, "stands there twice");
            }
        }
    }

    fn security(&mut self, card: &AgentCard, is_checked: bool) {
        let required = &card.security_requirements;
        if !required.is_empty() && !is_checked {
            self.add(
                "security_requirements",
                "nothing here checks credentials: set an authenticator, unless a proxy does it",
            );
        }
        if required.is_empty() && is_checked {
            self.add(
                "security_requirements",
                "callers are checked and the card does not say so: add a scheme and a requirement",
            );
        }
        for (index, requirement) in required.iter().enumerate() {
            for name in requirement.schemes.keys() {
                if !card.security_schemes.contains_key(name) {
                    let field = format!("security_requirements[{index}]");
                    self.add(field, format!("there is no security scheme `{name}`"));
                }
            }
        }
    }

    fn skills(&mut self, card: &AgentCard) {
        let mut seen = BTreeSet::new();
        for (index, skill) in card.skills.iter().enumerate() {
            if !seen.insert(&skill.id) {
                self.add(format!("skills[{index}].id"), "another skill has it");
            }
        }
    }

    fn modes(&mut self, field: &str, modes: &[String]) {
        for (index, mode) in modes.iter().enumerate() {
            let is_media_type = mode
                .split_once('/')
                .is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
            if !is_media_type {
                let text = format!("`{mode}` is no media type such as text/plain");
                self.add(format!("{field}[{index}]"), text);
            }
        }
    }
}

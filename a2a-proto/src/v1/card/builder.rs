use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

use crate::v1::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill,
    SecurityRequirement, SecurityScheme,
};
use crate::{FieldViolation, Validate};

/// Builds an [`AgentCard`].
///
/// ```
/// use a2a_proto::Binding;
/// use a2a_proto::v1::{AgentCard, AgentInterface, AgentSkill};
///
/// let card = AgentCard::builder("echo", "Says what it hears")
///     .version("1.2.0")
///     .interface(AgentInterface::new("https://echo.test/a2a", Binding::JsonRpc))
///     .skill(AgentSkill::new("echo", "Echo", "Repeats a text").with_tag("text"))
///     .streaming(true)
///     .build()?;
/// assert!(card.supports_streaming());
/// # Ok::<(), a2a_proto::v1::InvalidCard>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct AgentCardBuilder {
    card: AgentCard,
    capabilities: AgentCapabilities,
}

impl AgentCardBuilder {
    pub(super) fn new(name: String, description: String) -> Self {
        Self {
            card: AgentCard {
                name,
                description,
                version: "0.1.0".to_owned(),
                default_input_modes: vec![TEXT.to_owned()],
                default_output_modes: vec![TEXT.to_owned()],
                ..AgentCard::default()
            },
            capabilities: AgentCapabilities::default(),
        }
    }

    /// The version of the agent, `0.1.0` unless said otherwise.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.card.version = version.into();
        self
    }

    /// Adds an interface; the first one is the preferred one.
    pub fn interface(mut self, interface: AgentInterface) -> Self {
        self.card.supported_interfaces.push(interface);
        self
    }

    /// Adds a skill.
    pub fn skill(mut self, skill: AgentSkill) -> Self {
        self.card.skills.push(skill);
        self
    }

    /// Who runs the agent.
    pub fn provider(mut self, organization: impl Into<String>, url: impl Into<String>) -> Self {
        self.card.provider = Some(AgentProvider::new(organization, url));
        self
    }

    /// Where the documentation is.
    pub fn documentation_url(mut self, url: impl Into<String>) -> Self {
        self.card.documentation_url = Some(url.into());
        self
    }

    /// Where the icon is.
    pub fn icon_url(mut self, url: impl Into<String>) -> Self {
        self.card.icon_url = Some(url.into());
        self
    }

    /// The media types that the agent takes, `text/plain` unless said otherwise.
    pub fn input_modes<M: Into<String>>(mut self, modes: impl IntoIterator<Item = M>) -> Self {
        self.card.default_input_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// The media types that the agent produces, `text/plain` unless said otherwise.
    pub fn output_modes<M: Into<String>>(mut self, modes: impl IntoIterator<Item = M>) -> Self {
        self.card.default_output_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Whether the agent streams.
    pub fn streaming(mut self, supported: bool) -> Self {
        self.capabilities.streaming = Some(supported);
        self
    }

    /// Whether the agent sends push notifications.
    pub fn push_notifications(mut self, supported: bool) -> Self {
        self.capabilities.push_notifications = Some(supported);
        self
    }

    /// Whether the agent has another card for callers that it knows.
    pub fn extended_card(mut self, supported: bool) -> Self {
        self.capabilities.extended_agent_card = Some(supported);
        self
    }

    /// Adds an extension, in place of one with the same URI.
    pub fn extension(mut self, extension: AgentExtension) -> Self {
        self.capabilities
            .extensions
            .retain(|known| known.uri != extension.uri);
        self.capabilities.extensions.push(extension);
        self
    }

    /// Declares a way to authenticate.
    pub fn security_scheme(mut self, name: impl Into<String>, scheme: SecurityScheme) -> Self {
        self.card.security_schemes.insert(name.into(), scheme);
        self
    }

    /// Adds one of the alternatives by which a caller must authenticate.
    pub fn security_requirement(mut self, requirement: SecurityRequirement) -> Self {
        self.card.security_requirements.push(requirement);
        self
    }

    /// The card. Interfaces and skills may be missing: a server adds the interfaces that it serves.
    ///
    /// # Errors
    ///
    /// When a REQUIRED field is empty, a skill has no tag or the id of another one, or a requirement names a scheme
    /// that is not declared.
    pub fn build(mut self) -> Result<AgentCard, InvalidCard> {
        self.card.capabilities = Some(self.capabilities);
        let mut violations = self.card.validate_response().err().unwrap_or_default();
        check_skills(&self.card, &mut violations);
        check_requirements(&self.card, &mut violations);
        if violations.is_empty() {
            Ok(self.card)
        } else {
            Err(InvalidCard { violations })
        }
    }
}

fn check_skills(card: &AgentCard, violations: &mut Vec<FieldViolation>) {
    let mut ids = BTreeSet::new();
    for (index, skill) in card.skills.iter().enumerate() {
        if skill.tags.is_empty() {
            violations.push(FieldViolation::new(
                format!("skills[{index}].tags"),
                "must not be empty",
            ));
        }
        if !ids.insert(&skill.id) {
            violations.push(FieldViolation::new(
                format!("skills[{index}].id"),
                "is the id of another skill",
            ));
        }
    }
}

fn check_requirements(card: &AgentCard, violations: &mut Vec<FieldViolation>) {
    let of_skills = card
        .skills
        .iter()
        .flat_map(|skill| &skill.security_requirements);
    let names = card
        .security_requirements
        .iter()
        .chain(of_skills)
        .flat_map(|requirement| requirement.schemes.keys());
    for name in names.filter(|name| !card.security_schemes.contains_key(*name)) {
        violations.push(FieldViolation::new(
            "security_requirements",
            format!("there is no security scheme {name:?}"),
        ));
    }
}

/// Why a card can't be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCard {
    violations: Vec<FieldViolation>,
}

impl InvalidCard {
    /// What is wrong, and with which field.
    #[must_use]
    pub fn violations(&self) -> &[FieldViolation] {
        &self.violations
    }
}

impl fmt::Display for InvalidCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the agent card is not valid")?;
        for violation in &self.violations {
            write!(f, "; {} {}", violation.field, violation.description)?;
        }
        Ok(())
    }
}

impl Error for InvalidCard {}

const TEXT: &str = "text/plain";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_04_a_skill_needs_all_that_is_required() {
        let skill = AgentSkill::new("", "name", "description");
        let error = AgentCard::builder("a", "b")
            .version("")
            .skill(skill.clone())
            .skill(skill.with_tag("t"))
            .security_requirement(SecurityRequirement::new("key", [""; 0]))
            .build()
            .unwrap_err();
        let fields: Vec<&str> = error
            .violations()
            .iter()
            .map(|violation| violation.field.as_str())
            .collect();
        assert_eq!(
            fields,
            [
                "version",
                "skills[0].id",
                "skills[1].id",
                "skills[0].tags",
                "skills[1].id",
                "security_requirements"
            ]
        );
        assert!(error.to_string().contains(r#"no security scheme "key""#));
    }

    #[test]
    fn ext_an_extension_stands_once() {
        let card = AgentCard::builder("a", "b")
            .extension(AgentExtension::new("u"))
            .extension(AgentExtension::new("u").required())
            .build()
            .unwrap();
        assert_eq!(card.extensions().count(), 1);
        assert_eq!(card.required_extensions().collect::<Vec<_>>(), ["u"]);
    }
}

mod builder;
mod decoded;
mod legacy;
mod parts;

use super::{AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill};
use crate::Binding;

pub use builder::{AgentCardBuilder, InvalidCard};
pub use decoded::DecodedCard;

impl AgentCard {
    /// Builds a card of an agent with that name and description.
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> AgentCardBuilder {
        AgentCardBuilder::new(name.into(), description.into())
    }

    /// The preferred interface of that binding: the first one.
    #[must_use]
    pub fn interface(&self, binding: Binding) -> Option<&AgentInterface> {
        self.interfaces(binding).next()
    }

    /// The interfaces of that binding, the preferred one first.
    pub fn interfaces(&self, binding: Binding) -> impl Iterator<Item = &AgentInterface> {
        self.supported_interfaces
            .iter()
            .filter(move |interface| interface.binding() == Some(binding))
    }

    /// The skill with that id.
    #[must_use]
    pub fn skill(&self, id: &str) -> Option<&AgentSkill> {
        self.skills.iter().find(|skill| skill.id == id)
    }

    /// What the agent says of an extension.
    #[must_use]
    pub fn extension(&self, uri: &str) -> Option<&AgentExtension> {
        self.extensions().find(|extension| extension.uri == uri)
    }

    /// The extensions that the agent supports.
    pub fn extensions(&self) -> impl Iterator<Item = &AgentExtension> {
        self.capabilities
            .iter()
            .flat_map(|capabilities| &capabilities.extensions)
    }

    /// The extensions without which the agent answers nobody.
    pub fn required_extensions(&self) -> impl Iterator<Item = &str> {
        self.extensions()
            .filter(|extension| extension.required)
            .map(|extension| extension.uri.as_str())
    }

    /// Whether the agent streams.
    #[must_use]
    pub fn supports_streaming(&self) -> bool {
        self.can(|capabilities| capabilities.streaming)
    }

    /// Whether the agent sends push notifications.
    #[must_use]
    pub fn supports_push_notifications(&self) -> bool {
        self.can(|capabilities| capabilities.push_notifications)
    }

    /// Whether the agent has another card for callers that it knows.
    #[must_use]
    pub fn has_extended_card(&self) -> bool {
        self.can(|capabilities| capabilities.extended_agent_card)
    }

    fn can(&self, what: impl FnOnce(&AgentCapabilities) -> Option<bool>) -> bool {
        self.capabilities.as_ref().and_then(what) == Some(true)
    }
}

//! What a card says of kagent's extensions.

use a2a_proto::v1::{AgentCard, AgentExtension};

use crate::uri;

/// Announces kagent's extensions on a card.
///
/// An agent that is built with `HitlExtension` and `UsageExtension` announces them by itself; this is for cards that
/// are written by hand. What the card announces already is left as it is.
///
/// ```
/// use a2a_proto::v1::AgentCard;
/// use kagent_ext::card::CardExt;
///
/// let card = AgentCard::default().with_hitl().with_usage().with_hitl();
/// assert_eq!(card.capabilities.unwrap().extensions.len(), 2);
/// ```
pub trait CardExt: Sized + sealed::Sealed {
    /// Announces human in the loop.
    #[must_use]
    fn with_hitl(self) -> Self;

    /// Announces token usage.
    #[must_use]
    fn with_usage(self) -> Self;
}

impl CardExt for AgentCard {
    fn with_hitl(self) -> Self {
        announce(self, hitl())
    }

    fn with_usage(self) -> Self {
        announce(self, usage())
    }
}

pub(crate) fn hitl() -> AgentExtension {
    // The text is the same in every kagent runtime (kagent contract 3.3).
    optional(
        uri::HITL,
        "Human in the loop for tool approval, ask user, and nested subagents",
    )
}

pub(crate) fn usage() -> AgentExtension {
    optional(uri::USAGE, "Task-lifetime token usage")
}

fn optional(uri: &str, description: &str) -> AgentExtension {
    AgentExtension {
        uri: uri.to_owned(),
        description: description.to_owned(),
        required: false,
        params: None,
    }
}

fn announce(mut card: AgentCard, extension: AgentExtension) -> AgentCard {
    let announced = &mut card.capabilities.get_or_insert_default().extensions;
    if announced.iter().all(|known| known.uri != extension.uri) {
        announced.push(extension);
    }
    card
}

mod sealed {
    #[expect(unnameable_types, reason = "only this crate may implement the trait")]
    pub trait Sealed {}

    impl Sealed for a2a_proto::v1::AgentCard {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_card_announces_already_is_left_alone() {
        let own = AgentExtension {
            required: true,
            ..hitl()
        };
        let card = announce(AgentCard::default(), own.clone())
            .with_hitl()
            .with_usage();
        let announced = card.capabilities.unwrap().extensions;
        assert_eq!(announced, [own, usage()]);
    }
}

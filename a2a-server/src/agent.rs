//! An agent put together: executor, card, store, extensions and policies.

mod builder;
mod operations;

use std::fmt;
use std::sync::Arc;

use a2a_proto::v1::AgentCard;

use crate::context::CallContext;
use crate::execution::Engine;
use crate::executor::AgentExecutor;
use crate::limits::Limits;

pub use builder::{AgentBuilder, BuildError};

/// An agent that can be served: the one [`RequestHandler`](crate::RequestHandler) of production.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    engine: Engine,
    card: AgentCard,
    limits: Limits,
    extended_card: Option<ExtendedCard>,
    serving: builder::Serving,
}

/// Gives the card that a caller sees who has proved who it is.
pub(crate) type ExtendedCard = Box<dyn Fn(&CallContext) -> Option<AgentCard> + Send + Sync>;

impl Agent {
    /// Starts to put an agent together.
    pub fn builder(executor: impl AgentExecutor) -> AgentBuilder {
        AgentBuilder::new(executor)
    }

    /// The public card. Which interfaces it names is known once the agent is served.
    #[must_use]
    pub fn card(&self) -> &AgentCard {
        &self.0.card
    }

    /// The limits that are in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Drops every executor at once, without a grace.
    pub fn abort(&self) {
        self.0.engine.abort();
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.0.card.name)
            .finish_non_exhaustive()
    }
}

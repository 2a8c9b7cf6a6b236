//! An agent put together: executor, card, store, extensions and policies.

mod builder;
mod operations;

use std::fmt;
use std::sync::Arc;

use a2a_proto::v1::AgentCard;
use tokio::net::TcpListener;

use crate::bind::Endpoint;
use crate::context::CallContext;
use crate::execution::Engine;
use crate::executor::AgentExecutor;
use crate::limits::Limits;
use crate::router::EndpointService;
use crate::serve::{ServeError, Server};

pub use builder::{AgentBuilder, BuildError};

/// An agent that can be served: the one [`RequestHandler`](crate::RequestHandler) of production.
///
/// Cheap to clone. When the last handle is dropped, servers' included, every executor is dropped at once and its task
/// fails; [`Server::shutdown`] gives them time.
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

    #[cfg(test)]
    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The agent with what stands in front of it: all bindings that are compiled in.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        let serving = &self.0.serving;
        let mut builder = Endpoint::builder(Arc::new(self.clone()), self.0.card.clone())
            .version_policy(serving.version)
            .limits(self.0.limits.clone());
        if let Some(observer) = &serving.observer {
            builder = builder.observer(Arc::clone(observer));
        }
        if let Some(authenticator) = &serving.authenticator {
            builder = builder.authenticator(Arc::clone(authenticator));
        }
        if let Some(bindings) = &serving.bindings {
            builder = builder.bindings(bindings.iter().copied());
        }
        if let Some(url) = &serving.public_url {
            builder = builder.public_url(url);
        }
        builder = builder.trust_forwarded_headers(serving.trusts_forwarded);
        if let Some(path) = &serving.health_path {
            builder = builder.health_path(path);
        }
        if let Some(path) = &serving.json_rpc_path {
            builder = builder.json_rpc_path(path);
        }
        #[cfg(feature = "reflection")]
        let builder = builder.reflection(serving.reflection);
        builder.build()
    }

    /// Serves the agent on an address such as `127.0.0.1:0`, all bindings on one port.
    ///
    /// Tasks that an earlier process left running are set FAILED before; without `bind` it happens at the first call.
    ///
    /// # Errors
    ///
    /// When the address can't be listened on.
    pub async fn bind(&self, address: impl fmt::Display) -> Result<Server, ServeError> {
        self.prepare().await;
        self.endpoint().bind(address).await
    }

    /// Serves the agent on a listener that is bound already; else as [`bind`](Self::bind).
    ///
    /// # Errors
    ///
    /// When the listener's address can't be told.
    pub async fn serve(&self, listener: TcpListener) -> Result<Server, ServeError> {
        self.prepare().await;
        self.endpoint().serve(listener)
    }

    /// Sets FAILED what an earlier process left running.
    pub(crate) async fn prepare(&self) {
        if let Err(error) = self.0.engine.ready().await {
            tracing::warn!(error = %error, "the task store can't be read yet; each call tries again");
        }
    }

    /// The agent as a tower service, for a server of one's own.
    #[must_use]
    pub fn into_service(self) -> EndpointService {
        self.endpoint().into_service()
    }

    /// The agent as an axum router, to be mounted in an application. gRPC paths are absolute: under a prefix only the
    /// HTTP bindings are reached.
    pub fn into_router(self) -> axum::Router {
        self.endpoint().into_router()
    }
}

/// The last handle is gone: nobody could ask for the result, and nobody would stop the executors.
impl Drop for Inner {
    fn drop(&mut self) {
        self.engine.abort();
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.0.card.name)
            .finish_non_exhaustive()
    }
}

//! Serve an A2A 1.0 agent.

mod agent;
pub mod auth;
#[cfg_attr(
    not(all(feature = "jsonrpc", feature = "rest", feature = "grpc")),
    allow(
        dead_code,
        reason = "what several bindings share is not all used by each"
    )
)]
mod bind;
mod clock;
mod context;
mod event;
mod execution;
mod executor;
mod extension;
mod handler;
mod limits;
mod router;
mod serve;
mod sink;
pub mod store;
mod trace;
mod version;

pub use agent::{Agent, AgentBuilder, BuildError};
pub use auth::{AuthError, Authenticator, Principal};
pub use bind::{Endpoint, EndpointBuilder};
pub use context::CallContext;
pub use event::{Event, EventStream};
pub use execution::{
    BoundaryHook, BoundaryPolicy, Busy, ConcurrentMessages, LagPolicy, PersistPolicy, TaskScope,
};
pub use executor::{
    AgentError, AgentExecutor, CancelReason, ExecutionContext, ExecutorFn, PastTasks, ReplyMode,
    executor_fn,
};
pub use extension::Extension;
pub use handler::{RequestHandler, SendReply, TaskReply};
pub use limits::Limits;
pub use router::{EndpointService, ResponseFuture};
pub use serve::{ServeError, Server};
pub use sink::{EventSink, TextStream};
pub use store::{MemoryStore, StoreError, TaskStore};
pub use version::VersionPolicy;

#[doc(no_inline)]
pub use async_trait::async_trait;

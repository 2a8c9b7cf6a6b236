//! Serve an A2A 1.0 agent.

mod agent;
pub mod auth;
mod clock;
mod context;
mod event;
mod execution;
mod executor;
mod extension;
mod handler;
mod limits;
mod sink;
pub mod store;

pub use agent::{Agent, AgentBuilder, BuildError};
pub use auth::{AuthError, Authenticator, Principal};
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
pub use sink::{EventSink, TextStream};
pub use store::{MemoryStore, StoreError, TaskStore};

#[doc(no_inline)]
pub use async_trait::async_trait;

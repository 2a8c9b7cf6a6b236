//! Serve an agent that speaks A2A 1.0: one `async fn`, over JSON-RPC, HTTP+JSON and gRPC on one port.
//!
//! ```no_run
//! use a2a_server::{Agent, executor_fn};
//!
//! # async fn run() -> Result<(), a2a_server::ServeError> {
//! let echo = executor_fn(|cx, out| async move {
//!     out.reply(cx.message().text()).await?;
//!     Ok(())
//! });
//! let server = Agent::builder(echo).name("echo").bind("127.0.0.1:8080").await?;
//! server.wait().await;
//! # Ok(())
//! # }
//! ```
//!
//! - [`AgentExecutor`] is what an agent's author writes; it reads an [`ExecutionContext`] and speaks through an
//!   [`EventSink`].
//! - [`Agent`] and [`AgentBuilder`] put executor, card, [`TaskStore`], [`Extension`]s and policies together.
//! - [`Server`] is a listener; [`Agent::into_router`] and [`Agent::into_service`] are for a server of one's own.
//! - [`AgentRouter`] is many agents behind one server.
//! - [`RequestHandler`] is the eleven operations, for whoever writes a proxy; [`Endpoint`] serves it.
//! - [`Observer`] is told what a server does, for metrics.
//! - [`Limits`] are all limits with their defaults.
//!
//! What an executor sends is stored before anybody sees it. An execution runs on a task of its own: a caller that
//! leaves changes nothing, a panic fails the task, and a reader that is slow holds nobody up.
//!
//! # Feature flags
//!
//! | feature | default | |
//! |---|---|---|
//! | `grpc` | yes | the gRPC binding and its health service |
//! | `jsonrpc` | yes | the JSON-RPC binding |
//! | `rest` | yes | the HTTP+JSON binding |
//! | `reflection` | no | gRPC reflection: `AgentBuilder::reflection` |
//! | `sqlite` | no | [`store::SqliteStore`]: tasks in one SQLite file, which is compiled in |
//! | `testing` | no | [`testing`]: helpers for the tests of agents and of stores |
//!
//! # Cancel safety
//!
//! Dropping the future of a call, or the connection of its caller, ends that call and nothing else. What a call has
//! begun to change is brought to its end. Only CancelTask, shutdown, a store that fails and
//! [`Limits::max_execution_time`] end an execution.
//!
//! # Stability and MSRV
//!
//! Defaults of limits, texts of errors and log output may change in any release. The minimum supported Rust version is
//! 1.89; raising it is a minor change.

#![cfg_attr(docsrs, feature(doc_cfg))]
// What the README shows must compile; it is no part of these pages.
#![cfg_attr(all(doctest, feature = "sqlite"), doc = include_str!("../README.md"))]

mod agent;
mod agent_router;
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
mod observe;
mod router;
mod serve;
mod sink;
pub mod store;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
mod trace;
mod version;

pub use agent::{Agent, AgentBuilder, BuildError};
pub use agent_router::{AgentRouter, AgentRouterService};
pub use auth::{AuthError, Authenticator, Principal};
pub use bind::{CardFault, Endpoint, EndpointBuilder};
pub use context::CallContext;
pub use event::{Event, EventStream};
pub use execution::{
    BoundaryHook, BoundaryPolicy, Busy, ConcurrentMessages, LagPolicy, NO_RESULT, PersistPolicy,
    TaskScope,
};
pub use executor::{
    AgentError, AgentExecutor, CancelReason, ExecutionContext, ExecutorFn, PastTasks, ReplyMode,
    executor_fn,
};
pub use extension::Extension;
pub use handler::{RequestHandler, SendReply, TaskReply};
pub use limits::Limits;
pub use observe::{Observation, Observer};
pub use router::{EndpointService, ResponseFuture};
pub use serve::{ServeError, Server};
pub use sink::{EventSink, TextStream};
pub use store::{MemoryStore, StoreError, TaskStore};
pub use version::VersionPolicy;

#[doc(no_inline)]
pub use async_trait::async_trait;

//! Serve an A2A 1.0 agent.

pub mod auth;
mod context;
mod event;
mod handler;
mod limits;

pub use auth::{AuthError, Authenticator, Principal};
pub use context::CallContext;
pub use event::{Event, EventStream};
pub use handler::{RequestHandler, SendReply, TaskReply};
pub use limits::Limits;

#[doc(no_inline)]
pub use async_trait::async_trait;

//! Serve an A2A 1.0 agent.

pub mod auth;
mod context;
mod event;
mod handler;

pub use auth::{AuthError, Authenticator, Principal};
pub use context::CallContext;
pub use event::{Event, EventStream};
pub use handler::{RequestHandler, SendReply, TaskReply};

#[doc(no_inline)]
pub use async_trait::async_trait;

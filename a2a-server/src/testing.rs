//! For the tests of agents and of stores.
//!
//! A [`Script`] is an executor that does what a test tells it, [`loopback`] serves an agent on a free port, and
//! [`collect`] and [`expect_state`] read its streams. [`store`] tests a store against the rules of its trait.
//!
//! ```
//! use a2a_proto::Method;
//! use a2a_proto::v1::{Message, SendMessageRequest, TaskState};
//! use a2a_server::testing::{Script, Signal, expect_state};
//! use a2a_server::{Agent, CallContext, RequestHandler};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let signal = Signal::new();
//! let script = Script::new().working("on it").wait(&signal).reply("done");
//! let agent = Agent::builder(script).build()?;
//! let request = SendMessageRequest::from(Message::user("go"));
//! let call = CallContext::new(Method::SendStreamingMessage);
//! let mut events = agent.send_streaming_message(call, request).await?;
//! expect_state(&mut events, TaskState::Working).await;
//! signal.reached().await;
//! signal.release();
//! expect_state(&mut events, TaskState::Completed).await;
//! # Ok(())
//! # }
//! ```

mod loopback;
mod read;
mod script;
pub mod store;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use loopback::{Loopback, loopback};
pub use read::{collect, expect_state};
pub use script::{Script, Signal};

/// What takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(60);

//! kagent without a cluster, for the tests of agents: a task store and a gateway that behave as the controller's do.
//!
//! A [`Controller`] starts an agent for each session, as kagent does, and keeps its tasks. A test calls the agent through
//! the gateway, lets the process of a session be started anew from its image ([`Controller::cold_boot`]), makes calls of
//! the task store fail or wait ([`Controller::fail`]), and looks at what was stored ([`Controller::calls`]).
//!
//! ```
//! use kagent_ext::a2a_server::executor_fn;
//! use kagent_ext::byo::Byo;
//! use kagent_ext::testing::Controller;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kagent = Controller::start().await?;
//! kagent.run(|_| {
//!     Byo::new(executor_fn(|cx, out| async move {
//!         out.reply(format!("You said: {}", cx.message().text())).await?;
//!         Ok(())
//!     }))
//! });
//! let answer = kagent.client().send_text("hello").await?.into_task().unwrap();
//! assert_eq!(answer.artifacts[0].text(), "You said: hello");
//! assert_eq!(
//!     kagent.trace(),
//!     ["Create(SUBMITTED)", "Update(WORKING)", "Update(WORKING)", "Update(COMPLETED)", "Settle"],
//! );
//! # Ok(())
//! # }
//! ```
//!
//! It follows what kagent documents and what its own helpers do (kagent contract 2, 7); its database, its network and
//! its suspending of processes are not there: [`Controller::cold_boot`] stands for the last.

mod actors;
mod call;
mod controller;
mod fault;
mod front;
mod gateway;
mod listing;
mod sessions;
mod store_service;

pub use call::{StoreCall, StoreMethod};
pub use controller::{Controller, ControllerBuilder, ShareAccess};
pub use fault::StoreFault;

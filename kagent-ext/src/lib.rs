//! What A2A 1.0 agents and clients need on [kagent](https://kagent.dev): human in the loop, token usage, and the
//! runtime of a bring-your-own agent.
//!
//! A whole agent, with nothing else to depend on:
//!
//! ```no_run
//! use kagent_ext::a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
//! use kagent_ext::byo::{self, ByoError};
//!
//! struct Echo;
//!
//! impl AgentExecutor for Echo {
//!     async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
//!         out.reply(cx.message().text()).await?;
//!         Ok(())
//!     }
//! }
//!
//! fn main() -> Result<(), ByoError> {
//!     byo::run(Echo)
//! }
//! ```
//!
//! - [`byo`] runs an agent; [`config`] is what kagent tells it, [`caller`] who calls it, [`task_store`] where its tasks are.
//! - [`memory`] outlives the process: state for each conversation, and for each pause.
//! - [`hitl`] asks a person and takes the answer, for agents ([`hitl::pause`], [`hitl::Hitl`]) and for clients
//!   ([`hitl::Pause`]).
//! - [`usage`] counts tokens over the life of a task.
//! - [`part`] and [`tool`] show tool calls as kagent's UI knows them; [`text`] reads messages and tasks.
//! - [`testing`] is kagent without a cluster, [`doctor`] checks any agent against its contract.
//! - [`client`] and [`card`] activate and announce the two extensions; [`uri`] has their names.
//!
//! # Feature flags
//!
//! | feature | default | |
//! |---|---|---|
//! | `client` | yes | [`a2a_client`], [`client`] |
//! | `server` | yes | [`a2a_server`], [`byo`], [`caller`], [`memory`], [`task_store`], [`tool`], and the agent's side of [`hitl`] and [`usage`] |
//! | `testing` | no | [`testing`]; with it `client` and `server` |
//! | `doctor` | no | [`doctor`] and the program `byo-doctor`; with it `testing` |
//! | `otel` | no | [`telemetry`]: traces, metrics and logs of a byo agent over OTLP |
//!
//! Payload types, [`config`] and [`uri`] need neither; a client alone pulls in no server.
//!
//! # Cancel safety
//!
//! Dropping a future of [`hitl::pause`] or [`tool::ToolSink`] is as dropping one of
//! [`EventSink`](a2a_server::EventSink): the task, its readers and its store stay the same as one another. Dropping a
//! [`ByoServer`](byo::ByoServer) stops the agent at once; [`shutdown`](byo::ByoServer::shutdown) drains it first.
//!
//! # Stability and MSRV
//!
//! What goes over the wire is kagent's and changes with a new extension URI only. Texts of errors and log output may
//! change in any release. The minimum supported Rust version is 1.89; raising it is a minor change.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(
        feature = "client",
        feature = "server",
        feature = "doctor",
        feature = "otel"
    )),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "the docs are those of all features"
    )
)]

#[cfg(feature = "server")]
pub mod byo;
#[cfg(feature = "server")]
pub mod caller;
pub mod card;
#[cfg(feature = "client")]
pub mod client;
pub mod config;
#[cfg(feature = "doctor")]
#[cfg_attr(docsrs, doc(cfg(feature = "doctor")))]
pub mod doctor;
pub mod hitl;
#[cfg(feature = "server")]
pub mod memory;
pub mod part;
#[cfg(feature = "server")]
pub mod task_store;
#[cfg(feature = "otel")]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod telemetry;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
pub mod text;
#[cfg(feature = "server")]
pub mod tool;
pub mod uri;
pub mod usage;

#[cfg(feature = "client")]
pub use a2a_client;
pub use a2a_proto;
#[cfg(feature = "server")]
pub use a2a_server;

/// Compiles and runs what the README shows.
#[cfg(all(doctest, feature = "client", feature = "server"))]
#[doc = include_str!("../README.md")]
struct Readme;

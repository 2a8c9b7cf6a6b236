//! A typed client for agents that speak A2A 1.0: over JSON-RPC, HTTP+JSON or gRPC, whichever the agent offers.
//!
//! ```no_run
//! # async fn run() -> a2a_client::Result<()> {
//! let client = a2a_client::Client::connect("http://127.0.0.1:8080").await?;
//! let mut reply = client.stream_text("What is the weather?").await?.into_texts();
//! while let Some(text) = reply.next().await {
//!     print!("{}", text?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - [`Client`] has a method for each of the eleven operations; [`ClientBuilder`] its settings.
//! - [`EventStream`] is what a streaming call gives; [`into_task`](EventStream::into_task) folds it, and
//!   [`into_texts`](EventStream::into_texts) gives the text of the reply as it comes.
//! - [`Error`] tells what the agent said from what happened on the way.
//! - [`Interceptor`] stands around every call; [`Transport`] carries it.
//! - [`proto`] has the types that are sent and received.
//!
//! # Feature flags
//!
//! | feature | default | |
//! |---|---|---|
//! | `grpc` | yes | the gRPC binding |
//! | `jsonrpc` | yes | the JSON-RPC binding |
//! | `rest` | yes | the HTTP+JSON binding |
//! | `in-process` | no | calls to a service in the same process: `ClientBuilder::in_process` |
//!
//! TLS is rustls with ring, set up for this client alone: a process needs no default provider, and none is installed.
//!
//! # Limits
//!
//! | what | default | set by |
//! |---|---|---|
//! | to connect, TLS included | 10 s | [`connect_timeout`](ClientBuilder::connect_timeout) |
//! | a call with one answer, and the card | 60 s | [`timeout`](ClientBuilder::timeout), [`with_timeout`](Client::with_timeout) |
//! | sending a message, and opening a stream | none | the same |
//! | an open stream | none | |
//! | an answer, an event, a gRPC request | 16 MiB | [`max_message_bytes`](ClientBuilder::max_message_bytes) |
//! | an agent card | 1 MiB | |
//! | redirects, to the same origin only | 5 | [`http_client`](ClientBuilder::http_client) |
//!
//! A quiet stream is watched by TCP keep-alive from 20 s on, and on HTTP/2 by a ping every 310 s.
//!
//! # Cancel safety
//!
//! Dropping the future of a call ends that call; dropping an [`EventStream`] ends the subscription. Neither touches the
//! task: [`Client::cancel_task`] does. An HTTP/1.1 connection is closed by it, on HTTP/2 only the stream is reset.
//!
//! # Stability and MSRV
//!
//! Default limits, texts of errors, types of their causes and log output may change in any release. The minimum
//! supported Rust version is 1.89; raising it is a minor change.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "grpc", feature = "jsonrpc", feature = "rest")),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "a build without some binding leaves pieces unused that the others share"
    )
)]

mod builder;
mod card;
mod client;
mod context;
mod error;
mod follow;
mod interceptor;
mod pages;
mod retry;
mod route;
mod select;
mod stream;
mod trace;
mod transport;

pub use a2a_proto as proto;
#[doc(no_inline)]
pub use a2a_proto::{A2aError, Binding, ErrorCode};
#[doc(no_inline)]
pub use async_trait::async_trait;
pub use builder::ClientBuilder;
pub use card::CardCache;
pub use client::Client;
pub use context::CallContext;
pub use error::{Error, Result};
pub use follow::Follow;
#[doc(no_inline)]
pub use http;
pub use interceptor::{Interceptor, Next, NextStream};
pub use pages::TaskPages;
#[doc(no_inline)]
pub use reqwest;
pub use retry::Retries;
pub use stream::{EventStream, Texts};
pub use transport::Transport;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! How calls reach an agent.

#[cfg(feature = "grpc")]
pub(crate) mod grpc;
pub(crate) mod http;
#[cfg(feature = "in-process")]
pub(crate) mod in_process;
#[cfg(feature = "jsonrpc")]
pub(crate) mod jsonrpc;
#[cfg(feature = "rest")]
pub(crate) mod rest;
#[cfg(any(feature = "jsonrpc", feature = "rest"))]
mod sse;
pub(crate) mod tls;

#[cfg(any(feature = "jsonrpc", feature = "rest"))]
use std::{
    pin::Pin,
    task::{Context, Poll},
};

#[cfg(any(feature = "jsonrpc", feature = "rest"))]
use a2a_proto::v1::StreamResponse;
use a2a_proto::{Call, Reply, StreamCall};
use async_trait::async_trait;

use crate::{CallContext, EventStream, Result};

/// Carries calls to an agent and brings the answers back.
///
/// The three bindings implement it; so may anything else that can reach an agent, such as a test that answers by
/// itself. A transport has no rules of its own: versions, tenants, capabilities and time limits are the client's.
///
/// # Cancel safety
///
/// A future that is dropped ends its call. Whether the agent has received it is then not known.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Makes a call that has one answer.
    ///
    /// # Errors
    ///
    /// The agent's, and those of the way there.
    async fn unary(&self, call: Call, cx: &mut CallContext) -> Result<Reply>;

    /// Opens a stream; what is refused is an error here, or the first item of the stream.
    ///
    /// # Errors
    ///
    /// The agent's, and those of the way there.
    async fn stream(&self, call: StreamCall, cx: &mut CallContext) -> Result<EventStream>;
}

/// The stream of a server that answered with a single event in place of one.
#[cfg(any(feature = "jsonrpc", feature = "rest"))]
fn one(event: StreamResponse) -> EventStream {
    struct One(Option<StreamResponse>);

    impl futures_core::Stream for One {
        type Item = Result<StreamResponse>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Ready(self.0.take().map(Ok))
        }
    }

    EventStream::new(One(Some(event)))
}

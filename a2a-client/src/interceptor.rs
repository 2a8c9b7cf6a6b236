//! What stands around every call.

use std::fmt;
use std::sync::Arc;

use a2a_proto::{Call, Reply, StreamCall};
use async_trait::async_trait;

use crate::{CallContext, EventStream, Result, Transport};

/// Stands around every call of a client: sees and changes the request before, and the answer after it.
///
/// Interceptors run in the order in which they were added; the last stands next to the transport. To answer by itself, an
/// interceptor does not run `next`; to try again, it clones the request first. For what concerns bytes rather than A2A,
/// layers below the transport are the better place.
///
/// ```
/// use a2a_client::{async_trait, CallContext, Interceptor, Next, NextStream, Result};
/// use a2a_client::proto::{Call, Reply};
///
/// struct Trace;
///
/// #[async_trait]
/// impl Interceptor for Trace {
///     async fn unary(&self, call: Call, cx: &mut CallContext, next: Next<'_>) -> Result<Reply> {
///         cx.headers_mut().insert("traceparent", "00-…".parse().expect("a header value"));
///         next.run(call, cx).await
///     }
/// }
/// ```
#[async_trait]
pub trait Interceptor: Send + Sync + 'static {
    /// Around a call that has one answer.
    ///
    /// # Errors
    ///
    /// Those of `next`, and the interceptor's own.
    async fn unary(&self, call: Call, cx: &mut CallContext, next: Next<'_>) -> Result<Reply> {
        next.run(call, cx).await
    }

    /// Around the opening of a stream. What is to see the events wraps the stream:
    /// [`EventStream::new`](crate::EventStream::new).
    ///
    /// # Errors
    ///
    /// Those of `next`, and the interceptor's own.
    async fn stream(
        &self,
        call: StreamCall,
        cx: &mut CallContext,
        next: NextStream<'_>,
    ) -> Result<EventStream> {
        next.run(call, cx).await
    }
}

#[derive(Clone, Copy)]
struct Chain<'a> {
    interceptors: &'a [Arc<dyn Interceptor>],
    transport: &'a dyn Transport,
}

/// The rest of the way of a call.
#[derive(Clone, Copy)]
pub struct Next<'a>(Chain<'a>);

/// The rest of the way of a call that opens a stream.
#[derive(Clone, Copy)]
pub struct NextStream<'a>(Chain<'a>);

impl<'a> Next<'a> {
    pub(crate) fn new(
        interceptors: &'a [Arc<dyn Interceptor>],
        transport: &'a dyn Transport,
    ) -> Self {
        Self(Chain {
            interceptors,
            transport,
        })
    }

    /// Makes the call.
    ///
    /// # Errors
    ///
    /// Those of the interceptors further in, and of the transport.
    pub async fn run(self, call: Call, cx: &mut CallContext) -> Result<Reply> {
        let Chain {
            interceptors,
            transport,
        } = self.0;
        match interceptors.split_first() {
            Some((first, rest)) => first.unary(call, cx, Self::new(rest, transport)).await,
            None => transport.unary(call, cx).await,
        }
    }
}

impl<'a> NextStream<'a> {
    pub(crate) fn new(
        interceptors: &'a [Arc<dyn Interceptor>],
        transport: &'a dyn Transport,
    ) -> Self {
        Self(Chain {
            interceptors,
            transport,
        })
    }

    /// Opens the stream.
    ///
    /// # Errors
    ///
    /// Those of the interceptors further in, and of the transport.
    pub async fn run(self, call: StreamCall, cx: &mut CallContext) -> Result<EventStream> {
        let Chain {
            interceptors,
            transport,
        } = self.0;
        match interceptors.split_first() {
            Some((first, rest)) => first.stream(call, cx, Self::new(rest, transport)).await,
            None => transport.stream(call, cx).await,
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}

impl fmt::Debug for NextStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextStream").finish_non_exhaustive()
    }
}

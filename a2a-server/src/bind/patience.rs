//! Bodies that stop coming.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::Frame;
use tokio::time::Sleep;

/// A body that ends with an error when nothing of it comes for so long: whoever holds back a request would else hold a
/// connection for as long as it likes.
struct Patience {
    body: Body,
    limit: Duration,
    /// Only of a body that lets itself be waited for.
    sleep: Option<Pin<Box<Sleep>>>,
}

/// Gives the body so much time for each piece of it.
pub(crate) fn patient(body: Body, limit: Duration) -> Body {
    match http_body::Body::is_end_stream(&body) {
        true => body,
        false => Body::new(Patience::new(body, limit)),
    }
}

impl Patience {
    fn new(body: Body, limit: Duration) -> Self {
        Self {
            body,
            limit,
            sleep: None,
        }
    }
}

/// Nothing of the body came for so long.
#[derive(Debug)]
struct Stalled;

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body stopped coming")
    }
}

impl Error for Stalled {}

impl http_body::Body for Patience {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.sleep = None;
            return Poll::Ready(frame);
        }
        let limit = self.limit;
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(sleep.as_mut().poll(cx));
        Poll::Ready(Some(Err(axum::Error::new(Stalled))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

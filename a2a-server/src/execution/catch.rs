//! Panics of code that is not ours, as values.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

/// What was caught: the text of the panic, for the log.
#[derive(Debug)]
pub(crate) struct Panicked(pub(crate) String);

pub(crate) fn catch_now<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        Panicked(text.unwrap_or_else(|| "a panic without a text".to_owned()))
    })
}

/// The future, with a panic of its as an error.
pub(crate) fn catch<F: Future>(future: F) -> Catch<F> {
    Catch { future }
}

pin_project! {
    /// See [`catch`]. No `async fn`: that would hold the future twice, and move it when it is first polled.
    pub(crate) struct Catch<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Catch<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.project().future;
        match catch_now(|| future.poll(cx)) {
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}

/// Polls a future a single time.
pub(crate) async fn poll_once<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "panicked: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

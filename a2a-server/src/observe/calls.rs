//! Calls and their streams.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use a2a_proto::{A2aError, Binding, ErrorCode, Method};
use futures_core::Stream;

use super::{Observation, Watch};
use crate::event::{Event, EventStream};

/// Tells the end of a call when it is dropped.
pub(crate) struct CallGuard {
    watch: Watch,
    binding: Binding,
    method: Method,
    begun: Instant,
    /// A call that nobody has ended was left by its caller.
    error: Option<ErrorCode>,
}

impl CallGuard {
    pub(crate) fn new(watch: &Watch, binding: Binding, method: Method) -> Self {
        watch.tell(&Observation::CallBegan { binding, method });
        Self {
            watch: watch.clone(),
            binding,
            method,
            begun: Instant::now(),
            error: Some(ErrorCode::Canceled),
        }
    }

    pub(crate) fn end(mut self, error: Option<ErrorCode>) {
        self.error = error;
    }

    /// The call is answered by a stream.
    pub(crate) fn open(self, events: EventStream) -> EventStream {
        let (watch, binding, method) = (self.watch.clone(), self.binding, self.method);
        self.end(None);
        if !watch.is_on() {
            return events;
        }
        watch.tell(&Observation::StreamBegan { binding, method });
        EventStream::new(Observing {
            events,
            watch,
            binding,
            method,
            begun: Instant::now(),
            read: 0,
            error: None,
        })
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.watch.tell(&Observation::CallEnded {
            binding: self.binding,
            method: self.method,
            error: self.error,
            took: self.begun.elapsed(),
        });
    }
}

/// A stream that tells its end when it is dropped.
struct Observing {
    events: EventStream,
    watch: Watch,
    binding: Binding,
    method: Method,
    begun: Instant,
    read: u64,
    error: Option<ErrorCode>,
}

impl Stream for Observing {
    type Item = Result<Event, A2aError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = std::task::ready!(Pin::new(&mut self.events).poll_next(cx));
        match &item {
            Some(Ok(_)) => self.read += 1,
            Some(Err(error)) => self.error = Some(error.code()),
            None => {}
        }
        Poll::Ready(item)
    }
}

impl Drop for Observing {
    fn drop(&mut self) {
        self.watch.tell(&Observation::StreamEnded {
            binding: self.binding,
            method: self.method,
            events: self.read,
            error: self.error,
            took: self.begun.elapsed(),
        });
    }
}

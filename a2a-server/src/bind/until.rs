//! A stream of events that ends at the caller's deadline.

use std::pin::Pin;
use std::task::{Context, Poll};

use a2a_proto::A2aError;
use futures_core::Stream;
use tokio::time::{Instant, Sleep};

use crate::event::{Event, EventStream};

/// Ends with DEADLINE_EXCEEDED; the subscription ends with it, and nothing else does.
pub(crate) struct Until {
    events: Option<EventStream>,
    deadline: Pin<Box<Sleep>>,
}

impl Until {
    pub(crate) fn new(events: EventStream, deadline: Instant) -> Self {
        Self {
            events: Some(events),
            deadline: Box::pin(tokio::time::sleep_until(deadline)),
        }
    }

    /// What a call ends with whose deadline has passed.
    pub(crate) fn passed() -> A2aError {
        A2aError::deadline_exceeded("the caller's deadline passed")
    }
}

impl Stream for Until {
    type Item = Result<Event, A2aError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(events) = &mut self.events else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(next) = Pin::new(events).poll_next(cx) {
            return Poll::Ready(next);
        }
        std::task::ready!(self.deadline.as_mut().poll(cx));
        self.events = None;
        Poll::Ready(Some(Err(Self::passed())))
    }
}

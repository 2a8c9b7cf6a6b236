//! What the engine publishes: an event that is encoded once for all who read it.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use a2a_proto::A2aError;
use a2a_proto::v1::{StreamResponse, TaskState};
use bytes::Bytes;
use futures_core::Stream;
use prost::Message as _;

/// A published event, shared by all its readers.
///
/// Its JSON and protobuf forms are made when first asked for and kept.
#[derive(Clone)]
pub struct Event(Arc<Published>);

struct Published {
    response: StreamResponse,
    closes: bool,
    json: OnceLock<Bytes>,
    protobuf: OnceLock<Bytes>,
}

impl Event {
    /// The event itself.
    #[must_use]
    pub fn response(&self) -> &StreamResponse {
        &self.0.response
    }

    /// Whether the stream ends behind this event: a message, a terminal state, or INPUT_REQUIRED; AUTH_REQUIRED too
    /// where boundary events are held.
    ///
    /// The snapshot with which a stream begins never closes it.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.0.closes
    }

    /// The state that this event brings the task into, if it says one.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        self.0.response.state()
    }

    /// The event as ProtoJSON.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.0
            .json
            .get_or_init(|| a2a_proto::json::to_vec(&self.0.response).into())
            .clone()
    }

    /// The event as protobuf.
    #[must_use]
    pub fn protobuf(&self) -> Bytes {
        self.0
            .protobuf
            .get_or_init(|| self.0.response.encode_to_vec().into())
            .clone()
    }

    /// The snapshot with which a stream begins.
    pub(crate) fn snapshot(response: StreamResponse) -> Self {
        Self::new(response, false)
    }

    /// An event behind which the stream ends, whatever it says.
    pub(crate) fn closing(response: StreamResponse) -> Self {
        Self::new(response, true)
    }

    fn new(response: StreamResponse, closes: bool) -> Self {
        Self(Arc::new(Published {
            response,
            closes,
            json: OnceLock::new(),
            protobuf: OnceLock::new(),
        }))
    }
}

impl From<Event> for StreamResponse {
    fn from(event: Event) -> Self {
        event.response().clone()
    }
}

impl From<StreamResponse> for Event {
    fn from(response: StreamResponse) -> Self {
        let closes = match &response.payload {
            Some(a2a_proto::v1::stream_response::Payload::Message(_)) => true,
            _ => response.state().is_some_and(TaskState::is_closing),
        };
        Self::new(response, closes)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.0.response).finish()
    }
}

/// The events of one stream, as they are published.
///
/// After the event that [closes](Event::closes) it, or after an error, the stream ends. Dropping it ends the
/// subscription and nothing else (A2A 1.0 §3.5.2).
pub struct EventStream(Pin<Box<dyn Stream<Item = Result<Event, A2aError>> + Send>>);

impl EventStream {
    /// A stream of events from elsewhere, for a [`RequestHandler`](crate::RequestHandler) of one's own.
    pub fn new(events: impl Stream<Item = Result<Event, A2aError>> + Send + 'static) -> Self {
        Self(Box::pin(events))
    }
}

impl Stream for EventStream {
    type Item = Result<Event, A2aError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}

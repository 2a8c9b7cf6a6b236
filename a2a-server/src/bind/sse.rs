//! A stream of events as server-sent events.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::wire::sse;
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response};
use http_body::Frame;
use tokio::time::{Instant, Sleep};

use super::inbound::{Checked, Outcome};
use crate::event::EventStream;

/// What stands around an event or error in its frame.
pub(super) trait Framing: Send + Unpin + 'static {
    /// Writes an event, given as JSON.
    fn event(&self, json: &[u8], out: &mut BytesMut);

    /// Writes the error with which the stream ends.
    fn error(&self, error: &A2aError, out: &mut BytesMut);
}

/// Waits for the stream to start, so that an error can still be answered in another form, but no longer than the
/// client can be left without a sign of life.
pub(super) async fn start<F: Framing>(
    call: Checked,
    framing: F,
    keep_alive: Duration,
) -> Result<Response<Body>, A2aError> {
    let mut call: Start = Box::pin(call.run());
    let source = match tokio::time::timeout(keep_alive, &mut call).await {
        Ok(outcome) => Source::Events(outcome.and_then(Outcome::into_events)?),
        Err(_) => Source::Starting(call),
    };
    Ok(respond(source, framing, keep_alive))
}

/// A stream that is nothing but an error.
pub(super) fn failed<F: Framing>(error: A2aError, framing: F) -> Response<Body> {
    respond(Source::Failed(error), framing, Duration::MAX)
}

type Start = Pin<Box<dyn Future<Output = Result<Outcome, A2aError>> + Send>>;

enum Source {
    Starting(Start),
    Events(EventStream),
    Failed(A2aError),
    Ended,
}

fn respond<F: Framing>(source: Source, framing: F, keep_alive: Duration) -> Response<Body> {
    let mut response = Response::new(Body::new(SseBody {
        source,
        framing,
        keep_alive,
        silence: Box::pin(tokio::time::sleep(keep_alive)),
    }));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

struct SseBody<F> {
    source: Source,
    framing: F,
    keep_alive: Duration,
    silence: Pin<Box<Sleep>>,
}

impl<F: Framing> SseBody<F> {
    /// Writes what is ready, up to a bound.
    fn fill(&mut self, out: &mut BytesMut, cx: &mut Context<'_>) {
        let mut events = 0;
        while events < EVENTS_A_FRAME && out.len() < BYTES_A_FRAME {
            let next = match &mut self.source {
                Source::Starting(call) => match call.as_mut().poll(cx) {
                    Poll::Pending => return,
                    Poll::Ready(outcome) => {
                        self.source = outcome
                            .and_then(Outcome::into_events)
                            .map_or_else(Source::Failed, Source::Events);
                        continue;
                    }
                },
                Source::Events(events) => match Pin::new(events).poll_next(cx) {
                    Poll::Pending => return,
                    Poll::Ready(next) => next,
                },
                Source::Failed(error) => Some(Err(error.clone())),
                Source::Ended => return,
            };
            match next {
                Some(Ok(event)) => {
                    self.framing.event(&event.json(), out);
                    events += 1;
                }
                Some(Err(error)) => {
                    self.framing.error(&error, out);
                    self.source = Source::Ended;
                }
                None => self.source = Source::Ended,
            }
        }
    }
}

impl<F: Framing> http_body::Body for SseBody<F> {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        let mut out = BytesMut::new();
        this.fill(&mut out, cx);
        if out.is_empty() {
            if matches!(this.source, Source::Ended) {
                return Poll::Ready(None);
            }
            std::task::ready!(this.silence.as_mut().poll(cx));
            sse::write_comment(&mut out, "keep-alive");
        }
        if let Some(next) = Instant::now().checked_add(this.keep_alive) {
            this.silence.as_mut().reset(next);
        }
        Poll::Ready(Some(Ok(Frame::data(out.freeze()))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.source, Source::Ended)
    }
}

/// How many events are joined into one frame of the body.
const EVENTS_A_FRAME: usize = 64;

/// From which size on a frame is sent and no event is added.
const BYTES_A_FRAME: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use a2a_proto::v1::{StreamResponse, Task};
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::event::Event;

    struct Bare;

    impl Framing for Bare {
        fn event(&self, json: &[u8], out: &mut BytesMut) {
            sse::write_event(out, &[json]);
        }

        fn error(&self, error: &A2aError, out: &mut BytesMut) {
            sse::write_error(out, &[error.message().as_bytes()]);
        }
    }

    /// Events that are all there at once.
    struct Ready(std::vec::IntoIter<Event>);

    impl Stream for Ready {
        type Item = Result<Event, A2aError>;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Ready(self.0.next().map(Ok))
        }
    }

    async fn events_a_frame(events: usize, id: &str) -> Vec<usize> {
        let event = Event::from(StreamResponse::from(Task::submitted(id, "c1")));
        let events = EventStream::new(Ready(vec![event; events].into_iter()));
        let mut body = respond(Source::Events(events), Bare, Duration::MAX).into_body();
        let mut counts = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            let text = String::from_utf8(data.to_vec()).unwrap();
            counts.push(text.matches("data: ").count());
        }
        counts
    }

    #[tokio::test]
    async fn ready_events_share_a_frame_up_to_a_number_and_a_size() {
        assert_eq!(events_a_frame(150, "t1").await, [64, 64, 22]);
        let large = "x".repeat(BYTES_A_FRAME / 2);
        assert_eq!(events_a_frame(5, &large).await, [2, 2, 1]);
        assert!(events_a_frame(0, "t1").await.is_empty());
    }
}

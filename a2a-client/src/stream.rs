//! The events of a stream, and what they add up to.

mod texts;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use a2a_proto::Method;
use a2a_proto::apply::ApplyError;
use a2a_proto::header::Extensions;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{SendMessageResponse, StreamResponse, Task, TaskState};
use futures_core::Stream;

use crate::error::{Error, Kind, Result};

pub use texts::Texts;

/// The events of a call, as they come in.
///
/// It ends when the server ends it with the task at rest: terminal, waiting for somebody, or answered by a message. If
/// it ends before that, the last item is an error for which [`Error::is_cut`] is true. After an error there is nothing
/// more.
///
/// Dropping it ends the subscription and leaves the task running.
///
/// # Cancel safety
///
/// [`next`](Self::next) may be dropped at any time; no event is lost.
#[must_use = "a stream does nothing unless it is read"]
pub struct EventStream {
    inner: Pin<Box<dyn Stream<Item = Result<StreamResponse>> + Send>>,
    progress: Progress,
    over: bool,
    call: Option<(Method, String)>,
    activated: Extensions,
    trailing: Option<Arc<OnceLock<Extensions>>>,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    events: u64,
    state: TaskState,
    message: bool,
}

impl EventStream {
    /// A stream of events from anywhere: for transports, and for interceptors that look at events.
    pub fn new(events: impl Stream<Item = Result<StreamResponse>> + Send + 'static) -> Self {
        Self {
            inner: Box::pin(events),
            progress: Progress {
                events: 0,
                state: TaskState::Unspecified,
                message: false,
            },
            over: false,
            call: None,
            activated: Extensions::new(),
            trailing: None,
        }
    }

    /// Where a transport puts the extensions that it learns of only at the end.
    pub(crate) fn with_trailing(mut self, trailing: Arc<OnceLock<Extensions>>) -> Self {
        self.trailing = Some(trailing);
        self
    }

    /// Says which call it is, for its errors.
    pub(crate) fn of(mut self, method: Method, endpoint: &str, activated: Extensions) -> Self {
        self.call = Some((method, endpoint.to_owned()));
        self.activated = activated;
        self
    }

    /// The next event; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<StreamResponse>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The state that the task was in by the last event that said so; UNSPECIFIED before that.
    #[must_use]
    pub fn last_state(&self) -> TaskState {
        self.progress.state
    }

    /// The extensions that the agent said it has activated. Not every agent says it, and over gRPC some say it only at
    /// the end of the stream.
    #[must_use]
    pub fn activated_extensions(&self) -> &Extensions {
        &self.activated
    }

    /// The text of the reply, piece by piece.
    pub fn into_texts(self) -> Texts {
        Texts::new(self)
    }

    /// Reads to the end and gives what a call without a stream would have answered: the task, or a message.
    ///
    /// # Errors
    ///
    /// That of the stream; and when its events belong to different tasks.
    pub async fn into_response(mut self) -> Result<SendMessageResponse> {
        let mut task: Option<Task> = None;
        while let Some(event) = self.next().await {
            let event = event?;
            if let Some(Payload::Message(message)) = event.payload {
                return Ok(message.into());
            }
            match &mut task {
                Some(task) => fold(task, &event).map_err(|error| self.named(error))?,
                None => task = Task::from_event(&event),
            }
        }
        task.map(SendMessageResponse::from)
            .ok_or_else(|| self.named(Error::decode("the stream told of no task")))
    }

    /// Reads to the end and gives the task as its events make it. It may begin with any event.
    ///
    /// # Errors
    ///
    /// That of the stream; when its events belong to different tasks; and when the agent answered with a message, which
    /// [`into_response`](Self::into_response) takes.
    pub async fn into_task(self) -> Result<Task> {
        let call = self.call.clone();
        let response = self.into_response().await?;
        response.into_task().ok_or_else(|| {
            let error = Error::decode("the agent answered with a message, not a task");
            name(&call, error)
        })
    }

    fn named(&self, error: Error) -> Error {
        name(&self.call, error)
    }
}

fn name(call: &Option<(Method, String)>, error: Error) -> Error {
    match call {
        Some((method, endpoint)) => error.during(*method, endpoint),
        None => error,
    }
}

/// Applies an event; what comes after a terminal state is left out, as some peers repeat themselves.
fn fold(task: &mut Task, event: &StreamResponse) -> Result<()> {
    match task.apply(event) {
        Ok(()) | Err(ApplyError::Terminal(_)) => Ok(()),
        Err(error) => Err(Error::decode("an event does not fit the task").with_source(error)),
    }
}

impl Stream for EventStream {
    type Item = Result<StreamResponse>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        let item = std::task::ready!(self.inner.as_mut().poll_next(cx));
        let error = match item {
            Some(Ok(event)) => {
                self.progress.note(&event);
                return Poll::Ready(Some(Ok(event)));
            }
            Some(Err(error)) if matches!(error.kind(), Kind::Transport) => {
                let cut = Error::new(Kind::Cut(self.progress.state)).with_source(error);
                (!self.progress.is_over_for_sure()).then_some(cut)
            }
            Some(Err(error)) => Some(error),
            None => {
                let cut = Error::new(Kind::Cut(self.progress.state));
                (!self.progress.is_at_rest()).then_some(cut)
            }
        };
        self.over = true;
        if let Some(late) = self.trailing.take().as_ref().and_then(|slot| slot.get()) {
            self.activated.extend(late.iter());
        }
        Poll::Ready(error.map(|error| Err(self.named(error))))
    }
}

impl Progress {
    fn note(&mut self, event: &StreamResponse) {
        self.events += 1;
        // Some peers go on behind the end; a terminal state stays.
        if !self.state.is_terminal() {
            self.state = event.state().unwrap_or(self.state);
        }
        self.message |= matches!(event.payload, Some(Payload::Message(_)));
    }

    /// Whether a server may end the stream here.
    fn is_at_rest(self) -> bool {
        self.message || self.state.is_boundary()
    }

    /// Whether the stream was over even if the connection broke then. A first snapshot of a paused task does not tell:
    /// some servers show the pause that is being answered.
    fn is_over_for_sure(self) -> bool {
        self.message || self.state.is_terminal() || (self.state.is_boundary() && self.events > 1)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("call", &self.call)
            .field("progress", &self.progress)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

//! The only way for an executor to speak.

mod text;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_proto::A2aError;
use a2a_proto::v1::{
    Artifact, Message, Part, StreamResponse, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use prost::Message as _;

use crate::execution::SinkTarget;

pub use text::TextStream;

/// Where an executor sends its events to.
///
/// Ids, timestamps and roles that an event lacks are filled in. Each method returns when the event is stored and
/// published; one that fails has changed nothing. After an event that closes the task (a terminal state or
/// INPUT_REQUIRED) every further one is refused.
///
/// Cheap to clone.
///
/// # Cancel safety
///
/// A send that is dropped while it waits its turn has no effect; once begun it is brought to its end without its
/// sender. No future of this type leaves the task, its readers and its store different from one another.
#[derive(Clone)]
pub struct EventSink {
    target: SinkTarget,
    pace: Arc<Pace>,
}

/// What has been sent since readers were last let in.
#[derive(Default)]
struct Pace {
    events: AtomicUsize,
    bytes: AtomicUsize,
}

impl EventSink {
    pub(crate) fn new(target: SinkTarget) -> Self {
        Self {
            target,
            pace: Arc::default(),
        }
    }

    /// Sends any event of this task.
    ///
    /// # Errors
    ///
    /// InvalidAgentResponse for an event that names another task or breaks the protocol, UnsupportedOperation when
    /// the task is closed, INTERNAL when it can't be stored.
    pub async fn send(&self, event: impl Into<StreamResponse>) -> Result<(), A2aError> {
        let event = event.into();
        let size = event.encoded_len();
        self.target.send(event).await?;
        if self.pace.is_over(size) {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Says that the agent works, and on what. The text is a passing line: it replaces the one before.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn working(&self, text: impl Into<String>) -> Result<(), A2aError> {
        self.status(TaskState::Working, Some(Message::agent(text)))
            .await
    }

    /// Starts a text that is streamed in chunks, as one artifact.
    #[must_use]
    pub fn text(&self) -> TextStream {
        TextStream::new(self.clone(), self.target.replaces_text())
    }

    /// Sends an artifact whole. One with the same id is replaced; an empty id is filled in.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn artifact(&self, artifact: Artifact) -> Result<(), A2aError> {
        self.send(TaskArtifactUpdateEvent {
            artifact: Some(artifact),
            last_chunk: true,
            ..TaskArtifactUpdateEvent::default()
        })
        .await
    }

    /// Asks the user and closes the task until the answer comes, which starts a new execution.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn input_required(&self, question: impl Into<Message>) -> Result<(), A2aError> {
        self.status(TaskState::InputRequired, Some(question.into()))
            .await
    }

    /// Asks for an authorization. The sink stays open, except where boundary events are held: the agent may go on
    /// when it comes, and a message of the user reaches it through
    /// [`ExecutionContext::next_message`](crate::ExecutionContext::next_message).
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn auth_required(&self, explanation: impl Into<Message>) -> Result<(), A2aError> {
        self.status(TaskState::AuthRequired, Some(explanation.into()))
            .await
    }

    /// Answers with a text, as an artifact, and completes the task.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn reply(&self, text: impl Into<String>) -> Result<(), A2aError> {
        self.artifact(Artifact::new("", [Part::text(text)])).await?;
        self.complete().await
    }

    /// Completes the task. Results are in its artifacts: a text here would not be shown.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn complete(&self) -> Result<(), A2aError> {
        self.status(TaskState::Completed, None).await
    }

    /// Fails the task, and says why.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn fail(&self, text: impl Into<String>) -> Result<(), A2aError> {
        self.status(TaskState::Failed, Some(Message::agent(text)))
            .await
    }

    /// Declines the task, and says why.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn reject(&self, text: impl Into<String>) -> Result<(), A2aError> {
        self.status(TaskState::Rejected, Some(Message::agent(text)))
            .await
    }

    /// Answers without a task: only a [`ReplyMode::Either`](crate::ReplyMode::Either) executor may, as its first and
    /// only event.
    ///
    /// # Errors
    ///
    /// InvalidAgentResponse when there is a task.
    pub async fn message(&self, message: impl Into<Message>) -> Result<(), A2aError> {
        self.send(message.into()).await
    }

    /// Sends a status.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn status(&self, state: TaskState, message: Option<Message>) -> Result<(), A2aError> {
        let status = TaskStatus {
            state: state.into(),
            message,
            timestamp: None,
        };
        self.send(TaskStatusUpdateEvent {
            status: Some(status),
            ..TaskStatusUpdateEvent::default()
        })
        .await
    }
}

impl Pace {
    /// Whether so much has been sent that the readers are to be let in, even by an executor that never waits.
    fn is_over(&self, size: usize) -> bool {
        let events = self.events.fetch_add(1, Ordering::Relaxed) + 1;
        let bytes = self.bytes.fetch_add(size, Ordering::Relaxed) + size;
        let over = events >= PACE_EVENTS || bytes >= PACE_BYTES;
        if over {
            self.events.store(0, Ordering::Relaxed);
            self.bytes.store(0, Ordering::Relaxed);
        }
        over
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSink").finish_non_exhaustive()
    }
}

const PACE_EVENTS: usize = 128;
const PACE_BYTES: usize = 1 << 20;

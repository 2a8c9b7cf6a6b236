use super::stream_response::Payload;
use super::{
    Artifact, Message, Part, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};

impl TaskState {
    /// COMPLETED, FAILED, CANCELED or REJECTED: final.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// INPUT_REQUIRED or AUTH_REQUIRED: waiting for somebody.
    #[must_use]
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Terminal or INPUT_REQUIRED: ends the streams of the task.
    #[must_use]
    pub fn is_closing(self) -> bool {
        self.is_terminal() || self == Self::InputRequired
    }

    /// Terminal or interrupted: a blocking send returns.
    #[must_use]
    pub fn is_boundary(self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }
}

impl TaskStatus {
    /// A status without message and timestamp.
    #[must_use]
    pub fn new(state: TaskState) -> Self {
        Self {
            state: state.into(),
            message: None,
            timestamp: None,
        }
    }

    /// A status with a message.
    #[must_use]
    pub fn with_message(state: TaskState, message: Message) -> Self {
        Self {
            state: state.into(),
            message: Some(message),
            timestamp: None,
        }
    }
}

impl Task {
    /// A new task in SUBMITTED.
    #[must_use]
    pub fn submitted(id: impl Into<String>, context_id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            context_id: context_id.into(),
            status: Some(TaskStatus::new(TaskState::Submitted)),
            ..Self::default()
        }
    }

    /// The state; UNSPECIFIED when the status is missing or the number unknown.
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.status
            .as_ref()
            .map_or(TaskState::Unspecified, TaskStatus::state)
    }

    /// The message of the status.
    #[must_use]
    pub fn status_message(&self) -> Option<&Message> {
        self.status.as_ref()?.message.as_ref()
    }

    /// The artifact with that id.
    #[must_use]
    pub fn artifact(&self, id: &str) -> Option<&Artifact> {
        self.artifacts
            .iter()
            .find(|artifact| artifact.artifact_id == id)
    }

    /// The text of all artifacts, one a line.
    #[must_use]
    pub fn artifact_text(&self) -> String {
        let texts: Vec<String> = self.artifacts.iter().map(Artifact::text).collect();
        texts.join("\n")
    }
}

impl Artifact {
    /// An artifact of these parts.
    #[must_use]
    pub fn new(id: impl Into<String>, parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            artifact_id: id.into(),
            parts: parts.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The text parts, joined without a separator: chunks of a stream are parts of their own.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }
}

impl StreamResponse {
    /// The state that this event brings the task into, if it says one.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        match self.payload.as_ref()? {
            Payload::Task(task) => Some(task.state()),
            Payload::StatusUpdate(update) => Some(update.status.as_ref()?.state()),
            Payload::ArtifactUpdate(_) | Payload::Message(_) => None,
        }
    }

    /// The task that the event belongs to; empty where it names none.
    #[must_use]
    pub fn task_id(&self) -> &str {
        match &self.payload {
            Some(Payload::Task(task)) => &task.id,
            Some(Payload::Message(message)) => &message.task_id,
            Some(Payload::StatusUpdate(update)) => &update.task_id,
            Some(Payload::ArtifactUpdate(update)) => &update.task_id,
            None => "",
        }
    }
}

impl From<Task> for StreamResponse {
    fn from(task: Task) -> Self {
        Self {
            payload: Some(Payload::Task(task)),
        }
    }
}

impl From<Message> for StreamResponse {
    fn from(message: Message) -> Self {
        Self {
            payload: Some(Payload::Message(message)),
        }
    }
}

impl From<TaskStatusUpdateEvent> for StreamResponse {
    fn from(update: TaskStatusUpdateEvent) -> Self {
        Self {
            payload: Some(Payload::StatusUpdate(update)),
        }
    }
}

impl From<TaskArtifactUpdateEvent> for StreamResponse {
    fn from(update: TaskArtifactUpdateEvent) -> Self {
        Self {
            payload: Some(Payload::ArtifactUpdate(update)),
        }
    }
}

use super::stream_response::Payload;
use super::{
    Artifact, Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};

impl TaskStatusUpdateEvent {
    /// The news that a task has a new status.
    #[must_use]
    pub fn new(
        task_id: impl Into<String>,
        context_id: impl Into<String>,
        status: TaskStatus,
    ) -> Self {
        Self {
            task_id: task_id.into(),
            context_id: context_id.into(),
            status: Some(status),
            metadata: None,
        }
    }
}

impl TaskArtifactUpdateEvent {
    /// The news that a task has an artifact, or has it with another content.
    #[must_use]
    pub fn new(
        task_id: impl Into<String>,
        context_id: impl Into<String>,
        artifact: Artifact,
    ) -> Self {
        Self {
            task_id: task_id.into(),
            context_id: context_id.into(),
            artifact: Some(artifact),
            ..Self::default()
        }
    }

    /// Makes it a chunk: its parts go behind those that the artifact has.
    #[must_use]
    pub fn appended(mut self) -> Self {
        self.append = true;
        self
    }

    /// Says that nothing more comes for this artifact.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.last_chunk = true;
        self
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

    /// The context that the event belongs to; empty where it names none.
    #[must_use]
    pub fn context_id(&self) -> &str {
        match &self.payload {
            Some(Payload::Task(task)) => &task.context_id,
            Some(Payload::Message(message)) => &message.context_id,
            Some(Payload::StatusUpdate(update)) => &update.context_id,
            Some(Payload::ArtifactUpdate(update)) => &update.context_id,
            None => "",
        }
    }

    /// The text that the event brings: of its artifact, its status, its message, or its whole task.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.payload {
            Some(Payload::Task(task)) => task.text(),
            Some(Payload::Message(message)) => message.text(),
            Some(Payload::StatusUpdate(update)) => update
                .status
                .as_ref()
                .map(TaskStatus::text)
                .unwrap_or_default(),
            Some(Payload::ArtifactUpdate(update)) => update
                .artifact
                .as_ref()
                .map(Artifact::text)
                .unwrap_or_default(),
            None => String::new(),
        }
    }
}

macro_rules! payloads {
    ($($variant:ident($message:ty);)*) => {
        $(
            impl From<$message> for StreamResponse {
                fn from(payload: $message) -> Self {
                    Self {
                        payload: Some(Payload::$variant(payload)),
                    }
                }
            }
        )*
    };
}

payloads! {
    Task(Task);
    Message(Message);
    StatusUpdate(TaskStatusUpdateEvent);
    ArtifactUpdate(TaskArtifactUpdateEvent);
}

use std::fmt;
use std::str::FromStr;

use super::{Artifact, Message, Part, Task, TaskState, TaskStatus, UnknownName};
use crate::{Struct, Timestamp};

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

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str_name())
    }
}

impl FromStr for TaskState {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::from_str_name(name).ok_or(UnknownName)
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
            message: Some(message),
            ..Self::new(state)
        }
    }

    /// Sets the time of the change.
    #[must_use]
    pub fn at(mut self, time: impl Into<Timestamp>) -> Self {
        self.timestamp = Some(time.into());
        self
    }

    /// The text of the message; empty without one.
    #[must_use]
    pub fn text(&self) -> String {
        self.message.as_ref().map(Message::text).unwrap_or_default()
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

    /// The text of the status' message; empty without one.
    #[must_use]
    pub fn status_text(&self) -> String {
        self.status
            .as_ref()
            .map(TaskStatus::text)
            .unwrap_or_default()
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
        let texts: Vec<String> = self
            .artifacts
            .iter()
            .map(Artifact::text)
            .filter(|text| !text.is_empty())
            .collect();
        texts.join("\n")
    }

    /// What the agent has to say: the text of the artifacts, or without any the text of the status.
    #[must_use]
    pub fn text(&self) -> String {
        match self.artifact_text() {
            text if text.is_empty() => self.status_text(),
            text => text,
        }
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

    /// Sets the name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets a metadata entry.
    #[must_use]
    pub fn with_metadata(
        mut self,
        key: impl Into<String>,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        self.metadata
            .get_or_insert_with(Struct::new)
            .insert(key, value);
        self
    }

    /// The text parts, joined without a separator: chunks of a stream are parts of their own.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }
}

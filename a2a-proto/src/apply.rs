//! The one reducer: how an event changes a task.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::Struct;
use crate::v1::stream_response::Payload;
use crate::v1::{
    Artifact, Message, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};

/// Why an event can't be applied to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplyError {
    /// The event belongs to another context.
    ForeignContext,
    /// The event belongs to another task.
    ForeignTask,
    /// The event has no payload, or the payload lacks its status or artifact.
    Incomplete,
    /// The task is in a terminal state, which is final.
    Terminal(TaskState),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignContext => f.write_str("the event belongs to another context"),
            Self::ForeignTask => f.write_str("the event belongs to another task"),
            Self::Incomplete => f.write_str("the event has no status, artifact, task or message"),
            Self::Terminal(state) => write!(f, "the task is in the terminal state {state}"),
        }
    }
}

impl std::error::Error for ApplyError {}

impl Task {
    /// Applies an event: the same on a server that stores the task and on a client that follows it.
    ///
    /// - A status replaces the status; the message of the one before goes to the history, and the event's metadata is
    ///   merged into the task's.
    /// - An artifact replaces the one with its id or is added. With `append` its parts go behind the parts that are
    ///   there, and are never joined with them; metadata is merged by key, extensions are united, and a name or
    ///   description that is not empty wins.
    /// - A task is a snapshot that replaces all.
    /// - A message changes nothing.
    ///
    /// Applying the same status or snapshot again changes nothing (A2A 1.0 §3.7, §4.2).
    ///
    /// # Errors
    ///
    /// When the event belongs to another task or context, is incomplete, or would change a task in a terminal state.
    /// The task is unchanged then.
    pub fn apply(&mut self, event: &StreamResponse) -> Result<(), ApplyError> {
        match &event.payload {
            Some(Payload::StatusUpdate(update)) => self.apply_status(update),
            Some(Payload::ArtifactUpdate(update)) => self.apply_artifact(update),
            Some(Payload::Task(task)) => self.apply_snapshot(task),
            Some(Payload::Message(_)) => Ok(()),
            None => Err(ApplyError::Incomplete),
        }
    }

    /// The task as far as a single event tells it: where a fold starts that has not seen the task itself.
    ///
    /// An artifact tells no status. `None` for a message and for an incomplete event.
    #[must_use]
    pub fn from_event(event: &StreamResponse) -> Option<Self> {
        if let Some(Payload::Task(task)) = &event.payload {
            return Some(task.clone());
        }
        if let Some(Payload::Message(_)) = &event.payload {
            return None;
        }
        let mut task = Self {
            id: event.task_id().to_owned(),
            context_id: event.context_id().to_owned(),
            ..Self::default()
        };
        task.apply(event).ok()?;
        Some(task)
    }

    fn apply_status(&mut self, update: &TaskStatusUpdateEvent) -> Result<(), ApplyError> {
        self.check_ids(&update.task_id, &update.context_id)?;
        let status = update.status.as_ref().ok_or(ApplyError::Incomplete)?;
        if self.status.as_ref() != Some(status) {
            self.check_open()?;
            self.replace_status(status.clone());
        } else if self.state().is_terminal() {
            return Ok(());
        }
        merge(&mut self.metadata, update.metadata.as_ref());
        Ok(())
    }

    fn apply_artifact(&mut self, update: &TaskArtifactUpdateEvent) -> Result<(), ApplyError> {
        self.check_ids(&update.task_id, &update.context_id)?;
        let artifact = update.artifact.as_ref().ok_or(ApplyError::Incomplete)?;
        self.check_open()?;
        // From the back: a stream appends to the newest.
        let known = self
            .artifacts
            .iter_mut()
            .rfind(|known| known.artifact_id == artifact.artifact_id);
        match known {
            Some(known) if update.append => append(known, artifact),
            Some(known) => known.clone_from(artifact),
            None => self.artifacts.push(artifact.clone()),
        }
        Ok(())
    }

    fn apply_snapshot(&mut self, task: &Self) -> Result<(), ApplyError> {
        self.check_ids(&task.id, &task.context_id)?;
        if task.state() != self.state() {
            self.check_open()?;
        }
        self.clone_from(task);
        Ok(())
    }

    /// Sets the status and moves the message of the one before to the history.
    fn replace_status(&mut self, status: TaskStatus) {
        let previous = self
            .status
            .replace(status)
            .and_then(|status| status.message);
        let Some(message) = previous else { return };
        let current = self
            .status
            .as_ref()
            .and_then(|status| status.message.as_ref());
        if !same_message(current, &message) && !same_message(self.history.last(), &message) {
            self.history.push(message);
        }
    }

    fn check_ids(&self, task_id: &str, context_id: &str) -> Result<(), ApplyError> {
        if task_id != self.id {
            return Err(ApplyError::ForeignTask);
        }
        // Peers of the wire that leave the context out are tolerated; a different one is not.
        let known = !self.context_id.is_empty() && !context_id.is_empty();
        if known && context_id != self.context_id {
            return Err(ApplyError::ForeignContext);
        }
        Ok(())
    }

    fn check_open(&self) -> Result<(), ApplyError> {
        match self.state() {
            state if state.is_terminal() => Err(ApplyError::Terminal(state)),
            _ => Ok(()),
        }
    }
}

fn append(known: &mut Artifact, chunk: &Artifact) {
    known.parts.extend(chunk.parts.iter().cloned());
    if !chunk.name.is_empty() {
        known.name.clone_from(&chunk.name);
    }
    if !chunk.description.is_empty() {
        known.description.clone_from(&chunk.description);
    }
    merge(&mut known.metadata, chunk.metadata.as_ref());
    for extension in &chunk.extensions {
        if !known.extensions.contains(extension) {
            known.extensions.push(extension.clone());
        }
    }
}

fn merge(into: &mut Option<Struct>, from: Option<&Struct>) {
    let Some(from) = from else { return };
    into.get_or_insert_default().merge(from);
}

fn same_message(known: Option<&Message>, message: &Message) -> bool {
    known.is_some_and(|known| {
        known.message_id == message.message_id
            && (!message.message_id.is_empty() || known == message)
    })
}

//! What an executor sends, made right: ids, timestamps, roles, and no event of another task.

use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{
    Artifact, Message, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use a2a_proto::{A2aError, Validate as _};

use super::entry::Entry;
use crate::clock;

/// A status of the task, now.
pub(crate) fn status_event(
    entry: &Entry,
    state: TaskState,
    message: Option<Message>,
) -> StreamResponse {
    let mut update = TaskStatusUpdateEvent {
        task_id: entry.task_id().to_owned(),
        context_id: entry.context_id().to_owned(),
        status: Some(TaskStatus {
            state: state.into(),
            message,
            timestamp: Some(clock::now()),
        }),
        metadata: None,
    };
    if let Some(message) = update
        .status
        .as_mut()
        .and_then(|status| status.message.as_mut())
    {
        fill_message(message, entry);
    }
    update.into()
}

/// Fills in what an event of this task lacks.
///
/// # Errors
///
/// InvalidAgentResponse when the event belongs elsewhere or breaks the protocol.
pub(crate) fn normalize(
    event: StreamResponse,
    entry: &Entry,
    current: Option<&Task>,
) -> Result<StreamResponse, A2aError> {
    let payload = event
        .payload
        .ok_or_else(|| wrong("an event has no payload"))?;
    let payload = match payload {
        Payload::StatusUpdate(update) => Payload::StatusUpdate(status_update(update, entry)?),
        Payload::ArtifactUpdate(update) => {
            Payload::ArtifactUpdate(artifact_update(update, entry, current)?)
        }
        Payload::Task(task) => Payload::Task(snapshot(task, entry, current)?),
        Payload::Message(message) => Payload::Message(reply(message, entry)?),
    };
    let event = StreamResponse {
        payload: Some(payload),
    };
    event.validate().map_err(|violations| {
        let first = violations
            .first()
            .map(|violation| format!("{}: {}", violation.field, violation.description));
        wrong(&format!(
            "an event is not valid: {}",
            first.unwrap_or_default()
        ))
    })?;
    Ok(event)
}

fn status_update(
    mut update: TaskStatusUpdateEvent,
    entry: &Entry,
) -> Result<TaskStatusUpdateEvent, A2aError> {
    own(&mut update.task_id, entry.task_id())?;
    own(&mut update.context_id, entry.context_id())?;
    let status = update
        .status
        .as_mut()
        .ok_or_else(|| wrong("a status event has no status"))?;
    fill_status(status, entry)?;
    Ok(update)
}

fn artifact_update(
    mut update: TaskArtifactUpdateEvent,
    entry: &Entry,
    current: Option<&Task>,
) -> Result<TaskArtifactUpdateEvent, A2aError> {
    own(&mut update.task_id, entry.task_id())?;
    own(&mut update.context_id, entry.context_id())?;
    let artifact = update
        .artifact
        .as_mut()
        .ok_or_else(|| wrong("an artifact event has no artifact"))?;
    fill_artifact(artifact);
    let seen = current.is_some_and(|task| task.artifact(&artifact.artifact_id).is_some());
    update.append &= seen;
    Ok(update)
}

fn snapshot(mut task: Task, entry: &Entry, current: Option<&Task>) -> Result<Task, A2aError> {
    own(&mut task.id, entry.task_id())?;
    own(&mut task.context_id, entry.context_id())?;
    let status = task
        .status
        .as_mut()
        .ok_or_else(|| wrong("a task has no status"))?;
    fill_status(status, entry)?;
    task.artifacts.iter_mut().for_each(fill_artifact);
    if let (true, Some(current)) = (task.history.is_empty(), current) {
        // The executor does not keep the history; the engine does.
        task.history.clone_from(&current.history);
    }
    Ok(task)
}

fn reply(mut message: Message, entry: &Entry) -> Result<Message, A2aError> {
    if !message.task_id.is_empty() {
        return Err(wrong("a message that is the answer names a task"));
    }
    own(&mut message.context_id, entry.context_id())?;
    fill_id(&mut message.message_id);
    message.role = Role::Agent.into();
    Ok(message)
}

fn fill_status(status: &mut TaskStatus, entry: &Entry) -> Result<(), A2aError> {
    if status.state() == TaskState::Unspecified {
        return Err(wrong("a status has no state"));
    }
    status.timestamp.get_or_insert_with(clock::now);
    if let Some(message) = &mut status.message {
        own(&mut message.task_id, entry.task_id())?;
        own(&mut message.context_id, entry.context_id())?;
        fill_message(message, entry);
    }
    Ok(())
}

fn fill_message(message: &mut Message, entry: &Entry) {
    fill_id(&mut message.message_id);
    entry.task_id().clone_into(&mut message.task_id);
    entry.context_id().clone_into(&mut message.context_id);
    message.role = Role::Agent.into();
}

fn fill_artifact(artifact: &mut Artifact) {
    fill_id(&mut artifact.artifact_id);
}

fn fill_id(id: &mut String) {
    if id.is_empty() {
        *id = new_id();
    }
}

/// An id of 36 characters, which every peer's database takes; later ones sort behind earlier ones.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

fn own(id: &mut String, expected: &str) -> Result<(), A2aError> {
    if id.is_empty() {
        expected.clone_into(id);
    }
    if id == expected {
        Ok(())
    } else {
        Err(wrong("an event names another task or context"))
    }
}

fn wrong(text: &str) -> A2aError {
    A2aError::invalid_agent_response(text)
}

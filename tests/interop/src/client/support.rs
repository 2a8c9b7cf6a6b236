//! What the cases share.

use std::sync::Arc;

use a2a_client::{Client, ErrorCode, EventStream};
use a2a_proto::Binding;
use a2a_proto::error::WithCauses;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{
    AgentCard, Artifact, Message, SendMessageRequest, StreamResponse, Task, TaskState,
};

/// The agent that is met, over one binding.
pub(crate) struct Peer {
    pub(crate) client: Client,
    pub(crate) card: Arc<AgentCard>,
    pub(crate) binding: Binding,
}

pub(crate) type Verdict<T = ()> = Result<T, Failure>;

/// Why a case did not hold.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Failed(String),
    Skipped(String),
}

impl From<a2a_client::Error> for Failure {
    fn from(error: a2a_client::Error) -> Self {
        Self::Failed(WithCauses(&error).to_string())
    }
}

pub(crate) fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    match holds {
        true => Ok(()),
        false => Err(Failure::Failed(otherwise())),
    }
}

/// Asserts that two values are the same.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Verdict {
    check(found == expected, || {
        format!("{what}: {found:?} and not {expected:?}")
    })
}

/// Asserts that a call failed, and how.
pub(crate) fn refused<T>(result: a2a_client::Result<T>, expected: &[ErrorCode]) -> Verdict {
    match result {
        Ok(_) => Err(Failure::Failed(format!(
            "it succeeds and is not refused with {expected:?}"
        ))),
        Err(error) => check(
            error.code().is_some_and(|code| expected.contains(&code)),
            || {
                let code = error.code();
                format!(
                    "{code:?} and not {expected:?}, from: {}",
                    WithCauses(&error)
                )
            },
        ),
    }
}

/// What a stream says first: where an error comes as its first frame, it is the error of the call.
pub(crate) async fn first(
    opened: a2a_client::Result<EventStream>,
) -> a2a_client::Result<Option<StreamResponse>> {
    opened?.next().await.transpose()
}

/// The task that the client is answered with.
pub(crate) async fn send(client: &Client, request: impl Into<SendMessageRequest>) -> Verdict<Task> {
    client
        .send_message(request)
        .await?
        .into_task()
        .ok_or_else(|| Failure::Failed("the answer is a message and not a task".to_owned()))
}

pub(crate) async fn completed(
    client: &Client,
    request: impl Into<SendMessageRequest>,
) -> Verdict<Task> {
    let task = send(client, request).await?;
    in_state(&task, TaskState::Completed)?;
    Ok(task)
}

pub(crate) fn in_state(task: &Task, state: TaskState) -> Verdict {
    check(task.state() == state, || {
        let found = task.state();
        format!("{found:?} and not {state:?}: {:?}", task.status_text())
    })?;
    check(!task.id.is_empty(), || "the task has no id".to_owned())?;
    check(!task.context_id.is_empty(), || {
        "the task has no context".to_owned()
    })
}

/// The artifact that a verb makes. An SDK may choose the id of an artifact; then it is known by its name.
pub(crate) fn artifact<'a>(task: &'a Task, name: &str) -> Verdict<&'a Artifact> {
    task.artifacts
        .iter()
        .find(|artifact| is_named(artifact, name))
        .ok_or_else(|| Failure::Failed(format!("there is no artifact {name}")))
}

pub(crate) fn is_named(artifact: &Artifact, name: &str) -> bool {
    artifact.artifact_id == name || artifact.name == name
}

pub(crate) fn artifact_text(task: &Task, name: &str) -> Verdict<String> {
    Ok(artifact(task, name)?.text())
}

/// A text that nobody else uses.
pub(crate) fn fresh() -> String {
    Message::user("").message_id
}

pub(crate) async fn release(client: &Client, key: &str) -> Verdict {
    let answer = client.send_text(format!("release {key}")).await?;
    let message = answer.as_message();
    let message = message
        .ok_or_else(|| Failure::Failed("release is not answered by a message".to_owned()))?;
    same(
        "the answer to release",
        message.text(),
        "released".to_owned(),
    )
}

/// Reads until the chunk `first` of `slow` is there, and gives what it read.
pub(crate) async fn until_first(events: &mut EventStream) -> Verdict<Vec<StreamResponse>> {
    let mut read = Vec::new();
    while let Some(event) = events.next().await {
        let event = event?;
        let is_there = chunk(&event) == "first";
        read.push(event);
        if is_there {
            return Ok(read);
        }
    }
    Err(Failure::Failed("the stream ends before `first`".to_owned()))
}

/// The text of the artifacts in an event.
pub(crate) fn chunk(event: &StreamResponse) -> String {
    match &event.payload {
        Some(Payload::ArtifactUpdate(update)) => update
            .artifact
            .as_ref()
            .map(Artifact::text)
            .unwrap_or_default(),
        Some(Payload::Task(task)) => task.artifacts.iter().map(Artifact::text).collect(),
        _ => String::new(),
    }
}

/// Reads a stream to its end.
pub(crate) async fn rest(events: &mut EventStream) -> Verdict<Vec<StreamResponse>> {
    let mut read = Vec::new();
    while let Some(event) = events.next().await {
        read.push(event?);
    }
    Ok(read)
}

/// Asserts that a stream begins with the task.
pub(crate) fn begins_with_task(events: &[StreamResponse]) -> Verdict {
    let first = events.first().and_then(|event| event.payload.as_ref());
    check(matches!(first, Some(Payload::Task(_))), || {
        format!("the first event is not the task but {first:?}")
    })
}

/// Asserts that all events are of one task, and gives it as they make it.
pub(crate) fn folded(events: &[StreamResponse], end: TaskState) -> Verdict<Task> {
    let first = events.first();
    let first = first.ok_or_else(|| Failure::Failed("the stream is empty".to_owned()))?;
    let mut task = Task::from_event(first)
        .ok_or_else(|| Failure::Failed("the first event names no task".to_owned()))?;
    for event in events.iter().skip(1) {
        same("a task id", event.task_id(), task.id.as_str())?;
        same("a context id", event.context_id(), task.context_id.as_str())?;
        task.apply(event)
            .map_err(|error| Failure::Failed(error.to_string()))?;
    }
    same("the last state", task.state(), end)?;
    in_state(&task, end)?;
    Ok(task)
}

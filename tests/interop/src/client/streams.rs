//! Replies as they come.

use std::time::Duration;

use a2a_client::ErrorCode;
use a2a_proto::v1::{SendMessageRequest, TaskState};

use super::support::*;

/// How often a task is looked at that is to end in another process.
const POLL: Duration = Duration::from_millis(50);

pub(crate) async fn echo_unary(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "echo hello").await?;
    same(
        "the text",
        artifact_text(&task, "echo")?,
        "hello".to_owned(),
    )
}

pub(crate) async fn echo_stream(peer: &Peer) -> Verdict {
    let mut events = peer.client.stream_text("echo hello").await?;
    let task = folded(&rest(&mut events).await?, TaskState::Completed)?;
    same(
        "the text",
        artifact_text(&task, "echo")?,
        "hello".to_owned(),
    )
}

pub(crate) async fn stream_unary(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "stream 100").await?;
    same("the number of artifacts", task.artifacts.len(), 1)?;
    same("the text", artifact_text(&task, "stream")?, numbers())
}

pub(crate) async fn stream_chunks(peer: &Peer) -> Verdict {
    let mut events = peer.client.stream_text("stream 100").await?;
    let events = rest(&mut events).await?;
    begins_with_task(&events)?;
    let chunks: String = events.iter().map(chunk).collect();
    same("the chunks", chunks, numbers())?;
    let last = events.last().and_then(|event| event.state());
    same(
        "the state of the last event",
        last,
        Some(TaskState::Completed),
    )?;
    let task = folded(&events, TaskState::Completed)?;
    same("the text", artifact_text(&task, "stream")?, numbers())
}

fn numbers() -> String {
    (0..100).map(|index| format!("{index} ")).collect()
}

pub(crate) async fn stream_live(peer: &Peer) -> Verdict {
    let key = fresh();
    let mut events = peer.client.stream_text(format!("slow {key}")).await?;
    let mut read = until_first(&mut events).await?;
    release(&peer.client, &key).await?;
    read.extend(rest(&mut events).await?);
    ends_with_second(&folded(&read, TaskState::Completed)?)
}

fn ends_with_second(task: &a2a_proto::v1::Task) -> Verdict {
    let text = artifact_text(task, "slow")?;
    same("the text", text, "firstsecond".to_owned())
}

pub(crate) async fn send_immediate(peer: &Peer) -> Verdict {
    let key = fresh();
    let request = SendMessageRequest::from(format!("slow {key}")).returning_immediately();
    let task = send(&peer.client, request).await?;
    check(!task.state().is_terminal(), || {
        format!("the task has ended already: {:?}", task.state())
    })?;
    release(&peer.client, &key).await?;
    loop {
        let task = peer.client.get_task(task.id.as_str()).await?;
        if task.state().is_terminal() {
            in_state(&task, TaskState::Completed)?;
            return ends_with_second(&task);
        }
        tokio::time::sleep(POLL).await;
    }
}

pub(crate) async fn subscribe_after_cut(peer: &Peer) -> Verdict {
    let key = fresh();
    let mut events = peer.client.stream_text(format!("slow {key}")).await?;
    let read = until_first(&mut events).await?;
    let id = read.last().map(|event| event.task_id().to_owned());
    let id = id.unwrap_or_default();
    drop(events);
    let mut events = peer.client.subscribe_to_task(id.as_str()).await?;
    let snapshot = match events.next().await {
        Some(event) => event?,
        None => return Err(Failure::Failed("the stream is empty".to_owned())),
    };
    same("what is there", chunk(&snapshot), "first".to_owned())?;
    release(&peer.client, &key).await?;
    let mut read = vec![snapshot];
    begins_with_task(&read)?;
    read.extend(rest(&mut events).await?);
    ends_with_second(&folded(&read, TaskState::Completed)?)
}

pub(crate) async fn subscribe_finished(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "echo done").await?;
    let opened = peer.client.subscribe_to_task(task.id.as_str()).await;
    refused(first(opened).await, &[ErrorCode::UnsupportedOperation])
}

pub(crate) async fn subscribe_unknown(peer: &Peer) -> Verdict {
    let opened = peer.client.subscribe_to_task(fresh().as_str()).await;
    refused(first(opened).await, &[ErrorCode::TaskNotFound])
}

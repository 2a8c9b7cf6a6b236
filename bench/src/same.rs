//! That both sides answer with the same but for ids and times: else the floor would be one of something else.

use a2a_client::Client;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Artifact, Message, StreamResponse, Task, TaskStatus};
use a2a_proto::{Binding, json};

use crate::Result;
use crate::load::{caller, send};
use crate::measure::Pair;

/// Compares what both say to the orders that are measured.
pub(crate) async fn check(binding: Binding) -> Result<()> {
    let pair = Pair::start(1).await?;
    let (ours, floor) = (caller(&pair.ours, binding)?, caller(&pair.floor, binding)?);
    for order in ["hello", "stream 8", "artifacts 3"] {
        let answers = (answer(&ours, order).await?, answer(&floor, order).await?);
        same(binding, order, answers)?;
    }
    let order = "stream 8";
    let events = (events(&ours, order).await?, events(&floor, order).await?);
    same(binding, order, events)
}

fn same(binding: Binding, order: &str, (ours, floor): (String, String)) -> Result<()> {
    match ours == floor {
        true => Ok(()),
        false => Err(format!(
            "over {binding:?} the floor answers `{order}` with something else:\n{ours}\n{floor}"
        )
        .into()),
    }
}

async fn answer(client: &Client, order: &str) -> Result<String> {
    let mut task = send(client, order).await?;
    blank(&mut task);
    Ok(json::to_string(&task))
}

async fn events(client: &Client, order: &str) -> Result<String> {
    let mut stream = client.stream_text(order).await?;
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let mut event: StreamResponse = event?;
        match &mut event.payload {
            Some(Payload::Task(task)) => blank(task),
            Some(Payload::StatusUpdate(update)) => {
                (update.task_id, update.context_id) = Default::default();
                update.status.as_mut().map(blank_status);
            }
            Some(Payload::ArtifactUpdate(update)) => {
                (update.task_id, update.context_id) = Default::default();
                update.artifact.as_mut().map(blank_artifact);
            }
            Some(Payload::Message(message)) => blank_message(message),
            None => {}
        }
        all.push(json::to_string(&event));
    }
    Ok(all.join("\n"))
}

fn blank(task: &mut Task) {
    (task.id, task.context_id) = Default::default();
    task.status.as_mut().map(blank_status);
    task.history.iter_mut().for_each(blank_message);
    task.artifacts.iter_mut().for_each(blank_artifact);
}

fn blank_status(status: &mut TaskStatus) {
    status.timestamp = None;
    status.message.as_mut().map(blank_message);
}

fn blank_message(message: &mut Message) {
    (message.message_id, message.task_id, message.context_id) = Default::default();
}

fn blank_artifact(artifact: &mut Artifact) {
    artifact.artifact_id.clear();
}

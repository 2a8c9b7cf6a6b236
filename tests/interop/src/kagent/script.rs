//! The twin of `kagent/agent.py`: an agent that does what the first word of a message says.

use a2a_proto::v1::{Artifact, Message, Part, TaskArtifactUpdateEvent, TaskState};
use a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};

pub(crate) struct Script;

impl AgentExecutor for Script {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let text = cx.message().text();
        if cx.task().is_some() {
            send(&out, "answer", &format!("got {text}"), false, true).await?;
            return Ok(out.complete().await?);
        }
        if text != "reject" {
            out.status(TaskState::Working, None).await?;
        }
        match text.as_str() {
            "reply" => {
                send(&out, "reply", "done", false, true).await?;
                out.complete().await?;
            }
            "stream" => {
                for (number, chunk) in ["a", "b", "c"].into_iter().enumerate() {
                    send(&out, "stream", chunk, number > 0, false).await?;
                }
                send(&out, "stream", "abc", false, true).await?;
                out.complete().await?;
            }
            "progress" => {
                out.working("half way").await?;
                out.complete().await?;
            }
            "pause" => out.input_required("which one?").await?,
            "auth" => out.auth_required("log in").await?,
            "fail" => out.fail("no disk").await?,
            "reject" => out.reject("no").await?,
            "wait" => {
                cx.cancelled().await;
                out.status(TaskState::Canceled, None).await?;
            }
            other => return Err(format!("there is no scenario {other}").into()),
        }
        Ok(())
    }
}

async fn send(
    out: &EventSink,
    id: &str,
    text: &str,
    append: bool,
    last_chunk: bool,
) -> Result<(), AgentError> {
    let event = TaskArtifactUpdateEvent {
        artifact: Some(Artifact::new(id, [Part::text(text)])),
        append,
        last_chunk,
        ..TaskArtifactUpdateEvent::default()
    };
    Ok(out.send(event).await?)
}

/// What a user says to go on with a task that waits.
pub(crate) fn answer(task_id: &str) -> Message {
    Message::user("this one").with_task_id(task_id)
}

//! Questions of the agent, endings, and messages that it refuses.

use a2a_client::ErrorCode;
use a2a_proto::v1::{Message, Role, TaskState};

use super::support::*;

pub(crate) async fn input_unary(peer: &Peer) -> Verdict {
    answered(peer, "ask", TaskState::InputRequired, "which?").await
}

pub(crate) async fn auth_unary(peer: &Peer) -> Verdict {
    answered(peer, "auth", TaskState::AuthRequired, "sign in").await
}

async fn answered(peer: &Peer, verb: &str, state: TaskState, question: &str) -> Verdict {
    let asked = send(&peer.client, verb).await?;
    in_state(&asked, state)?;
    same("the question", asked.status_text().as_str(), question)?;
    let answer = Message::user("the red one").with_task_id(asked.id.as_str());
    let task = completed(&peer.client, answer).await?;
    same("the task", &task.id, &asked.id)?;
    let text = artifact_text(&task, "answer")?;
    same("the answer", text.as_str(), "the red one")
}

pub(crate) async fn input_stream(peer: &Peer) -> Verdict {
    let mut events = peer.client.stream_text("ask").await?;
    let asked = folded(&rest(&mut events).await?, TaskState::InputRequired)?;
    same("the question", asked.status_text().as_str(), "which?")?;
    let answer = Message::user("the red one").with_task_id(asked.id.as_str());
    let mut events = peer.client.send_streaming_message(answer).await?;
    let task = folded(&rest(&mut events).await?, TaskState::Completed)?;
    same("the task", &task.id, &asked.id)?;
    let text = artifact_text(&task, "answer")?;
    same("the answer", text.as_str(), "the red one")
}

pub(crate) async fn ending_fail(peer: &Peer) -> Verdict {
    let task = send(&peer.client, "fail no luck").await?;
    in_state(&task, TaskState::Failed)?;
    same("the text", task.status_text().as_str(), "no luck")
}

/// Some SDKs answer the call with an error: then the task is found by its context.
pub(crate) async fn ending_raise(peer: &Peer) -> Verdict {
    let context = completed(&peer.client, "echo 1").await?.context_id;
    let message = Message::user("raise no luck").with_context_id(context.as_str());
    let error = match send(&peer.client, message).await {
        Ok(task) => return in_state(&task, TaskState::Failed),
        Err(error) => error,
    };
    let request = a2a_proto::v1::ListTasksRequest {
        context_id: context,
        status: TaskState::Failed.into(),
        ..Default::default()
    };
    let failed = peer.client.list_tasks(request).await?;
    check(failed.tasks.len() == 1, || {
        let count = failed.tasks.len();
        format!("{count} tasks failed, after {error:?}")
    })
}

pub(crate) async fn ending_reject(peer: &Peer) -> Verdict {
    let task = send(&peer.client, "reject not here").await?;
    in_state(&task, TaskState::Rejected)?;
    same("the text", task.status_text().as_str(), "not here")
}

pub(crate) async fn error_no_parts(peer: &Peer) -> Verdict {
    let message = Message::new(Role::User, []);
    let result = peer.client.send_message(message).await;
    refused(result, &[ErrorCode::InvalidParams])
}

pub(crate) async fn error_finished(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "echo done").await?;
    let again = Message::user("echo again").with_task_id(task.id);
    let result = peer.client.send_message(again).await;
    refused(result, &[ErrorCode::UnsupportedOperation])
}

pub(crate) async fn error_unknown_task(peer: &Peer) -> Verdict {
    let stray = Message::user("echo hello").with_task_id(fresh());
    let result = peer.client.send_message(stray).await;
    refused(result, &[ErrorCode::TaskNotFound])
}

pub(crate) async fn error_stream(peer: &Peer) -> Verdict {
    let stray = Message::user("echo hello").with_task_id(fresh());
    let opened = peer.client.send_streaming_message(stray).await;
    refused(first(opened).await, &[ErrorCode::TaskNotFound])
}

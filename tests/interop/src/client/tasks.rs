//! Tasks after they were begun.

use a2a_client::ErrorCode;
use a2a_proto::v1::{
    GetTaskRequest, ListTasksRequest, Message, Role, SendMessageRequest, Task, TaskState,
};

use super::support::*;

pub(crate) async fn cancel_running(peer: &Peer) -> Verdict {
    let request = SendMessageRequest::from("hang").returning_immediately();
    let task = send(&peer.client, request).await?;
    let canceled = peer.client.cancel_task(task.id.as_str()).await?;
    in_state(&canceled, TaskState::Canceled)
}

pub(crate) async fn cancel_finished(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "echo done").await?;
    let result = peer.client.cancel_task(task.id.as_str()).await;
    refused(result, &[ErrorCode::TaskNotCancelable])
}

pub(crate) async fn cancel_unknown(peer: &Peer) -> Verdict {
    let result = peer.client.cancel_task(fresh().as_str()).await;
    refused(result, &[ErrorCode::TaskNotFound])
}

pub(crate) async fn get(peer: &Peer) -> Verdict {
    let sent = completed(&peer.client, "echo kept").await?;
    let task = peer.client.get_task(sent.id.as_str()).await?;
    in_state(&task, TaskState::Completed)?;
    same("the id", &task.id, &sent.id)?;
    same("the context", &task.context_id, &sent.context_id)?;
    same("the text", artifact_text(&task, "echo")?, "kept".to_owned())
}

pub(crate) async fn get_unknown(peer: &Peer) -> Verdict {
    let result = peer.client.get_task(fresh().as_str()).await;
    refused(result, &[ErrorCode::TaskNotFound])
}

pub(crate) async fn get_history(peer: &Peer) -> Verdict {
    let asked = send(&peer.client, "ask").await?;
    let answer = Message::user("this").with_task_id(asked.id.as_str());
    completed(&peer.client, answer).await?;
    let history = async |length: Option<i32>| -> Verdict<Vec<Message>> {
        let request = GetTaskRequest {
            history_length: length,
            ..GetTaskRequest::new(asked.id.as_str())
        };
        Ok(peer.client.get_task(request).await?.history)
    };
    let one = history(Some(1)).await?.len();
    check(one <= 1, || format!("1 asked for, {one} come"))?;
    same("of none asked for", history(Some(0)).await?.len(), 0)?;
    let all = history(None).await?;
    let of_the_user = all.iter().filter(|message| message.role() == Role::User);
    let of_the_user = of_the_user.count();
    check(of_the_user >= 2, || {
        format!("{of_the_user} messages of the user among {}", all.len())
    })
}

/// A task in a context that has tasks already, or in a new one.
async fn another(peer: &Peer, text: &str, context: Option<&Task>) -> Verdict<Task> {
    let message = Message::user(text);
    let message = match context {
        Some(task) => message.with_context_id(task.context_id.as_str()),
        None => message,
    };
    send(&peer.client, message).await
}

fn of_context(task: &Task) -> ListTasksRequest {
    ListTasksRequest {
        context_id: task.context_id.clone(),
        ..ListTasksRequest::default()
    }
}

fn ids(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

pub(crate) async fn list_paging(peer: &Peer) -> Verdict {
    let oldest = another(peer, "echo 1", None).await?;
    let middle = another(peer, "echo 2", Some(&oldest)).await?;
    let newest = another(peer, "echo 3", Some(&oldest)).await?;
    let request = ListTasksRequest {
        page_size: Some(2),
        ..of_context(&oldest)
    };
    let page = peer.client.list_tasks(request.clone()).await?;
    let expected = vec![newest.id.as_str(), middle.id.as_str()];
    same("the first page", ids(&page.tasks), expected)?;
    check(!page.next_page_token.is_empty(), || {
        "nextPageToken is missing".to_owned()
    })?;
    let request = ListTasksRequest {
        page_token: page.next_page_token,
        ..request
    };
    let page = peer.client.list_tasks(request).await?;
    same(
        "the second page",
        ids(&page.tasks),
        vec![oldest.id.as_str()],
    )?;
    same("the last token", page.next_page_token, String::new())
}

pub(crate) async fn list_filter(peer: &Peer) -> Verdict {
    let ended = another(peer, "echo 1", None).await?;
    let asking = another(peer, "ask", Some(&ended)).await?;
    let both = peer.client.list_tasks(of_context(&ended)).await?;
    same("of the context", both.tasks.len(), 2)?;
    let request = ListTasksRequest {
        status: TaskState::InputRequired.into(),
        ..of_context(&ended)
    };
    let one = peer.client.list_tasks(request).await?;
    same("those that ask", ids(&one.tasks), vec![asking.id.as_str()])
}

pub(crate) async fn list_artifacts(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "echo 1").await?;
    for (include_artifacts, expected) in [(None, 0), (Some(true), 1)] {
        let request = ListTasksRequest {
            include_artifacts,
            ..of_context(&task)
        };
        let page = peer.client.list_tasks(request).await?;
        same("the tasks", ids(&page.tasks), vec![task.id.as_str()])?;
        let found = page.tasks.iter().map(|task| task.artifacts.len()).sum();
        same("the artifacts", found, expected)?;
    }
    Ok(())
}

pub(crate) async fn list_page_size(peer: &Peer) -> Verdict {
    let request = ListTasksRequest {
        page_size: Some(101),
        ..ListTasksRequest::default()
    };
    let result = peer.client.list_tasks(request).await;
    refused(result, &[ErrorCode::InvalidParams])
}

pub(crate) async fn context_reuse(peer: &Peer) -> Verdict {
    let one = another(peer, "ask", None).await?;
    let two = another(peer, "echo 2", Some(&one)).await?;
    same("the context", &two.context_id, &one.context_id)?;
    check(one.id != two.id, || "both are one task".to_owned())?;
    let stray = Message::user("this")
        .with_task_id(one.id)
        .with_context_id(fresh());
    let result = peer.client.send_message(stray).await;
    refused(result, &[ErrorCode::InvalidParams])
}

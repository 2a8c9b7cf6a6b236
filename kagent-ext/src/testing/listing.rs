//! Pages of a session's tasks (kagent contract 2.2).

use std::cmp::Reverse;
use std::sync::Arc;

use a2a_proto::Timestamp;
use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task, TaskState};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tonic::Status;

/// The page that is asked for: newest status first (A2A 1.0 §3.1.4), and behind the task that the token names.
pub(super) fn page(
    session: &str,
    mut tasks: Vec<Arc<Task>>,
    request: &ListTasksRequest,
) -> Result<ListTasksResponse, Status> {
    if request.context_id != session {
        return Err(Status::invalid_argument(
            "context_id must be that of the session",
        ));
    }
    let size = request.page_size.unwrap_or(DEFAULT_PAGE);
    if !(1..=LARGEST_PAGE).contains(&size) {
        return Err(Status::invalid_argument(
            "page_size must be within 1 to 100",
        ));
    }
    let last = last_id(&request.page_token)?;
    tasks.sort_by_cached_key(|task| Reverse((changed(task), task.id.clone())));
    tasks.retain(|task| matches(task, request));
    let begin = match tasks.iter().position(|task| task.id == last) {
        Some(last) => last + 1,
        None if last.is_empty() => 0,
        None => return Err(no_token()),
    };
    let total = tasks.len();
    let mut rest = tasks.into_iter().skip(begin);
    let shown: Vec<Task> = rest
        .by_ref()
        .take(usize::try_from(size).unwrap_or_default())
        .map(|task| shown(&task, request))
        .collect();
    let next = match (rest.next(), shown.last()) {
        (Some(_), Some(last)) => URL_SAFE_NO_PAD.encode(&last.id),
        _ => String::new(),
    };
    Ok(ListTasksResponse {
        page_size: size,
        tasks: shown,
        next_page_token: next,
        total_size: i32::try_from(total).unwrap_or(i32::MAX),
    })
}

fn last_id(token: &str) -> Result<String, Status> {
    let decoded = URL_SAFE_NO_PAD.decode(token).ok();
    decoded
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(no_token)
}

fn no_token() -> Status {
    Status::invalid_argument("page_token is not one of these")
}

fn changed(task: &Task) -> Option<Timestamp> {
    task.status.as_ref()?.timestamp
}

fn matches(task: &Task, request: &ListTasksRequest) -> bool {
    let state = request.status();
    let after = request.status_timestamp_after;
    (state == TaskState::Unspecified || task.state() == state)
        && (after.is_none() || changed(task) >= after)
}

fn shown(task: &Task, request: &ListTasksRequest) -> Task {
    let length = request
        .history_length
        .map(|n| usize::try_from(n).unwrap_or(0));
    let reply = a2a_server::TaskReply::new(Arc::new(task.clone())).with_history_length(length);
    match request.include_artifacts {
        Some(true) => reply.into_task(),
        _ => reply.without_artifacts().into_task(),
    }
}

const DEFAULT_PAGE: i32 = 50;
const LARGEST_PAGE: i32 = 100;

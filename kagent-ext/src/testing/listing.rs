//! Pages of a session's tasks (kagent contract 2.2).

use std::sync::Arc;

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tonic::Status;

/// The page that is asked for, of tasks in the order of their ids.
pub(super) fn page(
    session: &str,
    tasks: Vec<Arc<Task>>,
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
    let after = last_id(&request.page_token)?;
    let matching: Vec<Arc<Task>> = tasks
        .into_iter()
        .filter(|task| matches(task, request))
        .collect();
    let total = matching.len();
    let mut rest = matching
        .into_iter()
        .filter(|task| task.id > after)
        .peekable();
    let size = usize::try_from(size).unwrap_or_default();
    let shown: Vec<Task> = rest
        .by_ref()
        .take(size)
        .map(|task| shown(&task, request))
        .collect();
    let next = match (rest.peek(), shown.last()) {
        (Some(_), Some(last)) => URL_SAFE_NO_PAD.encode(&last.id),
        _ => String::new(),
    };
    Ok(ListTasksResponse {
        page_size: i32::try_from(shown.len()).unwrap_or(i32::MAX),
        tasks: shown,
        next_page_token: next,
        total_size: i32::try_from(total).unwrap_or(i32::MAX),
    })
}

fn last_id(token: &str) -> Result<String, Status> {
    let decoded = URL_SAFE_NO_PAD.decode(token).ok();
    decoded
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| Status::invalid_argument("page_token is not one of these"))
}

fn matches(task: &Task, request: &ListTasksRequest) -> bool {
    let state = request.status();
    let changed = task.status.as_ref().and_then(|status| status.timestamp);
    (state == a2a_proto::v1::TaskState::Unspecified || task.state() == state)
        && request
            .status_timestamp_after
            .is_none_or(|after| changed.is_some_and(|changed| changed > after))
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

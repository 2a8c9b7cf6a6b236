//! What every store does alike when it lists tasks: the order, the page token, and how much of a task is shown.

use std::cmp::Reverse;
use std::fmt;

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::StoreError;

/// The place of a task in a list: newest status first, then the newest id. As text it is the page token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cursor {
    seconds: Reverse<i64>,
    nanos: Reverse<i32>,
    id: Reverse<String>,
}

impl Cursor {
    pub(crate) fn of(task: &Task) -> Self {
        let timestamp = task
            .status
            .as_ref()
            .and_then(|status| status.timestamp)
            .unwrap_or_default();
        Self {
            seconds: Reverse(timestamp.seconds),
            nanos: Reverse(timestamp.nanos),
            id: Reverse(task.id.clone()),
        }
    }

    /// Seconds, nanoseconds and id: of two places the greater comes first.
    pub(crate) fn key(&self) -> (i64, i32, &str) {
        (self.seconds.0, self.nanos.0, &self.id.0)
    }

    /// Reads a page token; `None` for the empty one, which asks for the first page.
    pub(crate) fn parse(token: &str) -> Result<Option<Self>, StoreError> {
        if token.is_empty() {
            return Ok(None);
        }
        Self::decode(token)
            .map(Some)
            .ok_or(StoreError::InvalidRequest {
                field: "page_token",
                description: "is not a token of this list",
            })
    }

    fn decode(token: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        let (seconds, rest) = text.split_once('.')?;
        let (nanos, id) = rest.split_once('.')?;
        Some(Self {
            seconds: Reverse(seconds.parse().ok()?),
            nanos: Reverse(nanos.parse().ok()?),
            id: Reverse(id.to_owned()),
        })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos, id) = self.key();
        let text = format!("{seconds}.{nanos}.{id}");
        f.write_str(&URL_SAFE_NO_PAD.encode(text))
    }
}

/// How many tasks a page has.
pub(crate) fn page_size(request: &ListTasksRequest) -> usize {
    let size = request.page_size.unwrap_or(DEFAULT_PAGE);
    usize::try_from(size).unwrap_or_default().max(1)
}

/// A page of the tasks that were found behind the token, in order; one more than fits tells that another follows.
pub(crate) fn page<'a>(
    mut found: impl Iterator<Item = &'a Task>,
    total: usize,
    request: &ListTasksRequest,
) -> ListTasksResponse {
    let size = page_size(request);
    let page: Vec<&Task> = found.by_ref().take(size).collect();
    let last = page.last().filter(|_| found.next().is_some());
    let next_page_token = last.map(|task| Cursor::of(task).to_string());
    ListTasksResponse {
        tasks: page.iter().map(|task| shown(task, request)).collect(),
        next_page_token: next_page_token.unwrap_or_default(),
        page_size: i32::try_from(size).unwrap_or(i32::MAX),
        total_size: i32::try_from(total).unwrap_or(i32::MAX),
    }
}

/// As much of a task as the request asks for.
fn shown(task: &Task, request: &ListTasksRequest) -> Task {
    let kept = request
        .history_length
        .and_then(|length| usize::try_from(length).ok());
    let skipped = kept.map_or(0, |kept| task.history.len().saturating_sub(kept));
    Task {
        id: task.id.clone(),
        context_id: task.context_id.clone(),
        status: task.status.clone(),
        artifacts: if request.include_artifacts == Some(true) {
            task.artifacts.clone()
        } else {
            Vec::new()
        },
        history: task.history.iter().skip(skipped).cloned().collect(),
        metadata: task.metadata.clone(),
    }
}

const DEFAULT_PAGE: i32 = 50;

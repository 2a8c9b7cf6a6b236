use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use a2a_proto::v1::{Artifact, ListTasksRequest, Message, Role, Task};

use crate::context::CallContext;
use crate::store::{StoreError, TaskStore};

/// The earlier tasks of a context, newest first, read from the store page by page.
pub struct PastTasks {
    store: Arc<dyn TaskStore>,
    call: CallContext,
    request: ListTasksRequest,
    current: String,
    page: VecDeque<Task>,
    last_page: bool,
}

impl PastTasks {
    pub(crate) fn new(
        store: Arc<dyn TaskStore>,
        call: CallContext,
        context_id: String,
        current: String,
    ) -> Self {
        let request = ListTasksRequest {
            tenant: call.tenant().to_owned(),
            context_id,
            page_size: Some(PAGE_SIZE),
            include_artifacts: Some(true),
            ..ListTasksRequest::default()
        };
        Self {
            store,
            call,
            request,
            current,
            page: VecDeque::new(),
            last_page: false,
        }
    }

    /// The next task; `None` behind the oldest.
    ///
    /// # Errors
    ///
    /// When the store fails; the same page is read again then.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped read is made again by the next call.
    pub async fn next(&mut self) -> Result<Option<Task>, StoreError> {
        loop {
            while let Some(task) = self.page.pop_front() {
                if task.id != self.current {
                    return Ok(Some(task));
                }
            }
            if self.last_page {
                return Ok(None);
            }
            let response = self.store.list(&self.call, &self.request).await?;
            self.last_page = response.next_page_token.is_empty();
            self.request.page_token = response.next_page_token;
            self.page = response.tasks.into();
        }
    }

    pub(crate) async fn newest_messages(
        mut self,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let mut newest_first = Vec::new();
        while newest_first.len() < limit {
            let Some(task) = self.next().await? else {
                break;
            };
            newest_first.extend(messages(task).into_iter().rev());
        }
        newest_first.truncate(limit);
        newest_first.reverse();
        Ok(newest_first)
    }
}

impl fmt::Debug for PastTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PastTasks")
            .field("context_id", &self.request.context_id)
            .finish_non_exhaustive()
    }
}

/// What was said in a task, in order.
fn messages(task: Task) -> Vec<Message> {
    let mut messages = task.history;
    messages.extend(
        task.artifacts
            .into_iter()
            .map(|artifact| spoken(artifact, &task.id, &task.context_id)),
    );
    messages.extend(task.status.and_then(|status| status.message));
    messages
}

fn spoken(artifact: Artifact, task_id: &str, context_id: &str) -> Message {
    Message {
        message_id: artifact.artifact_id,
        context_id: context_id.to_owned(),
        task_id: task_id.to_owned(),
        role: Role::Agent.into(),
        parts: artifact.parts,
        metadata: artifact.metadata,
        extensions: artifact.extensions,
        reference_task_ids: Vec::new(),
    }
}

const PAGE_SIZE: i32 = 20;

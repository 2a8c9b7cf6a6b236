//! Lists that go over several pages.

use std::collections::VecDeque;

use a2a_proto::v1::{ListTasksRequest, Task};

use crate::Client;
use crate::error::{Error, Result};

/// The tasks of a list, whose pages are read as they are needed.
///
/// # Cancel safety
///
/// [`next`](Self::next) may be dropped at any time; no task is lost.
#[derive(Debug)]
#[must_use = "nothing is read unless it is asked for"]
pub struct TaskPages {
    client: Client,
    request: ListTasksRequest,
    page: VecDeque<Task>,
    over: bool,
}

impl TaskPages {
    pub(crate) fn new(client: Client, request: ListTasksRequest) -> Self {
        Self {
            client,
            request,
            page: VecDeque::new(),
            over: false,
        }
    }

    /// The next task; `None` behind the last.
    ///
    /// # Errors
    ///
    /// The agent's; and when a page names itself as the next. The same page is read again then.
    pub async fn next(&mut self) -> Option<Result<Task>> {
        loop {
            if let Some(task) = self.page.pop_front() {
                return Some(Ok(task));
            }
            if self.over {
                return None;
            }
            let page = match self.client.list_tasks(self.request.clone()).await {
                Ok(page) => page,
                Err(error) => return Some(Err(error)),
            };
            self.over = page.next_page_token.is_empty();
            if !self.over && page.next_page_token == self.request.page_token {
                self.over = true;
                return Some(Err(Error::decode(
                    "a page of the list names itself as the next",
                )));
            }
            self.request.page_token = page.next_page_token;
            self.page = page.tasks.into();
        }
    }
}

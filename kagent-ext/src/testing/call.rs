//! What the agent asked of its task store.

use std::fmt;
use std::sync::Arc;

use a2a_proto::v1::{Task, TaskState};
use http::HeaderMap;
use tonic::Code;

/// A method of kagent's task store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreMethod {
    /// Stores a new task.
    Create,
    /// Reads a task.
    Get,
    /// Replaces a task.
    Update,
    /// Lists tasks.
    List,
    /// Makes a boundary state public.
    Settle,
}

/// One call of the task store, as it came.
#[derive(Clone)]
#[non_exhaustive]
pub struct StoreCall {
    /// The method.
    pub method: StoreMethod,
    /// The full name of the service that was called.
    pub service: String,
    /// The metadata that came with it, without those of gRPC itself.
    pub metadata: HeaderMap,
    /// The session that it named.
    pub session_id: String,
    /// The task that was stored, of a create or an update.
    pub task: Option<Arc<Task>>,
    /// The id of the task; empty for a list.
    pub task_id: String,
    /// The version that it expected or settled.
    pub version: Option<i64>,
    /// The delivery that it named.
    pub dispatch_id: Option<String>,
    /// Bytes of the message.
    pub bytes: usize,
    /// How it was answered.
    pub code: Code,
}

impl StoreCall {
    /// The state of the task that was stored.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        self.task.as_ref().map(|task| task.state())
    }
}

/// Such as `Update(WORKING)`; a call that failed with its code, such as `Get -> NOT_FOUND`.
impl fmt::Display for StoreCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.method)?;
        if let Some(state) = self.state() {
            let name = state.as_str_name();
            write!(f, "({})", name.strip_prefix("TASK_STATE_").unwrap_or(name))?;
        }
        match self.code {
            Code::Ok => Ok(()),
            code => write!(f, " -> {code:?}"),
        }
    }
}

/// Without metadata and content.
impl fmt::Debug for StoreCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

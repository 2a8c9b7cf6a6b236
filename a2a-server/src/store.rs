//! Where tasks are kept.

pub(crate) mod listing;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Weak};

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, StreamResponse, Task};
use async_trait::async_trait;

use crate::context::CallContext;
use crate::execution::Registry;

pub use memory::{MemoryStore, Retention};
#[cfg(feature = "sqlite")]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub use sqlite::{OpenError, SqliteStore};

/// The version of a stored task, for optimistic concurrency. Its number means something to the store only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskVersion(i64);

impl TaskVersion {
    /// The version with that number.
    #[must_use]
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> i64 {
        self.0
    }
}

impl fmt::Display for TaskVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task as the store has it.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a store returns is these two"
)]
pub struct StoredTask {
    /// The task.
    pub task: Arc<Task>,
    /// Its version.
    pub version: TaskVersion,
}

/// A change of a stored task. A document store writes `task`, a log store appends `events`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TaskWrite<'a> {
    /// The task after the change.
    pub task: &'a Task,
    /// What changed it, in order; never empty. A snapshot stands where no other event tells the change.
    pub events: &'a [&'a StreamResponse],
    /// The version that is changed.
    pub expected: TaskVersion,
}

impl<'a> TaskWrite<'a> {
    /// A change by these events to that task.
    #[must_use]
    pub fn new(task: &'a Task, events: &'a [&'a StreamResponse], expected: TaskVersion) -> Self {
        Self {
            task,
            events,
            expected,
        }
    }
}

/// A task that is stored as running though nobody works on it any more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Abandoned {
    /// A call in the name of its owner.
    pub call: CallContext,
    /// Its id.
    pub task_id: String,
}

impl Abandoned {
    /// The task with that id, which the principal and tenant of the call own.
    #[must_use]
    pub fn new(call: CallContext, task_id: impl Into<String>) -> Self {
        Self {
            call,
            task_id: task_id.into(),
        }
    }
}

/// The tasks that an engine is busy with: executed, joined or about to be changed.
#[derive(Clone)]
pub struct LiveTasks(Weak<Registry>);

impl LiveTasks {
    pub(crate) fn new(registry: Weak<Registry>) -> Self {
        Self(registry)
    }

    /// Whether somebody is busy with that task.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.0
            .upgrade()
            .is_some_and(|registry| registry.contains(id))
    }
}

impl fmt::Debug for LiveTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveTasks").finish_non_exhaustive()
    }
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is a task with that id.
    #[error("a task with this id exists")]
    AlreadyExists,
    /// The store failed and nothing was written.
    #[error("the task store failed")]
    Backend {
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A filter or page token is wrong.
    #[error("{field}: {description}")]
    InvalidRequest {
        /// The field of ListTasksRequest.
        field: &'static str,
        /// What is wrong with it.
        description: &'static str,
    },
    /// There is no such task, or not for this caller.
    #[error("no such task")]
    NotFound,
    /// Whether the write arrived is not known.
    #[error("it is not known whether the task store took the write")]
    Unknown {
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The task has another version than the one to be changed.
    #[error("the stored task has another version")]
    VersionConflict,
}

/// Keeps tasks, scoped by tenant and principal of the call: a foreign task is as good as none.
///
/// The engine is the only writer: it hands each change over before anybody sees it. A call that takes longer than
/// the engine's `store_timeout` counts as [`StoreError::Unknown`], and so does a panic.
#[async_trait]
pub trait TaskStore: Send + Sync + 'static {
    /// Stores a new task, and who may see it.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyExists`] when the id is taken.
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError>;

    /// Stores a change of a task.
    ///
    /// # Errors
    ///
    /// [`StoreError::VersionConflict`] when the stored version is another than the expected one,
    /// [`StoreError::NotFound`] when there is no such task.
    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError>;

    /// Reads a task.
    ///
    /// # Errors
    ///
    /// When the store fails.
    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError>;

    /// Lists tasks, newest status first and the greatest id first where that is equal. The request has been checked: its page size is
    /// set and within 1 to 100, its history length not negative.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidRequest`] for a page token that is not this store's.
    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError>;

    /// Makes a boundary state final and public, after what led to it is done and before its event is published.
    ///
    /// # Errors
    ///
    /// When the store fails. The engine tries again for 30 seconds.
    async fn settle(
        &self,
        cx: &CallContext,
        id: &str,
        version: TaskVersion,
    ) -> Result<(), StoreError> {
        let _ = (cx, id, version);
        Ok(())
    }

    /// The tasks that are stored as SUBMITTED or WORKING though the process that worked on them has ended. Before its
    /// first call an engine asks for them and sets them FAILED.
    ///
    /// A store that can't tell, or whose tasks other processes work on, has none to name: the default.
    ///
    /// # Errors
    ///
    /// When the store fails. The engine refuses calls as long as it does.
    async fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        Ok(Vec::new())
    }

    /// Told once which tasks somebody is busy with: a store that evicts must leave these alone.
    fn serve(&self, live: LiveTasks) {
        let _ = live;
    }

    /// How many bytes of protobuf a stored task may have; `None` where there is no limit. The engine refuses an event
    /// that would make the task longer, with room kept for the one that ends it.
    fn task_bytes(&self) -> Option<usize> {
        None
    }

    /// Whether `create` and `update` are always ready when first polled. The engine then changes the task in place
    /// and without a copy. A call that is not ready all the same counts as [`StoreError::Unknown`].
    fn is_immediate(&self) -> bool {
        false
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: TaskStore + ?Sized> TaskStore for Arc<T> {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        (**self).create(cx, task).await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        (**self).update(cx, write).await
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        (**self).get(cx, id).await
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        (**self).list(cx, request).await
    }

    async fn settle(
        &self,
        cx: &CallContext,
        id: &str,
        version: TaskVersion,
    ) -> Result<(), StoreError> {
        (**self).settle(cx, id, version).await
    }

    async fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        (**self).abandoned().await
    }

    fn serve(&self, live: LiveTasks) {
        (**self).serve(live);
    }

    fn task_bytes(&self) -> Option<usize> {
        (**self).task_bytes()
    }

    fn is_immediate(&self) -> bool {
        (**self).is_immediate()
    }
}

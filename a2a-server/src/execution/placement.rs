//! Where the live execution of a task is, when more than one engine works on a store.

use std::any::Any;
use std::sync::Arc;

use a2a_proto::Struct;
use a2a_proto::v1::Task;
use async_trait::async_trait;

use crate::event::Event;
use crate::store::{StoreError, TaskVersion};

/// Finds the engine that executes a task. The engine never assumes that it is this one.
#[async_trait]
pub(crate) trait Placement: Send + Sync + 'static {
    /// Takes the right to execute a task; `None` when another engine has it.
    async fn lease(&self, task_id: &str, on_cancel: OnCancel) -> Result<Option<Lease>, StoreError>;

    /// Tells the other engines what has been stored.
    fn announce(&self, task_id: &str, news: News);

    /// Listens to what other engines store from now on; `None` where there are none.
    fn watch(&self, task_id: &str) -> Option<Box<dyn Watch>>;

    /// Asks the engine that executes the task to cancel it; whether there is one.
    async fn request_cancel(
        &self,
        task_id: &str,
        metadata: Option<Struct>,
    ) -> Result<bool, StoreError>;
}

/// Called when another engine is asked to cancel the task.
pub(crate) type OnCancel = Arc<dyn Fn(Option<Struct>) + Send + Sync>;

/// The right to execute a task, until it is dropped.
pub(crate) struct Lease {
    _held: Option<Box<dyn Any + Send + Sync>>,
}

impl Lease {
    #[cfg(test)]
    pub(crate) fn holding(guard: impl Any + Send + Sync) -> Self {
        Self {
            _held: Some(Box::new(guard)),
        }
    }
}

/// What has been stored, as one write.
#[derive(Clone)]
pub(crate) struct News {
    pub(crate) version: TaskVersion,
    pub(crate) events: Vec<Event>,
    /// The task after these events, and after what no event tells.
    pub(crate) task: Arc<Task>,
}

#[async_trait]
pub(crate) trait Watch: Send {
    /// The next write; `None` when some were missed, and the store must be read.
    async fn next(&mut self) -> Option<News>;
}

/// There is this engine only.
pub(crate) struct LocalPlacement;

#[async_trait]
impl Placement for LocalPlacement {
    async fn lease(&self, _: &str, _: OnCancel) -> Result<Option<Lease>, StoreError> {
        Ok(Some(Lease { _held: None }))
    }

    fn announce(&self, _: &str, _: News) {}

    fn watch(&self, _: &str) -> Option<Box<dyn Watch>> {
        None
    }

    async fn request_cancel(&self, _: &str, _: Option<Struct>) -> Result<bool, StoreError> {
        Ok(false)
    }
}

//! The calls of the task store.

use std::sync::Arc;
use std::time::Instant;

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task};
use async_trait::async_trait;

use super::{Observation, Watch};
use crate::context::CallContext;
use crate::store::{
    Abandoned, LiveTasks, StoreError, StoredTask, TaskStore, TaskVersion, TaskWrite,
};

/// A store whose calls are told.
pub(crate) struct ObservedStore {
    store: Arc<dyn TaskStore>,
    watch: Watch,
}

impl ObservedStore {
    pub(crate) fn new(store: Arc<dyn TaskStore>, watch: Watch) -> Self {
        Self { store, watch }
    }

    async fn told<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut guard = Guard {
            watch: &self.watch,
            operation,
            begun: Instant::now(),
            failed: true,
        };
        let outcome = call.await;
        guard.failed = outcome.is_err();
        outcome
    }
}

/// Tells the end of a call when it is dropped.
struct Guard<'a> {
    watch: &'a Watch,
    operation: &'static str,
    begun: Instant,
    failed: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.watch.tell(&Observation::StoreCalled {
            operation: self.operation,
            failed: self.failed,
            took: self.begun.elapsed(),
        });
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl TaskStore for ObservedStore {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        self.told("create", self.store.create(cx, task)).await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        self.told("update", self.store.update(cx, write)).await
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        self.told("get", self.store.get(cx, id)).await
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        self.told("list", self.store.list(cx, request)).await
    }

    async fn settle(
        &self,
        cx: &CallContext,
        id: &str,
        version: TaskVersion,
    ) -> Result<(), StoreError> {
        self.told("settle", self.store.settle(cx, id, version))
            .await
    }

    async fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        self.told("abandoned", self.store.abandoned()).await
    }

    fn serve(&self, live: LiveTasks) {
        self.store.serve(live);
    }

    fn task_bytes(&self) -> Option<usize> {
        self.store.task_bytes()
    }

    fn is_immediate(&self) -> bool {
        self.store.is_immediate()
    }
}

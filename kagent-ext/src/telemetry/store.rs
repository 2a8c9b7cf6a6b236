//! A task store with a span around each save of an execution.

use std::time::SystemTime;

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task};
use a2a_server::store::{Abandoned, LiveTasks, StoredTask, TaskVersion, TaskWrite};
use a2a_server::{CallContext, StoreError, TaskStore, async_trait};
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context, KeyValue};

use super::attribute::ERROR_TYPE;
use super::invocation::ErrorType;
use super::running::Running;
use super::{Telemetry, clock, is_send};

/// What is stored before an execution, or after its invocation has ended, has no span.
pub(super) struct Traced<S> {
    store: S,
    telemetry: Telemetry,
}

impl<S: TaskStore> Traced<S> {
    pub(super) fn new(store: S, telemetry: Telemetry) -> Self {
        Self { store, telemetry }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: TaskStore> TaskStore for Traced<S> {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        self.store.create(cx, task).await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        let running = self.telemetry.running();
        let invocation = running.and_then(|running| running.live(&write.task.id));
        let Some(invocation) = invocation else {
            return self.store.update(cx, write).await;
        };
        let span = SpanBuilder::from_name("UpdateTask").with_kind(SpanKind::Client);
        let save = Save {
            context: invocation.traces().then(|| invocation.child(span)),
        };
        let outcome = self.store.update(cx, write).await;
        if outcome.is_err() {
            invocation.fails_with(ErrorType::PersistenceFailure, None);
            save.failed();
        }
        outcome
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        let mut reading = Reading::begin(&self.telemetry, cx, id);
        let outcome = self.store.get(cx, id).await;
        reading.is_over();
        outcome
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        self.store.list(cx, request).await
    }

    async fn settle(
        &self,
        cx: &CallContext,
        id: &str,
        version: TaskVersion,
    ) -> Result<(), StoreError> {
        self.store.settle(cx, id, version).await
    }

    async fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        self.store.abandoned().await
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

/// The task that a message is for is being read. Until it has been, nothing is begun: a caller who leaves now abandons
/// the message, and afterwards the engine goes on without a caller.
struct Reading<'a>(Option<Pending<'a>>);

struct Pending<'a> {
    running: &'a Running,
    call: &'a CallContext,
    task_id: &'a str,
    came: SystemTime,
}

impl<'a> Reading<'a> {
    fn begin(telemetry: &'a Telemetry, call: &'a CallContext, task_id: &'a str) -> Self {
        let running = telemetry.running().filter(|running| {
            // An executor may read its own task.
            is_send(call.method()) && running.live(task_id).is_none()
        });
        Self(running.map(|running| Pending {
            running,
            call,
            task_id,
            came: clock::now(),
        }))
    }

    fn is_over(&mut self) {
        self.0 = None;
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            pending
                .running
                .abandoned(pending.call, pending.task_id, pending.came);
        }
    }
}

/// The span of a save, which ends with it, given up or not.
struct Save {
    context: Option<Context>,
}

impl Save {
    fn failed(&self) {
        if let Some(context) = &self.context {
            let kind = ErrorType::PersistenceFailure.as_str();
            context
                .span()
                .set_attribute(KeyValue::new(ERROR_TYPE, kind));
            context.span().set_status(Status::error(kind));
        }
    }
}

impl Drop for Save {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            context.span().end();
        }
    }
}

//! The engine: the only writer of tasks.

mod bus;
mod cancel;
mod catch;
mod coalesce;
mod commit;
mod control;
mod deliver;
mod emit;
mod entry;
mod normalize;
mod placement;
mod policy;
mod recover;
mod restart;
mod room;
mod run;
mod state;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::{Message, SendMessageRequest, StreamResponse, Task};
use tokio::sync::{OnceCell, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::context::CallContext;
use crate::executor::{ContextParts, DynExecutor, ExecutionContext};
use crate::extension::Extension;
use crate::store::{LiveTasks, TaskStore};

pub(crate) use bus::Window;
pub(crate) use catch::{catch, catch_now};
pub(crate) use control::Control;
pub(crate) use deliver::{Begun, Join, Joined};
pub(crate) use emit::SinkTarget;
pub(crate) use entry::{EntryRef, Registry};
pub(crate) use normalize::new_id;
pub(crate) use placement::{LocalPlacement, Placement};
pub(crate) use policy::Settings;
pub use policy::{
    BoundaryHook, BoundaryPolicy, Busy, ConcurrentMessages, LagPolicy, PersistPolicy, TaskScope,
};
pub use run::NO_RESULT;

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct Engine(Arc<Shared>);

pub(crate) struct Shared {
    executor: Arc<dyn DynExecutor>,
    store: Arc<dyn TaskStore>,
    extensions: Vec<Arc<dyn Extension>>,
    settings: Settings,
    registry: Arc<Registry>,
    placement: Arc<dyn Placement>,
    slots: Arc<Semaphore>,
    /// Set when what an earlier process left running has been failed.
    ready: OnceCell<()>,
    /// Owns every task that the engine starts.
    tracker: TaskTracker,
    /// Set when no new call is taken any more.
    draining: CancellationToken,
    /// Set when executors are dropped without a grace.
    aborting: CancellationToken,
}

impl Engine {
    pub(crate) fn new(
        executor: Arc<dyn DynExecutor>,
        store: Arc<dyn TaskStore>,
        extensions: Vec<Arc<dyn Extension>>,
        settings: Settings,
        placement: Arc<dyn Placement>,
    ) -> Self {
        let registry = Arc::new(Registry::default());
        store.serve(LiveTasks::new(Arc::downgrade(&registry)));
        let slots = Arc::new(Semaphore::new(
            settings.limits.executions.min(Semaphore::MAX_PERMITS),
        ));
        Self(Arc::new(Shared {
            executor,
            store,
            extensions,
            settings,
            registry,
            placement,
            slots,
            ready: OnceCell::new(),
            tracker: TaskTracker::new(),
            draining: CancellationToken::new(),
            aborting: CancellationToken::new(),
        }))
    }

    /// Runs a step that must not be cut off half-way: to the end right here if it never waits, and otherwise on a
    /// task that the engine owns, whoever waits for its outcome.
    fn own<T: Send + 'static>(
        &self,
        step: impl Future<Output = Result<T, A2aError>> + Send + 'static,
    ) -> impl Future<Output = Result<T, A2aError>> {
        // Boxed before anything holds it: whoever waits, up to the executor, stays small.
        let mut step = Box::pin(step);
        async move {
            if let std::task::Poll::Ready(outcome) = catch::poll_once(&mut step).await {
                return outcome;
            }
            let (sender, receiver) = oneshot::channel();
            self.0.tracker.spawn(async move {
                let _ = sender.send(step.await);
            });
            receiver
                .await
                .unwrap_or_else(|_| Err(A2aError::internal("the call was cut off")))
        }
    }

    /// Refuses new calls, asks every execution to stop, drops after the grace those that did not, and ends all
    /// streams. What is being stored is waited for.
    pub(crate) async fn shutdown(&self) {
        self.0.draining.cancel();
        self.0.tracker.close();
        self.0.tracker.wait().await;
        for entry in self.0.registry.all() {
            entry.bus().fail(&shutting_down(), None);
        }
    }

    /// Drops every execution at once.
    pub(crate) fn abort(&self) {
        self.0.draining.cancel();
        self.0.aborting.cancel();
    }

    fn refuse_when_draining(&self) -> Result<(), A2aError> {
        if self.0.draining.is_cancelled() {
            Err(shutting_down())
        } else {
            Ok(())
        }
    }

    /// The context of a message, with the state of the extensions in it.
    fn context(
        &self,
        call: CallContext,
        request: SendMessageRequest,
        message: Message,
        task: Option<Arc<Task>>,
        (task_id, context_id): (&str, &str),
        waiting: VecDeque<control::Accepted>,
    ) -> ExecutionContext {
        let call = call.detached();
        let control = Control::new(
            call.clone(),
            self.0.settings.limits.max_execution_time,
            waiting,
        );
        let mut cx = ExecutionContext::new(ContextParts {
            call,
            request,
            message,
            task,
            task_id: task_id.to_owned(),
            context_id: context_id.to_owned(),
            control: Arc::new(control),
            store: Arc::clone(&self.0.store),
        });
        for extension in &self.0.extensions {
            if catch_now(|| extension.begin(&mut cx)).is_err() {
                tracing::error!(a2a.task.id = task_id, "an extension panicked in begin");
            }
        }
        cx
    }

    /// Passes an event through the extensions. One that panics is skipped.
    fn outgoing(&self, cx: &ExecutionContext, event: &mut StreamResponse) {
        for extension in &self.0.extensions {
            let mut changed = event.clone();
            if catch_now(|| extension.outgoing(cx, &mut changed)).is_ok() {
                *event = changed;
            } else {
                tracing::error!(
                    a2a.task.id = cx.task_id(),
                    "an extension panicked in outgoing"
                );
            }
        }
    }

    /// Tells the extensions that the executor has returned.
    async fn finish_extensions(&self, cx: &ExecutionContext) {
        for extension in &self.0.extensions {
            match tokio::time::timeout(FINISH_TIME, catch(extension.finish(cx))).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => tracing::error!(
                    a2a.task.id = cx.task_id(),
                    "an extension panicked in finish"
                ),
                Err(_) => tracing::error!(
                    a2a.task.id = cx.task_id(),
                    "an extension did not finish in time"
                ),
            }
        }
    }
}

pub(crate) fn shutting_down() -> A2aError {
    A2aError::unavailable("the agent shuts down").with_retry_after(Duration::from_secs(1))
}

/// How long an extension may take after an execution.
const FINISH_TIME: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;

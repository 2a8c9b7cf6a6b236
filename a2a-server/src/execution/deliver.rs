//! A message on its way in: it makes a task, wakes one that waits, or reaches a running executor.

mod media;
mod resume;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::{Message, SendMessageRequest, Task};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, oneshot};
use tracing::Span;

use super::bus::{Outcome, Subscription, Until};
use super::catch::catch_now;
use super::commit::{FIRST_DELAY, unloaded};
use super::placement::{Lease, OnCancel};
use super::room::Grown;
use super::state::{Hold, Origin, Run, RunId, Signals, Stage, State};
use super::{Busy, Engine, EntryRef, LagPolicy, normalize};
use crate::clock;
use crate::context::CallContext;
use crate::executor::{CancelReason, ExecutionContext, ReplyMode};
use crate::store::StoreError;

/// How the caller follows what its message causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// It waits for the next boundary.
    Boundary,
    /// It wants the task as it is now.
    Now,
    /// It reads the stream.
    Stream,
}

impl Join {
    /// Lets the caller follow the task from its present state on. Called under the lock.
    fn take(self, entry: &EntryRef) -> Result<Begun, A2aError> {
        match self {
            Self::Boundary => Ok(Begun::Boundary(entry.bus().wait(Until::Boundary))),
            Self::Now => Ok(Begun::Now(entry.current()?)),
            Self::Stream => {
                let (task, events) = entry.bus().subscribe().ok_or_else(unloaded)??;
                let joined = Joined {
                    events,
                    _entry: entry.clone(),
                };
                Ok(Begun::Stream(task, joined))
            }
        }
    }
}

/// What the caller holds once its message is in.
pub(crate) enum Begun {
    Boundary(oneshot::Receiver<Outcome>),
    Message(Message),
    Now(Arc<Task>),
    Stream(Arc<Task>, Joined),
}

/// The events behind a snapshot, and the hold that keeps the task's entry.
pub(crate) struct Joined {
    pub(crate) events: Subscription,
    pub(crate) _entry: EntryRef,
}

impl Engine {
    /// Takes a message in. When this returns, what it changed is stored. A caller that leaves while its message waits its
    /// turn changes nothing; what has begun is brought to its end without it.
    pub(crate) async fn deliver(
        &self,
        call: CallContext,
        mut request: SendMessageRequest,
        join: Join,
    ) -> Result<Begun, A2aError> {
        self.refuse_when_draining()?;
        self.ready().await?;
        let message = request.message.take().unwrap_or_default();
        if message.task_id.is_empty() {
            self.begin_task(call, request, message, join).await
        } else {
            // Boxed, so that the call that begins a task does not carry the size of this one.
            Box::pin(self.continue_task(call, request, message, join)).await
        }
    }

    async fn begin_task(
        &self,
        call: CallContext,
        request: SendMessageRequest,
        mut message: Message,
        join: Join,
    ) -> Result<Begun, A2aError> {
        self.check_input_modes(&message)?;
        if message.context_id.is_empty() {
            message.context_id = normalize::new_id();
        }
        let task_id = normalize::new_id();
        let entry = self
            .0
            .registry
            .enter(&call, &task_id, &message.context_id, &self.0.settings);
        let engine = self.clone();
        let state = entry.lock().await;
        self.own(async move {
            engine
                .begin(entry, state, call, request, message, join)
                .await
        })
        .await?
        .wait()
        .await
    }

    async fn begin(
        &self,
        entry: EntryRef,
        mut state: OwnedMutexGuard<State>,
        call: CallContext,
        request: SendMessageRequest,
        message: Message,
        join: Join,
    ) -> Result<Beginning, A2aError> {
        let permit = self.take_slot()?;
        let ids = (entry.task_id(), entry.context_id());
        let lease = self.lease(&entry).await?.ok_or_else(worked_on)?;
        let hold = Hold::new(permit, lease);
        let mode = self.0.executor.reply_mode();
        let mut spoken = message;
        if mode == ReplyMode::Task {
            entry.task_id().clone_into(&mut spoken.task_id);
        }
        let cx = self.context(call, request, spoken.clone(), None, ids, VecDeque::new());
        self.admit(&cx)?;
        match mode {
            ReplyMode::Task => {
                self.create(&entry, &mut state, &cx, new_task(&entry, spoken))
                    .await?;
                // The task exists: it is worked on even if the caller can't follow it.
                let begun = join.take(&entry);
                self.start(
                    &entry,
                    &mut state,
                    cx,
                    hold,
                    None,
                    self.origin_cursor(&begun),
                );
                begun.map(Beginning::Done)
            }
            ReplyMode::Either => {
                let (sender, receiver) = oneshot::channel();
                let origin = Origin {
                    join,
                    message: spoken,
                    begun: sender,
                };
                self.start(&entry, &mut state, cx, hold, Some(origin), None);
                Ok(Beginning::FirstEvent(receiver))
            }
        }
    }

    /// Makes the task of a [`ReplyMode::Either`] executor, whose first event is not a message, and tells its caller.
    pub(crate) async fn create_late(
        &self,
        entry: &EntryRef,
        state: &mut State,
        cx: &ExecutionContext,
        origin: Origin,
    ) -> Result<(), A2aError> {
        let mut message = origin.message;
        entry.task_id().clone_into(&mut message.task_id);
        let created = self
            .create(entry, state, cx, new_task(entry, message))
            .await;
        let begun = match &created {
            Ok(()) => origin.join.take(entry),
            Err(error) => Err(error.clone()),
        };
        if let Some(run) = state.run.as_mut() {
            run.origin_cursor = self.origin_cursor(&begun);
        }
        let _ = origin.begun.send(begun);
        created
    }

    /// Finds or makes the entry of a task that the store confirms to this caller.
    pub(crate) async fn enter(
        &self,
        call: &CallContext,
        task_id: &str,
    ) -> Result<EntryRef, A2aError> {
        if let Some(entry) = self.0.registry.find(call, task_id, self.0.settings.scope) {
            return Ok(entry);
        }
        let stored = self
            .guarded(self.0.store.get(call, task_id))
            .await
            .map_err(unreadable)?;
        let task = stored.ok_or_else(A2aError::task_not_found)?.task;
        Ok(self
            .0
            .registry
            .enter(call, task_id, &task.context_id, &self.0.settings))
    }

    /// Reads the task under its lock, unless this engine executes it or follows the one that does.
    pub(crate) async fn load(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
    ) -> Result<Arc<Task>, A2aError> {
        if state.in_doubt {
            return Err(in_doubt());
        }
        if state
            .run
            .as_ref()
            .is_some_and(|run| !run.signals.kill.is_cancelled())
        {
            // Without a task an executor has not yet decided whether there will be one.
            return entry.bus().task().ok_or_else(A2aError::task_not_found);
        }
        if let (true, Some(_), Some(task)) = (state.following, state.version, entry.bus().task()) {
            return Ok(task);
        }
        self.collect_write(entry, state).await?;
        let stored = self
            .guarded(self.0.store.get(call, entry.task_id()))
            .await
            .map_err(unreadable)?;
        let stored = stored.ok_or_else(A2aError::task_not_found)?;
        if state.version != Some(stored.version) || entry.bus().task().is_none() {
            state.version = Some(stored.version);
            entry.bus().load(Arc::clone(&stored.task));
        }
        Ok(stored.task)
    }

    /// The cursor of the stream that starts an execution, where the agent is to wait for it.
    fn origin_cursor(&self, begun: &Result<Begun, A2aError>) -> Option<u64> {
        match (self.0.settings.lag, begun) {
            (LagPolicy::Wait, Ok(Begun::Stream(_, joined))) => joined.events.cursor(),
            _ => None,
        }
    }

    /// Starts the executor. Called under the lock.
    pub(crate) fn start(
        &self,
        entry: &EntryRef,
        state: &mut State,
        cx: ExecutionContext,
        hold: Hold,
        origin: Option<Origin>,
        origin_cursor: Option<u64>,
    ) {
        let id = RunId::next();
        let signals = Signals::default();
        state.run = Some(Run {
            id,
            cx: cx.clone(),
            stage: Stage::Open,
            spoke: false,
            origin,
            grown: Grown::default(),
            origin_cursor,
            signals: signals.clone(),
            hold,
        });
        let drive = self
            .clone()
            .drive(entry.clone(), id, cx, signals, Span::current().id());
        self.0.tracker.spawn(drive);
    }

    pub(crate) fn take_slot(&self) -> Result<OwnedSemaphorePermit, A2aError> {
        Arc::clone(&self.0.slots)
            .try_acquire_owned()
            .map_err(|_| match self.0.settings.busy {
                Busy::Unavailable => {
                    A2aError::unavailable("too many executions run; try again later")
                        .with_retry_after(Duration::from_secs(1))
                }
                Busy::Unsupported => {
                    A2aError::unsupported_operation("session already has active work")
                }
            })
    }

    pub(crate) async fn lease(&self, entry: &EntryRef) -> Result<Option<Lease>, A2aError> {
        let (engine, task_id) = (Arc::downgrade(&self.0), entry.task_id().to_owned());
        let on_cancel: OnCancel = Arc::new(move |metadata| {
            let Some(engine) = engine.upgrade().map(Engine) else {
                return;
            };
            let entries = engine.0.registry.all();
            if let Some(entry) = entries.into_iter().find(|entry| entry.task_id() == task_id) {
                let cancel = engine.clone();
                engine.0.tracker.spawn(async move {
                    cancel
                        .cancel_run(&entry, CancelReason::Request { metadata })
                        .await;
                });
            }
        });
        let leased = self.0.placement.lease(entry.task_id(), on_cancel).await;
        leased.map_err(unreadable)
    }

    fn admit(&self, cx: &ExecutionContext) -> Result<(), A2aError> {
        for extension in &self.0.extensions {
            catch_now(|| extension.admit(cx)).unwrap_or_else(|panicked| {
                Err(A2aError::internal("an extension of the agent failed").with_source(panicked))
            })?;
        }
        Ok(())
    }
}

/// What came of the first step of a new task.
enum Beginning {
    Done(Begun),
    FirstEvent(oneshot::Receiver<Result<Begun, A2aError>>),
}

impl Beginning {
    async fn wait(self) -> Result<Begun, A2aError> {
        match self {
            Self::Done(begun) => Ok(begun),
            Self::FirstEvent(begun) => begun
                .await
                .unwrap_or_else(|_| Err(A2aError::internal("the agent ended without an answer"))),
        }
    }
}

pub(crate) fn worked_on() -> A2aError {
    A2aError::unsupported_operation("the task is being worked on")
}

/// What kagent's helpers say then (kagent contract 2.3).
fn session_busy() -> A2aError {
    A2aError::unsupported_operation("session already has active work")
}

/// What is told of a task that takes no more messages and has no more events.
pub(crate) fn terminal(task: &Task) -> A2aError {
    let state = task.state().as_str_name();
    A2aError::unsupported_operation(format!("the task is in the terminal state {state}"))
}

fn new_task(entry: &EntryRef, message: Message) -> Task {
    let mut task = Task::submitted(entry.task_id(), entry.context_id());
    if let Some(status) = &mut task.status {
        status.timestamp = Some(clock::now());
    }
    task.history.push(message);
    task
}

/// A store that can't be read now.
pub(crate) fn unreadable(error: StoreError) -> A2aError {
    match error {
        StoreError::InvalidRequest { field, description } => {
            A2aError::invalid_fields(vec![a2a_proto::FieldViolation::new(field, description)])
        }
        error => A2aError::internal("the task store failed")
            .with_retry_after(FIRST_DELAY)
            .with_source(error),
    }
}

fn in_doubt() -> A2aError {
    A2aError::unavailable("the state of the task is being found out; try again later")
        .with_retry_after(FIRST_DELAY)
}

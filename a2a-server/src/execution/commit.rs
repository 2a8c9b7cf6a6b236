//! How a change becomes true: apply, persist, publish, and at a boundary the steps between.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Message, StreamResponse, Task, TaskState};

use super::catch::{catch, catch_now};
use super::placement::News;
use super::room::Grown;
use super::state::State;
use super::{Engine, EntryRef, PersistPolicy};
use crate::context::CallContext;
use crate::event::Event;
use crate::executor::ExecutionContext;
use crate::store::{StoreError, TaskVersion, TaskWrite};

/// How a commit ends.
pub(crate) struct Ending {
    /// Streams and calls end with this error instead of the event.
    pub(crate) failure: Option<A2aError>,
    /// The execution is over with it: its slot is free before anybody sees the event.
    pub(crate) releases: bool,
}

impl Ending {
    pub(crate) const PLAIN: Self = Self {
        failure: None,
        releases: false,
    };
}

impl Engine {
    /// Makes an event true. It is normalised already.
    ///
    /// Must run to its end once begun: see [`Engine::own`].
    pub(crate) async fn commit(
        &self,
        entry: &EntryRef,
        state: &mut State,
        cx: &ExecutionContext,
        call: &CallContext,
        event: StreamResponse,
        ending: Ending,
    ) -> Result<(), A2aError> {
        let event = self.stamped(cx, event);
        match self.commit_at_once(entry, state, call, &event) {
            Some(outcome) => outcome,
            None => self.commit_stamped(entry, state, call, event, ending).await,
        }
    }

    /// The event as the extensions have it go out.
    pub(super) fn stamped(&self, cx: &ExecutionContext, mut event: StreamResponse) -> Event {
        self.outgoing(cx, &mut event);
        match is_boundary(&event) && self.0.settings.boundary.hold {
            true => Event::closing(event),
            false => Event::from(event),
        }
    }

    /// Makes an event true where nothing has to be waited for, and so nothing can be cut off; else `None`.
    pub(super) fn commit_at_once(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        event: &Event,
    ) -> Option<Result<(), A2aError>> {
        let waits = !self.0.store.is_immediate()
            || is_boundary(event.response())
            || self.is_gathered(event)
            || !state.gathered.is_idle();
        (!waits).then(|| self.commit_in_place(entry, state, call, event))
    }

    /// As [`commit`](Self::commit), with an event that the extensions have seen.
    pub(super) async fn commit_stamped(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        event: Event,
        ending: Ending,
    ) -> Result<(), A2aError> {
        if self.is_gathered(&event) {
            return self.commit_chunk(entry, state, call, event).await;
        }
        self.collect_write(entry, state).await?;
        let boundary = is_boundary(event.response());
        let mut next = Task::clone(&*entry.current()?);
        next.apply(event.response()).map_err(refused)?;
        let next = Arc::new(next);
        self.persist(entry, state, call, &next, Some(&event))
            .await?;
        if boundary {
            self.pass_boundary(entry, state, call, &next).await?;
            if ending.releases {
                state.release();
            }
        }
        self.tell(entry, state, vec![event.clone()], &next);
        match ending.failure {
            None => entry.bus().publish(next, &event),
            Some(error) => entry.bus().fail(&error, Some(next)),
        }
        Ok(())
    }

    /// Whether the event is a chunk that is stored together with others.
    fn is_gathered(&self, event: &Event) -> bool {
        is_chunk(event.response())
            && matches!(self.0.settings.persist, PersistPolicy::Coalesce { .. })
    }

    /// Stores a new task. Nobody sees it before.
    pub(crate) async fn create(
        &self,
        entry: &EntryRef,
        state: &mut State,
        cx: &ExecutionContext,
        task: Task,
    ) -> Result<(), A2aError> {
        let mut snapshot = StreamResponse::from(task.clone());
        self.outgoing(cx, &mut snapshot);
        let task = match snapshot.payload {
            Some(Payload::Task(stamped)) if stamped.id == task.id => stamped,
            _ => task,
        };
        self.check_room(&task)?;
        let created = self.guarded(self.0.store.create(cx.call(), &task)).await;
        match created {
            Ok(version) => {
                state.version = Some(version);
                entry.bus().load(Arc::new(task));
                Ok(())
            }
            Err(error) => Err(self.save_failed(entry, state, cx.call(), error)),
        }
    }

    /// Takes a message of the user into its task: the question goes to the history, the message behind it, and the
    /// task is WORKING.
    pub(crate) async fn claim(
        &self,
        entry: &EntryRef,
        state: &mut State,
        cx: &ExecutionContext,
        call: &CallContext,
        message: Message,
    ) -> Result<(), A2aError> {
        self.collect_write(entry, state).await?;
        let mut working = super::normalize::status_event(entry, TaskState::Working, None);
        self.outgoing(cx, &mut working);
        let event = Event::from(working);
        let mut next = Task::clone(&*entry.current()?);
        next.apply(event.response()).map_err(refused)?;
        next.history.push(message);
        self.check_room(&next)?;
        if let Some(run) = &mut state.run {
            run.grown = Grown::default();
        }
        let next = Arc::new(next);
        self.persist(entry, state, call, &next, None).await?;
        self.tell(entry, state, vec![event.clone()], &next);
        entry.bus().publish(next, &event);
        Ok(())
    }

    /// Writes the task: what has gathered and then that event, or a snapshot where no event tells the change.
    async fn persist(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        next: &Arc<Task>,
        event: Option<&Event>,
    ) -> Result<(), A2aError> {
        let expected = state.version.ok_or_else(unloaded)?;
        let gathered = state.gathered.take();
        let snapshot;
        let mut events: Vec<&StreamResponse> = gathered.iter().map(Event::response).collect();
        match event {
            Some(event) => events.push(event.response()),
            None => {
                snapshot = StreamResponse::from(Task::clone(next));
                events = vec![&snapshot];
            }
        }
        let write = TaskWrite::new(next, &events, expected);
        match self.guarded(self.0.store.update(call, write)).await {
            Ok(version) => {
                state.version = Some(version);
                Ok(())
            }
            Err(error) => Err(self.save_failed(entry, state, call, error)),
        }
    }

    /// Changes the task where it is: the store is ready at once, so that nobody can look between.
    fn commit_in_place(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        event: &Event,
    ) -> Result<(), A2aError> {
        enum Fault {
            Refused(A2aError),
            Store(StoreError),
        }
        let expected = state.version.ok_or_else(unloaded)?;
        let mut version = expected;
        let outcome = entry.bus().change(event, |task| {
            let task = Arc::make_mut(task);
            task.apply(event.response())
                .map_err(|error| Fault::Refused(refused(error)))?;
            let events = [event.response()];
            version = now(self
                .0
                .store
                .update(call, TaskWrite::new(task, &events, expected)))
            .map_err(Fault::Store)?;
            Ok(())
        });
        match outcome {
            Some(Ok(())) => {
                state.version = Some(version);
                if let Some(task) = entry.bus().task() {
                    self.tell(entry, state, vec![event.clone()], &task);
                }
                Ok(())
            }
            Some(Err(Fault::Refused(error))) => Err(error),
            Some(Err(Fault::Store(error))) => Err(self.save_failed(entry, state, call, error)),
            None => Err(unloaded()),
        }
    }

    /// Between the save of a boundary state and its publication.
    async fn pass_boundary(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        task: &Arc<Task>,
    ) -> Result<(), A2aError> {
        if let Some(hook) = &self.0.settings.boundary.hook {
            let flushed = tokio::time::timeout(HOOK_TIME, catch(hook.before_settle(task))).await;
            if !matches!(flushed, Ok(Ok(()))) {
                tracing::warn!(
                    a2a.task.id = entry.task_id(),
                    "the boundary hook failed or took too long"
                );
            }
        }
        let version = state.version.ok_or_else(unloaded)?;
        match self.settle(entry, call, version).await {
            Ok(()) => Ok(()),
            Err(error) => Err(super::recover::settle_failed(entry, state, error)),
        }
    }

    /// Settles, and tries again for 30 seconds.
    pub(crate) async fn settle(
        &self,
        entry: &EntryRef,
        call: &CallContext,
        version: TaskVersion,
    ) -> Result<(), StoreError> {
        let give_up = tokio::time::Instant::now() + SETTLE_TIME;
        let mut delay = FIRST_DELAY;
        loop {
            let attempt = self.guarded(self.0.store.settle(call, entry.task_id(), version));
            let error = match tokio::time::timeout_at(give_up, attempt).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error,
                Err(elapsed) => {
                    return Err(StoreError::Unknown {
                        source: elapsed.into(),
                    });
                }
            };
            if tokio::time::Instant::now() + delay >= give_up {
                return Err(error);
            }
            tracing::warn!(a2a.task.id = entry.task_id(), error = %error, "settling failed; trying again");
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(LONGEST_DELAY);
        }
    }

    /// A call of the store with its time limit; a panic and a late answer leave its outcome unknown.
    pub(crate) async fn guarded<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.0.settings.limits.store_timeout, catch(call)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panicked)) => Err(StoreError::Unknown {
                source: panicked.into(),
            }),
            Err(elapsed) => Err(StoreError::Unknown {
                source: elapsed.into(),
            }),
        }
    }

    /// Tells other engines what has been stored.
    pub(crate) fn tell(
        &self,
        entry: &EntryRef,
        state: &State,
        events: Vec<Event>,
        task: &Arc<Task>,
    ) {
        if let Some(version) = state.version {
            self.0.placement.announce(
                entry.task_id(),
                News {
                    version,
                    events,
                    task: Arc::clone(task),
                },
            );
        }
    }
}

impl super::entry::Entry {
    /// The task as published.
    pub(crate) fn current(&self) -> Result<Arc<Task>, A2aError> {
        self.bus().task().ok_or_else(unloaded)
    }
}

/// The outcome of a call that is ready at once.
fn now<T>(call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let mut call = std::pin::pin!(call);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match catch_now(|| call.as_mut().poll(&mut cx)) {
        Ok(Poll::Ready(outcome)) => outcome,
        Ok(Poll::Pending) => Err(StoreError::Unknown {
            source: "the store says it is immediate and is not".into(),
        }),
        Err(panicked) => Err(StoreError::Unknown {
            source: panicked.into(),
        }),
    }
}

fn is_boundary(event: &StreamResponse) -> bool {
    event.state().is_some_and(TaskState::is_boundary)
}

pub(crate) fn is_chunk(event: &StreamResponse) -> bool {
    matches!(&event.payload, Some(Payload::ArtifactUpdate(update)) if update.append)
}

/// What the reducer refuses, the executor is told.
fn refused(error: a2a_proto::apply::ApplyError) -> A2aError {
    A2aError::invalid_agent_response("the event does not fit the task").with_source(error)
}

pub(crate) fn unloaded() -> A2aError {
    A2aError::internal("the state of the task is not known").with_retry_after(FIRST_DELAY)
}

/// How long the hook may take.
const HOOK_TIME: Duration = Duration::from_secs(3);
/// How long settling is tried.
const SETTLE_TIME: Duration = Duration::from_secs(30);
pub(crate) const FIRST_DELAY: Duration = Duration::from_millis(100);
pub(crate) const LONGEST_DELAY: Duration = Duration::from_secs(5);

//! The way in for what an executor sends.

use a2a_proto::A2aError;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{StreamResponse, TaskState};
use tokio::sync::OwnedMutexGuard;

use super::commit::Ending;
use super::normalize::{normalize, status_event};
use super::state::{Origin, RunId, Stage, State};
use super::{Begun, Engine, EntryRef};
use crate::event::Event;
use crate::executor::ExecutionContext;

/// What a sink writes to.
#[derive(Clone)]
pub(crate) struct SinkTarget {
    engine: Engine,
    entry: EntryRef,
    run: RunId,
}

impl SinkTarget {
    pub(super) fn new(engine: Engine, entry: EntryRef, run: RunId) -> Self {
        Self { engine, entry, run }
    }

    /// Makes an event true: see [`EventSink::send`].
    pub(crate) async fn send(&self, event: StreamResponse) -> Result<(), A2aError> {
        let mut state = self.lock_behind_reader().await;
        if self.must_say_working(&event) {
            let working = status_event(&self.entry, TaskState::Working, None);
            self.send_locked(state, working).await?;
            state = self.entry.lock().await;
        }
        self.send_locked(state, event).await
    }

    async fn send_locked(
        &self,
        mut state: OwnedMutexGuard<State>,
        event: StreamResponse,
    ) -> Result<(), A2aError> {
        let Some(admitted) = self.admit(&mut state, event)? else {
            return Ok(());
        };
        let admitted = match self.commit_at_once(&mut state, admitted) {
            Ok(outcome) => return outcome,
            Err(waits) => waits,
        };
        let target = self.clone();
        self.engine
            .own(async move { target.commit(state, admitted).await })
            .await
    }

    pub(crate) fn replaces_text(&self) -> bool {
        self.engine.0.settings.boundary.hold
    }

    /// Takes the lock, and where the server chose so, waits first for the stream that started the execution.
    async fn lock_behind_reader(&self) -> OwnedMutexGuard<State> {
        let mut state = self.entry.lock().await;
        if let Some(cursor) = state.run_mut(self.run).and_then(|run| run.origin_cursor) {
            drop(state);
            let caught_up = self.entry.bus().caught_up(cursor);
            let _ = tokio::time::timeout(self.engine.0.settings.limits.lag_wait, caught_up).await;
            state = self.entry.lock().await;
        }
        state
    }

    /// Whether the task is to be WORKING before this event, and nobody has said so.
    fn must_say_working(&self, event: &StreamResponse) -> bool {
        if !self.engine.0.settings.announce_working {
            return false;
        }
        let is_new = match self.entry.bus().task() {
            Some(task) => task.state() == TaskState::Submitted,
            // The task of an executor that may answer without one.
            None => true,
        };
        // A task that is turned away was never worked on.
        let says_it = matches!(
            event.state(),
            Some(TaskState::Working | TaskState::Rejected)
        );
        is_new && !says_it && !matches!(event.payload, Some(Payload::Message(_)) | None)
    }

    /// Checks an event and notes what it means for the execution; `None` if that was all there is to do.
    fn admit(
        &self,
        state: &mut State,
        event: StreamResponse,
    ) -> Result<Option<Admitted>, A2aError> {
        let entry = &self.entry;
        let open = state
            .run_mut(self.run)
            .is_some_and(|run| run.is_open() && !run.signals.kill.is_cancelled());
        if !open {
            return Err(closed());
        }
        let event = normalize(event, entry, entry.bus().task().as_deref())?;
        self.engine.check_room_for(entry, state, &event)?;
        let run = state.run_mut(self.run).ok_or_else(closed)?;
        if let Some(Payload::Message(message)) = event.payload {
            let origin = run.origin.take().ok_or_else(|| {
                A2aError::invalid_agent_response("a message is not an answer once there is a task")
            })?;
            run.close(Stage::Closed);
            let _ = origin.begun.send(Ok(Begun::Message(message)));
            return Ok(None);
        }
        Ok(Some(Admitted {
            cx: run.cx.clone(),
            origin: run.origin.take(),
            event,
        }))
    }

    /// Most events of an agent with its tasks in memory need not wait: they are made true without a task of their own.
    /// Gives back an event that has to wait.
    fn commit_at_once(
        &self,
        state: &mut State,
        admitted: Admitted,
    ) -> Result<Result<(), A2aError>, Box<Pending>> {
        let Admitted { cx, origin, event } = admitted;
        if origin.is_some() || self.is_held(&event) {
            let event = Form::Plain(Box::new(event));
            return Err(Box::new(Pending { cx, origin, event }));
        }
        let spoke = speaks(&event);
        let event = self.engine.stamped(&cx, event);
        let call = cx.control().serving();
        let outcome = self
            .engine
            .commit_at_once(&self.entry, state, &call, &event);
        let Some(outcome) = outcome else {
            let event = Form::Stamped { event, spoke };
            return Err(Box::new(Pending { cx, origin, event }));
        };
        self.note(state, spoke);
        Ok(outcome.and_then(|()| self.follow(state, &cx, event.state())))
    }

    async fn commit(
        self,
        mut state: OwnedMutexGuard<State>,
        pending: Box<Pending>,
    ) -> Result<(), A2aError> {
        let Pending { cx, origin, event } = *pending;
        if let Some(origin) = origin {
            self.engine
                .create_late(&self.entry, &mut state, &cx, origin)
                .await?;
        }
        let event = match event {
            Form::Plain(event) => {
                self.note(&mut state, speaks(&event));
                if self.is_held(&event) {
                    let run = state.run_mut(self.run).ok_or_else(closed)?;
                    run.close(Stage::Held(event));
                    return Ok(());
                }
                self.engine.stamped(&cx, *event)
            }
            Form::Stamped { event, spoke } => {
                self.note(&mut state, spoke);
                event
            }
        };
        let said = event.state();
        let call = cx.control().serving();
        self.engine
            .commit_stamped(&self.entry, &mut state, &call, event, Ending::PLAIN)
            .await?;
        self.follow(&mut state, &cx, said)
    }

    /// Whether it waits until the executor has returned.
    fn is_held(&self, event: &StreamResponse) -> bool {
        self.engine.0.settings.boundary.hold && event.state().is_some_and(TaskState::is_boundary)
    }

    fn note(&self, state: &mut State, spoke: bool) {
        if let Some(run) = state.run_mut(self.run) {
            run.spoke |= spoke;
        }
    }

    /// What a state that has been published means for the execution.
    fn follow(
        &self,
        state: &mut State,
        cx: &ExecutionContext,
        said: Option<TaskState>,
    ) -> Result<(), A2aError> {
        if said.is_some() {
            // An extension may have had the last word on the state.
            let now = self.entry.current()?.state();
            cx.control().stop_clock(now == TaskState::AuthRequired);
            if let Some(run) = state.run_mut(self.run).filter(|_| now.is_closing()) {
                run.close(Stage::Closed);
            }
        }
        Ok(())
    }
}

/// An event that may be made true.
struct Admitted {
    cx: ExecutionContext,
    /// Of an execution whose task is not stored yet.
    origin: Option<Origin>,
    event: StreamResponse,
}

/// One that has to be waited for.
struct Pending {
    cx: ExecutionContext,
    origin: Option<Origin>,
    event: Form,
}

enum Form {
    Plain(Box<StreamResponse>),
    /// The extensions have seen it.
    Stamped {
        event: Event,
        spoke: bool,
    },
}

fn speaks(event: &StreamResponse) -> bool {
    match &event.payload {
        Some(Payload::ArtifactUpdate(_)) => true,
        Some(Payload::StatusUpdate(update)) => update
            .status
            .as_ref()
            .and_then(|status| status.message.as_ref())
            .is_some_and(|message| !message.text().is_empty()),
        Some(Payload::Task(task)) => !task.artifacts.is_empty(),
        Some(Payload::Message(_)) | None => false,
    }
}

fn closed() -> A2aError {
    A2aError::unsupported_operation("the task takes no more events from this execution")
}

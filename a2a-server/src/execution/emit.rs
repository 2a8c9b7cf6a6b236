//! The way in for what an executor sends.

use a2a_proto::A2aError;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{StreamResponse, TaskState};
use tokio::sync::OwnedMutexGuard;

use super::commit::Ending;
use super::normalize::normalize;
use super::state::{RunId, Stage, State};
use super::{Begun, Engine, EntryRef};

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
        let state = self.lock_behind_reader().await;
        let (target, engine) = (self.clone(), self.engine.clone());
        engine
            .own(async move { target.take(state, event).await })
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

    async fn take(
        self,
        mut state: OwnedMutexGuard<State>,
        event: StreamResponse,
    ) -> Result<(), A2aError> {
        let Self {
            engine,
            entry,
            run: id,
        } = self;
        let Some(run) = state
            .run_mut(id)
            .filter(|run| run.is_open() && !run.signals.kill.is_cancelled())
        else {
            return Err(closed());
        };
        let event = normalize(event, &entry, entry.bus().task().as_deref())?;
        if let Some(Payload::Message(message)) = event.payload {
            let origin = run.origin.take().ok_or_else(|| {
                A2aError::invalid_agent_response("a message is not an answer once there is a task")
            })?;
            run.close(Stage::Closed);
            let _ = origin.begun.send(Ok(Begun::Message(message)));
            return Ok(());
        }
        let cx = run.cx.clone();
        if let Some(origin) = run.origin.take() {
            engine.create_late(&entry, &mut state, &cx, origin).await?;
        }
        let said = event.state();
        let spoke = speaks(&event);
        let Some(run) = state.run_mut(id) else {
            return Err(closed());
        };
        run.spoke |= spoke;
        if engine.0.settings.boundary.hold && said.is_some_and(TaskState::is_boundary) {
            run.close(Stage::Held(Box::new(event)));
            return Ok(());
        }
        let call = cx.control().serving();
        engine
            .commit(&entry, &mut state, &cx, &call, event, Ending::PLAIN)
            .await?;
        if said.is_some() {
            // An extension may have had the last word on the state.
            let now = entry.current()?.state();
            cx.control().stop_clock(now == TaskState::AuthRequired);
            if let Some(run) = state.run_mut(id).filter(|_| now.is_closing()) {
                run.close(Stage::Closed);
            }
        }
        Ok(())
    }
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

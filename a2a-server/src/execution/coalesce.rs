//! Appended chunks that are published at once and stored a little later, several with one write.

use std::sync::Arc;

use a2a_proto::A2aError;
use a2a_proto::v1::{StreamResponse, Task};
use prost::Message as _;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::commit::unloaded;
use super::state::State;
use super::{Engine, EntryRef, PersistPolicy};
use crate::context::CallContext;
use crate::event::Event;
use crate::store::{StoreError, TaskVersion, TaskWrite};

/// The chunks that are published and not yet written.
#[derive(Default)]
pub(crate) struct Gathered {
    chunks: Vec<Event>,
    bytes: usize,
    /// When the oldest was published.
    since: Option<Instant>,
    /// The one write under way.
    write: Option<Write>,
    /// Whether a task will look when the oldest has waited long enough.
    timed: bool,
}

struct Write {
    outcome: oneshot::Receiver<Result<TaskVersion, StoreError>>,
    events: Vec<Event>,
    task: Arc<Task>,
}

impl Gathered {
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Whether nothing waits to be written and no write is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.chunks.is_empty() && self.write.is_none()
    }

    /// Takes the chunks along with another write.
    pub(crate) fn take(&mut self) -> Vec<Event> {
        self.bytes = 0;
        self.since = None;
        std::mem::take(&mut self.chunks)
    }

    /// Forgets all: the task is in doubt.
    pub(crate) fn clear(&mut self) {
        self.take();
        self.write = None;
    }

    fn push(&mut self, chunk: Event) {
        self.bytes += chunk.response().encoded_len();
        self.since.get_or_insert_with(Instant::now);
        self.chunks.push(chunk);
    }

    fn is_due(&self, policy: PersistPolicy) -> bool {
        let PersistPolicy::Coalesce { bytes, delay } = policy else {
            return !self.is_empty();
        };
        self.bytes >= bytes || self.since.is_some_and(|since| since.elapsed() >= delay)
    }
}

impl Engine {
    /// Publishes a chunk, and sees to its being written.
    pub(crate) async fn commit_chunk(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        chunk: Event,
    ) -> Result<(), A2aError> {
        let policy = self.0.settings.persist;
        if state.gathered.is_due(policy) {
            // The window is full: no more before the write under way has arrived.
            self.collect_write(entry, state).await?;
        }
        let applied = entry
            .bus()
            .change(&chunk, |task| Arc::make_mut(task).apply(chunk.response()))
            .ok_or_else(unloaded)?;
        applied.map_err(|error| {
            A2aError::invalid_agent_response("the event does not fit the task").with_source(error)
        })?;
        state.gathered.push(chunk);
        self.schedule(entry, state, call);
        Ok(())
    }

    /// Waits for the write under way, if there is one.
    pub(crate) async fn collect_write(
        &self,
        entry: &EntryRef,
        state: &mut State,
    ) -> Result<(), A2aError> {
        let Some(write) = &mut state.gathered.write else {
            return Ok(());
        };
        let outcome = (&mut write.outcome).await.unwrap_or_else(|lost| {
            Err(StoreError::Unknown {
                source: lost.into(),
            })
        });
        let Some(write) = state.gathered.write.take() else {
            return Ok(());
        };
        match outcome {
            Ok(version) => {
                state.version = Some(version);
                self.tell(entry, state, write.events, &write.task);
                Ok(())
            }
            Err(error) => {
                let call = match &state.run {
                    Some(run) => run.control().serving(),
                    None => CallContext::new(a2a_proto::Method::SendMessage),
                };
                Err(self.save_failed(entry, state, &call, error))
            }
        }
    }

    /// Writes what has gathered, and waits for it.
    pub(crate) async fn flush(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
    ) -> Result<(), A2aError> {
        self.collect_write(entry, state).await?;
        if !state.gathered.is_empty() {
            self.start_write(entry, state, call);
        }
        self.collect_write(entry, state).await
    }

    /// Starts a write if one is due and none is under way, and otherwise sees to it that one will be.
    fn schedule(&self, entry: &EntryRef, state: &mut State, call: &CallContext) {
        if state.gathered.is_empty() || state.gathered.write.is_some() {
            return;
        }
        let PersistPolicy::Coalesce { delay, .. } = self.0.settings.persist else {
            return;
        };
        if state.gathered.is_due(self.0.settings.persist) {
            self.start_write(entry, state, call);
        } else if !state.gathered.timed {
            state.gathered.timed = true;
            let due = state.gathered.since.unwrap_or_else(Instant::now) + delay;
            let (engine, entry, call) = (self.clone(), entry.clone(), call.clone());
            self.0.tracker.spawn(async move {
                tokio::time::sleep_until(due).await;
                let mut state = entry.lock().await;
                state.gathered.timed = false;
                engine.schedule(&entry, &mut state, &call);
            });
        }
    }

    fn start_write(&self, entry: &EntryRef, state: &mut State, call: &CallContext) {
        let (Some(expected), Some(task)) = (state.version, entry.bus().task()) else {
            return;
        };
        let events = state.gathered.take();
        let (sender, outcome) = oneshot::channel();
        state.gathered.write = Some(Write {
            outcome,
            events: events.clone(),
            task: Arc::clone(&task),
        });
        let (engine, entry, call) = (self.clone(), entry.clone(), call.clone());
        self.0.tracker.spawn(async move {
            let written = {
                let events: Vec<&StreamResponse> = events.iter().map(Event::response).collect();
                engine
                    .guarded(
                        engine
                            .0
                            .store
                            .update(&call, TaskWrite::new(&task, &events, expected)),
                    )
                    .await
            };
            drop(task);
            // Whoever holds the lock and waits takes the outcome; else it is taken here.
            let _ = sender.send(written);
            let mut state = entry.lock().await;
            if engine.collect_write(&entry, &mut state).await.is_ok() {
                engine.schedule(&entry, &mut state, &call);
            }
        });
    }
}

//! What follows a save that failed, and how an engine keeps up with what another one stores.

use std::sync::Arc;

use a2a_proto::A2aError;
use a2a_proto::v1::{Message, StreamResponse, Task, TaskState};

use super::commit::{FIRST_DELAY, LONGEST_DELAY, unloaded};
use super::deliver::{Joined, terminal, unreadable};
use super::normalize::status_event;
use super::placement::{News, Watch};
use super::state::State;
use super::{Engine, EntryRef};
use crate::context::CallContext;
use crate::event::Event;
use crate::store::{StoreError, StoredTask, TaskWrite};

impl Engine {
    /// A save failed: the executor is stopped, streams and calls end, and the live task is given up. What the store
    /// has is found out, unless the claim is lost.
    pub(crate) fn save_failed(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        error: StoreError,
    ) -> A2aError {
        let task_id = entry.task_id();
        tracing::error!(a2a.task.id = task_id, error = %error, cause = error.source_text(), "a task was not stored");
        let lost = matches!(error, StoreError::VersionConflict);
        let told = A2aError::internal(if lost {
            "the task was changed elsewhere"
        } else {
            "the task store failed"
        })
        .with_retry_after(FIRST_DELAY)
        .with_source(error);
        give_up(entry, state, &told);
        if !lost && !self.0.settings.boundary.store_decides {
            state.in_doubt = true;
            let (engine, entry, call) = (self.clone(), entry.clone(), call.clone());
            self.0
                .tracker
                .spawn(async move { engine.reconcile(entry, call).await });
        }
        told
    }

    /// Reads the task until the store answers. A task that still runs by the store's word is failed: its executor is
    /// gone. Any other state stands: the save did arrive.
    async fn reconcile(self, entry: EntryRef, call: CallContext) {
        let mut delay = FIRST_DELAY;
        loop {
            match self
                .fail_running(&entry, &call, "the task store failed")
                .await
            {
                Ok(()) => break,
                Err(StoreError::VersionConflict | StoreError::NotFound) => {}
                Err(error) => {
                    tracing::warn!(a2a.task.id = entry.task_id(), error = %error, "the task store still fails");
                }
            }
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                // The next process finds the task as the store has it.
                () = self.0.draining.cancelled() => break,
            }
            delay = (delay * 2).min(LONGEST_DELAY);
        }
        let mut state = entry.lock().await;
        state.in_doubt = false;
    }

    /// Fails a task that nobody works on, if the store has it SUBMITTED or WORKING; any other state is final as it is.
    pub(super) async fn fail_running(
        &self,
        entry: &EntryRef,
        call: &CallContext,
        reason: &str,
    ) -> Result<(), StoreError> {
        let Some(stored) = self
            .guarded(self.0.store.get(call, entry.task_id()))
            .await?
        else {
            return Ok(());
        };
        let StoredTask { task, version } = stored;
        if !matches!(task.state(), TaskState::Submitted | TaskState::Working) {
            return self.settle(entry, call, version).await;
        }
        let failed = status_event(entry, TaskState::Failed, Some(Message::agent(reason)));
        let mut next = Task::clone(&task);
        if next.apply(&failed).is_err() {
            return Ok(());
        }
        let events: [&StreamResponse; 1] = [&failed];
        let version = self
            .guarded(
                self.0
                    .store
                    .update(call, TaskWrite::new(&next, &events, version)),
            )
            .await?;
        self.settle(entry, call, version).await?;
        let news = News {
            version,
            events: vec![Event::from(failed.clone())],
            task: Arc::new(next),
        };
        self.0.placement.announce(entry.task_id(), news);
        Ok(())
    }

    /// Joins the stream of a task: its state, and what follows.
    pub(crate) async fn subscribe(
        &self,
        call: &CallContext,
        task_id: &str,
    ) -> Result<(Arc<Task>, Joined), A2aError> {
        self.refuse_when_draining()?;
        self.ready().await?;
        let entry = self.enter(call, task_id).await?;
        // Who holds the lock may be waiting for the store: what is published can be joined meanwhile.
        let held = match entry.try_lock() {
            Some(state) => Some(state),
            None if entry.bus().task().is_some() => None,
            None => Some(entry.lock().await),
        };
        if let Some(mut state) = held {
            // Listening begins before the store is read, so that nothing falls between.
            self.follow(&entry, &mut state, call);
            self.load(&entry, &mut state, call).await?;
            return Self::join(entry);
        }
        Self::join(entry)
    }

    fn join(entry: EntryRef) -> Result<(Arc<Task>, Joined), A2aError> {
        let (task, events) = entry.bus().subscribe().ok_or_else(unloaded)??;
        if task.state().is_terminal() {
            return Err(terminal(&task));
        }
        let joined = Joined {
            events,
            _entry: entry,
        };
        Ok((task, joined))
    }

    /// The task as published where this engine executes or follows it, else as stored.
    pub(crate) async fn read(
        &self,
        call: &CallContext,
        task_id: &str,
    ) -> Result<Arc<Task>, A2aError> {
        self.ready().await?;
        let entry = self.0.registry.find(call, task_id, self.0.settings.scope);
        if let Some(task) = entry.and_then(|entry| entry.bus().task()) {
            return Ok(task);
        }
        let stored = self
            .guarded(self.0.store.get(call, task_id))
            .await
            .map_err(unreadable)?;
        Ok(stored.ok_or_else(A2aError::task_not_found)?.task)
    }

    /// Follows the engine that executes the task, if somebody here reads the stream.
    pub(crate) fn follow_if_read(&self, entry: &EntryRef, state: &mut State, call: &CallContext) {
        if entry.bus().has_readers() {
            self.follow_beside(entry, state, call);
        }
    }

    /// Copies to the bus what other engines store, as long as somebody here holds the task and does not execute it.
    pub(crate) fn follow(&self, entry: &EntryRef, state: &mut State, call: &CallContext) {
        if state.run.is_none() {
            self.follow_beside(entry, state, call);
        }
    }

    fn follow_beside(&self, entry: &EntryRef, state: &mut State, call: &CallContext) {
        if state.following {
            return;
        }
        let Some(watch) = self.0.placement.watch(entry.task_id()) else {
            return;
        };
        state.following = true;
        let (engine, entry, call) = (self.clone(), entry.clone(), call.clone());
        self.0
            .tracker
            .spawn(async move { engine.keep_up(entry, watch, call).await });
    }

    async fn keep_up(self, entry: EntryRef, mut watch: Box<dyn Watch>, call: CallContext) {
        loop {
            let news = tokio::select! {
                news = watch.next() => Some(news),
                () = entry.bus().deserted() => None,
                () = self.0.draining.cancelled() => None,
            };
            let mut state = entry.lock().await;
            let Some(news) = news else {
                if entry.bus().is_deserted() || self.0.draining.is_cancelled() {
                    state.following = false;
                    return;
                }
                continue;
            };
            if state.run.is_some() {
                // What this engine stores comes back to it.
                continue;
            }
            match news {
                Some(news) => copy(&entry, &mut state, news),
                None => self.catch_up(&entry, &mut state, &call).await,
            }
        }
    }

    /// Some writes were missed: the state stands for them.
    async fn catch_up(&self, entry: &EntryRef, state: &mut State, call: &CallContext) {
        match self.guarded(self.0.store.get(call, entry.task_id())).await {
            Ok(Some(stored)) if state.version != Some(stored.version) => {
                state.version = Some(stored.version);
                let snapshot = Event::from(StreamResponse::from(Task::clone(&stored.task)));
                entry.bus().publish(stored.task, &snapshot);
            }
            Ok(Some(_)) => {}
            Ok(None) => entry.bus().fail(&A2aError::task_not_found(), None),
            Err(error) => entry.bus().fail(&unreadable(error), None),
        }
    }
}

/// Settling failed for good: nothing is published, and the next request reads the store again.
pub(crate) fn settle_failed(entry: &EntryRef, state: &mut State, error: StoreError) -> A2aError {
    tracing::error!(a2a.task.id = entry.task_id(), error = %error, "a task was not settled");
    let told = A2aError::internal("the task could not be settled")
        .with_retry_after(FIRST_DELAY)
        .with_source(error);
    give_up(entry, state, &told);
    told
}

fn give_up(entry: &EntryRef, state: &mut State, error: &A2aError) {
    if let Some(run) = &state.run {
        run.signals.kill.cancel();
    }
    state.version = None;
    state.gathered.clear();
    entry.bus().fail(error, None);
}

fn copy(entry: &EntryRef, state: &mut State, news: News) {
    if state.version.is_some_and(|version| news.version <= version) {
        return;
    }
    state.version = Some(news.version);
    for event in &news.events {
        entry.bus().publish(Arc::clone(&news.task), event);
    }
}

impl StoreError {
    fn source_text(&self) -> Option<String> {
        std::error::Error::source(self).map(ToString::to_string)
    }
}

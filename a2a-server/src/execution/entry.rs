//! The registry: the tasks that somebody is busy with.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use super::bus::Bus;
use super::policy::{Settings, TaskScope};
use super::state::State;
use crate::auth::Principal;
use crate::context::CallContext;

/// A task that is executed, joined or changed right now. Idle tasks have none.
pub(crate) struct Entry {
    task_id: String,
    context_id: String,
    tenant: String,
    owner: Principal,
    state: Arc<tokio::sync::Mutex<State>>,
    bus: Arc<Bus>,
}

impl Entry {
    pub(crate) fn task_id(&self) -> &str {
        &self.task_id
    }

    pub(crate) fn context_id(&self) -> &str {
        &self.context_id
    }

    pub(crate) fn bus(&self) -> &Arc<Bus> {
        &self.bus
    }

    /// Takes the task's lock; everything that changes the task happens under it.
    pub(crate) async fn lock(&self) -> OwnedMutexGuard<State> {
        Arc::clone(&self.state).lock_owned().await
    }

    /// Takes the lock if nobody has it.
    pub(crate) fn try_lock(&self) -> Option<OwnedMutexGuard<State>> {
        Arc::clone(&self.state).try_lock_owned().ok()
    }

    fn is_visible_to(&self, call: &CallContext, scope: TaskScope) -> bool {
        match scope {
            TaskScope::Principal => self.tenant == call.tenant() && self.owner == *call.principal(),
            TaskScope::Server => true,
        }
    }
}

#[derive(Default)]
pub(crate) struct Registry {
    entries: Mutex<HashMap<String, Arc<Entry>>>,
}

impl Registry {
    /// The entry of a task, if it has one and the caller may see it.
    pub(crate) fn find(
        self: &Arc<Self>,
        call: &CallContext,
        task_id: &str,
        scope: TaskScope,
    ) -> Option<EntryRef> {
        let entries = self.lock();
        let entry = entries
            .get(task_id)
            .filter(|entry| entry.is_visible_to(call, scope))?;
        Some(EntryRef {
            entry: Arc::clone(entry),
            registry: Arc::clone(self),
        })
    }

    /// The entry of a task that the store has confirmed to this caller, or that is about to be made for it.
    pub(crate) fn enter(
        self: &Arc<Self>,
        call: &CallContext,
        task_id: &str,
        context_id: &str,
        settings: &Settings,
    ) -> EntryRef {
        let mut entries = self.lock();
        let entry = entries.entry(task_id.to_owned()).or_insert_with(|| {
            Arc::new(Entry {
                task_id: task_id.to_owned(),
                context_id: context_id.to_owned(),
                tenant: call.tenant().to_owned(),
                owner: call.principal().clone(),
                state: Arc::default(),
                bus: Arc::new(Bus::new(
                    settings.window,
                    settings.limits.subscribers_per_task,
                )),
            })
        });
        EntryRef {
            entry: Arc::clone(entry),
            registry: Arc::clone(self),
        }
    }

    pub(crate) fn all(self: &Arc<Self>) -> Vec<EntryRef> {
        let entries = self.lock();
        let hold = |entry: &Arc<Entry>| EntryRef {
            entry: Arc::clone(entry),
            registry: Arc::clone(self),
        };
        entries.values().map(hold).collect()
    }

    pub(crate) fn contains(&self, task_id: &str) -> bool {
        self.lock().contains_key(task_id)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hold on an entry; the last one removes it.
pub(crate) struct EntryRef {
    entry: Arc<Entry>,
    registry: Arc<Registry>,
}

impl Clone for EntryRef {
    fn clone(&self) -> Self {
        Self {
            entry: Arc::clone(&self.entry),
            registry: Arc::clone(&self.registry),
        }
    }
}

impl Deref for EntryRef {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl Drop for EntryRef {
    fn drop(&mut self) {
        // Under the map's lock nobody can find the entry, and whoever holds it is counted: the map and this one.
        let mut entries = self.registry.lock();
        if Arc::strong_count(&self.entry) == 2 {
            entries.remove(&self.entry.task_id);
        }
    }
}

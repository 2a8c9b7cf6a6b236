//! Tasks in memory: the default store, and the reference for others.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task, TaskState};
use async_trait::async_trait;
use tokio::time::Instant;

use super::listing::{self, Cursor};
use super::{LiveTasks, StoreError, StoredTask, TaskStore, TaskVersion, TaskWrite};
use crate::context::CallContext;
use crate::execution::TaskScope;

/// Keeps tasks in memory, for as long as [`Retention`] says.
///
/// A task that is older than that is gone: GetTask answers TaskNotFound. One that is executed, joined or changed right
/// now is never evicted.
pub struct MemoryStore {
    inner: Mutex<Inner>,
    retention: Retention,
    scope: TaskScope,
}

/// How long the memory store keeps what nobody works on. Running tasks are kept in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// How long finished tasks are kept: 1 hour.
    pub finished: Duration,
    /// How many finished tasks are kept: 10,000.
    pub finished_count: usize,
    /// How long tasks in INPUT_REQUIRED or AUTH_REQUIRED are kept: 168 hours.
    pub parked: Duration,
    /// How many of those are kept: 10,000.
    pub parked_count: usize,
}

impl Default for Retention {
    fn default() -> Self {
        let hour = Duration::from_secs(60 * 60);
        Self {
            finished: hour,
            finished_count: 10_000,
            parked: 168 * hour,
            parked_count: 10_000,
        }
    }
}

#[derive(Default)]
struct Inner {
    records: HashMap<String, Record>,
    /// What may be evicted, oldest first. An entry whose version is no longer the record's is stale.
    finished: VecDeque<Resting>,
    parked: VecDeque<Resting>,
    /// Of each engine that works on the store.
    live: Vec<LiveTasks>,
}

struct Record {
    task: Arc<Task>,
    version: TaskVersion,
    tenant: String,
    owner: crate::auth::Principal,
}

struct Resting {
    id: String,
    version: TaskVersion,
    since: Instant,
}

impl MemoryStore {
    /// An empty store with the usual retention.
    #[must_use]
    pub fn new() -> Self {
        Self::with_retention(Retention::default())
    }

    /// An empty store that keeps tasks for so long.
    #[must_use]
    pub fn with_retention(retention: Retention) -> Self {
        Self {
            inner: Mutex::default(),
            retention,
            scope: TaskScope::Principal,
        }
    }

    /// Sets who may see a task.
    #[must_use]
    pub fn scoped(mut self, scope: TaskScope) -> Self {
        self.scope = scope;
        self
    }

    /// How many tasks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().records.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_visible(&self, record: &Record, cx: &CallContext) -> bool {
        match self.scope {
            TaskScope::Principal => record.tenant == cx.tenant() && record.owner == *cx.principal(),
            TaskScope::Server => true,
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("tasks", &self.len())
            .field("retention", &self.retention)
            .finish()
    }
}

#[async_trait]
impl TaskStore for MemoryStore {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        let mut inner = self.lock();
        if inner.records.contains_key(&task.id) {
            return Err(StoreError::AlreadyExists);
        }
        let version = TaskVersion::new(1);
        let record = Record {
            task: Arc::new(task.clone()),
            version,
            tenant: cx.tenant().to_owned(),
            owner: cx.principal().clone(),
        };
        inner.records.insert(task.id.clone(), record);
        inner.rest(task, version);
        inner.evict(&self.retention);
        Ok(version)
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        let mut inner = self.lock();
        let record = inner
            .records
            .get_mut(&write.task.id)
            .filter(|record| self.is_visible(record, cx))
            .ok_or(StoreError::NotFound)?;
        if record.version != write.expected {
            return Err(StoreError::VersionConflict);
        }
        // Applying the events costs what they hold; copying the task would cost all that it has grown to.
        let task = Arc::make_mut(&mut record.task);
        if write.events.iter().any(|event| task.apply(event).is_err()) {
            task.clone_from(write.task);
        }
        let version = TaskVersion::new(record.version.number() + 1);
        record.version = version;
        inner.rest(write.task, version);
        inner.evict(&self.retention);
        Ok(version)
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        let mut inner = self.lock();
        inner.evict(&self.retention);
        let record = inner
            .records
            .get(id)
            .filter(|record| self.is_visible(record, cx));
        Ok(record.map(|record| StoredTask {
            task: Arc::clone(&record.task),
            version: record.version,
        }))
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        let after = Cursor::parse(&request.page_token)?;
        let mut inner = self.lock();
        inner.evict(&self.retention);
        let mut matches: Vec<(Cursor, &Arc<Task>)> = inner
            .records
            .values()
            .filter(|record| self.is_visible(record, cx) && is_wanted(&record.task, request))
            .map(|record| (Cursor::of(&record.task), &record.task))
            .collect();
        let total = matches.len();
        matches.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        let page = matches
            .iter()
            .filter(|(cursor, _)| after.as_ref().is_none_or(|after| cursor > after))
            .map(|(_, task)| &***task);
        Ok(listing::page(page, total, request))
    }

    fn serve(&self, live: LiveTasks) {
        self.lock().live.push(live);
    }

    fn is_immediate(&self) -> bool {
        true
    }
}

fn is_wanted(task: &Task, request: &ListTasksRequest) -> bool {
    let timestamp = task.status.as_ref().and_then(|status| status.timestamp);
    let context = request.context_id.is_empty() || task.context_id == request.context_id;
    let status = request.status() == TaskState::Unspecified || task.state() == request.status();
    let recent = request
        .status_timestamp_after
        .is_none_or(|after| timestamp.is_some_and(|at| at >= after));
    context && status && recent
}

impl Inner {
    /// Notes that a task has come to rest, so that it may be evicted one day.
    fn rest(&mut self, task: &Task, version: TaskVersion) {
        let queue = match task.state() {
            state if state.is_terminal() => &mut self.finished,
            state if state.is_interrupted() => &mut self.parked,
            _ => return,
        };
        queue.push_back(Resting {
            id: task.id.clone(),
            version,
            since: Instant::now(),
        });
    }

    fn evict(&mut self, retention: &Retention) {
        let finished = (retention.finished, retention.finished_count);
        let parked = (retention.parked, retention.parked_count);
        Self::evict_from(&mut self.finished, &mut self.records, &self.live, finished);
        Self::evict_from(&mut self.parked, &mut self.records, &self.live, parked);
    }

    fn evict_from(
        queue: &mut VecDeque<Resting>,
        records: &mut HashMap<String, Record>,
        live: &[LiveTasks],
        (age, count): (Duration, usize),
    ) {
        let mut looked_at = queue.len();
        while let Some(oldest) = queue.front() {
            let stale = records
                .get(&oldest.id)
                .is_none_or(|record| record.version != oldest.version);
            let old = oldest.since.elapsed() >= age || queue.len() > count;
            if looked_at == 0 || !(stale || old) {
                break;
            }
            looked_at -= 1;
            let Some(oldest) = queue.pop_front() else {
                break;
            };
            if stale {
                continue;
            }
            if live.iter().any(|live| live.contains(&oldest.id)) {
                queue.push_back(oldest);
            } else {
                records.remove(&oldest.id);
            }
        }
    }
}

#[cfg(test)]
mod tests;

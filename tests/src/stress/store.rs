//! A store with one fault at its k-th call, which sees whether a task is changed behind its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task, TaskState};
use a2a_server::store::{LiveTasks, StoredTask, TaskVersion, TaskWrite};
use a2a_server::{CallContext, MemoryStore, StoreError, TaskStore, async_trait};

/// What the k-th call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing is done, and it says so.
    Fails,
    /// It is done, and then said to be unknown.
    UnknownAndDone,
    /// Nothing is done, and it is said to be unknown.
    UnknownAndNot,
    /// Nothing is done, and it never returns.
    Hangs,
    /// Nothing is done, and it panics.
    Panics,
    /// It is done within the time limit, but late.
    IsSlow,
    /// It is done, and returns after the time limit.
    IsTooSlow,
}

impl Fault {
    pub(super) const ALL: [Self; 7] = [
        Self::Fails,
        Self::UnknownAndDone,
        Self::UnknownAndNot,
        Self::Hangs,
        Self::Panics,
        Self::IsSlow,
        Self::IsTooSlow,
    ];
}

#[derive(Clone)]
pub(super) struct FaultyStore(Arc<Inner>);

struct Inner {
    memory: MemoryStore,
    calls: AtomicUsize,
    disarmed: AtomicBool,
    at: usize,
    fault: Fault,
    ended: Mutex<HashMap<String, TaskState>>,
    violations: Mutex<Vec<String>>,
}

impl FaultyStore {
    pub(super) fn new(at: usize, fault: Fault) -> Self {
        Self(Arc::new(Inner {
            memory: MemoryStore::new(),
            calls: AtomicUsize::new(0),
            disarmed: AtomicBool::new(false),
            at,
            fault,
            ended: Mutex::default(),
            violations: Mutex::default(),
        }))
    }

    pub(super) fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }

    /// From now on all goes well, and nothing is counted.
    pub(super) fn disarm(&self) {
        self.0.disarmed.store(true, Ordering::SeqCst);
    }

    /// Changes of tasks that had ended.
    pub(super) fn violations(&self) -> Vec<String> {
        self.0.violations.lock().unwrap().clone()
    }

    /// All that is stored.
    pub(super) async fn all(&self) -> Vec<Task> {
        let cx = CallContext::new(a2a_proto::Method::ListTasks);
        let request = ListTasksRequest {
            page_size: Some(100),
            include_artifacts: Some(true),
            ..Default::default()
        };
        self.0.memory.list(&cx, &request).await.unwrap().tasks
    }

    async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if self.0.disarmed.load(Ordering::SeqCst) {
            return call.await;
        }
        let index = self.0.calls.fetch_add(1, Ordering::SeqCst);
        // As one on the other side of a network would.
        tokio::task::yield_now().await;
        if index != self.0.at {
            let done = call.await;
            tokio::task::yield_now().await;
            return done;
        }
        let source = || "scripted".into();
        match self.0.fault {
            Fault::Fails => Err(StoreError::Backend { source: source() }),
            Fault::UnknownAndNot => Err(StoreError::Unknown { source: source() }),
            Fault::UnknownAndDone => {
                call.await?;
                Err(StoreError::Unknown { source: source() })
            }
            Fault::Hangs => std::future::pending().await,
            Fault::Panics => panic!("scripted"),
            Fault::IsSlow => {
                tokio::time::sleep(Duration::from_secs(10)).await;
                call.await
            }
            Fault::IsTooSlow => {
                let done = call.await;
                tokio::time::sleep(Duration::from_secs(45)).await;
                done
            }
        }
    }

    fn note(&self, task: &Task) {
        let mut ended = self.0.ended.lock().unwrap();
        if let Some(state) = ended.get(&task.id) {
            let text = format!("{} was {state:?} and became {:?}", task.id, task.state());
            self.0.violations.lock().unwrap().push(text);
        }
        if task.state().is_terminal() {
            ended.insert(task.id.clone(), task.state());
        }
    }
}

#[async_trait]
impl TaskStore for FaultyStore {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        self.call(async {
            let version = self.0.memory.create(cx, task).await?;
            self.note(task);
            Ok(version)
        })
        .await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        self.call(async {
            let version = self.0.memory.update(cx, write).await?;
            self.note(write.task);
            Ok(version)
        })
        .await
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        self.call(self.0.memory.get(cx, id)).await
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        self.call(self.0.memory.list(cx, request)).await
    }

    async fn settle(&self, _: &CallContext, _: &str, _: TaskVersion) -> Result<(), StoreError> {
        self.call(async { Ok(()) }).await
    }

    fn serve(&self, live: LiveTasks) {
        self.0.memory.serve(live);
    }
}

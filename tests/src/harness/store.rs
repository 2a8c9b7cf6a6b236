use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Task, TaskState};
use a2a_server::store::{LiveTasks, StoredTask, TaskVersion, TaskWrite};
use a2a_server::{CallContext, MemoryStore, StoreError, TaskStore};
use async_trait::async_trait;
use tokio::sync::{Notify, Semaphore, watch};

/// A store that waits, fails or lies where it is told to. It is not immediate.
#[derive(Clone)]
pub(crate) struct GatedStore(Arc<Inner>);

struct Inner {
    memory: MemoryStore,
    script: Mutex<VecDeque<(Point, Fault)>>,
    /// One permit for each call that has reached a gate.
    reached: Semaphore,
    open: Notify,
    log: Mutex<Vec<String>>,
    written: watch::Sender<Vec<TaskState>>,
}

/// Where a fault stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Create,
    Get,
    Settle,
    Update,
}

/// What happens there, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is written.
    Fail,
    /// Likewise, and the next read, which finds out what is stored, waits for [`GatedStore::open`].
    FailAndHoldRead,
    /// It is written, and then said to be unknown.
    FailAfter,
    /// Nothing is written, and it is said to be unknown.
    Unknown,
    /// Nothing is written, and it never returns.
    Hang,
    /// Nothing is written, and it panics.
    Panic,
    /// Waits for [`GatedStore::open`], then writes.
    WaitBefore,
    /// Writes, then waits for [`GatedStore::open`].
    WaitAfter,
    /// Nothing special: a placeholder to count calls with.
    Pass,
}

impl GatedStore {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            memory: MemoryStore::new(),
            script: Mutex::default(),
            reached: Semaphore::new(0),
            open: Notify::new(),
            log: Mutex::default(),
            written: watch::Sender::new(Vec::new()),
        }))
    }

    /// The next call at that point behaves so; several queue up.
    pub(crate) fn next(&self, point: Point, fault: Fault) {
        self.0.script.lock().unwrap().push_back((point, fault));
    }

    /// Waits until a call stands at a gate.
    pub(crate) async fn reached(&self) {
        self.0.reached.acquire().await.unwrap().forget();
    }

    /// Lets the call at the gate go on.
    pub(crate) fn open(&self) {
        self.0.open.notify_one();
    }

    /// What was called, in order.
    pub(crate) fn log(&self) -> Vec<String> {
        self.0.log.lock().unwrap().clone()
    }

    /// Waits until a task has been stored in that state.
    pub(crate) async fn wrote(&self, state: TaskState) {
        let mut written = self.0.written.subscribe();
        let wrote = written.wait_for(|states| states.contains(&state)).await;
        wrote.unwrap();
    }

    pub(crate) fn note(&self, line: impl Into<String>) {
        self.0.log.lock().unwrap().push(line.into());
    }

    /// What is stored, whoever asks.
    pub(crate) async fn stored(&self, id: &str) -> Task {
        let cx = CallContext::new(a2a_proto::Method::GetTask);
        let stored = self.0.memory.get(&cx, id).await.unwrap();
        Task::clone(&stored.expect("the task is stored").task)
    }

    async fn at<T>(
        &self,
        point: Point,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let fault = {
            let mut script = self.0.script.lock().unwrap();
            let index = script.iter().position(|(at, _)| *at == point);
            index
                .and_then(|index| script.remove(index))
                .map_or(Fault::Pass, |(_, fault)| fault)
        };
        match fault {
            Fault::Pass => call.await,
            Fault::Fail => Err(StoreError::Backend {
                source: "scripted".into(),
            }),
            Fault::FailAndHoldRead => {
                let mut script = self.0.script.lock().unwrap();
                script.push_front((Point::Get, Fault::WaitBefore));
                Err(StoreError::Backend {
                    source: "scripted".into(),
                })
            }
            Fault::Unknown => Err(StoreError::Unknown {
                source: "scripted".into(),
            }),
            Fault::FailAfter => {
                call.await?;
                Err(StoreError::Unknown {
                    source: "scripted".into(),
                })
            }
            Fault::Hang => {
                self.0.reached.add_permits(1);
                std::future::pending().await
            }
            Fault::Panic => panic!("scripted"),
            Fault::WaitBefore => {
                self.0.reached.add_permits(1);
                self.0.open.notified().await;
                call.await
            }
            Fault::WaitAfter => {
                let written = call.await;
                self.0.reached.add_permits(1);
                self.0.open.notified().await;
                written
            }
        }
    }
}

#[async_trait]
impl TaskStore for GatedStore {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        self.note(format!("create {}", task.state().as_str_name()));
        self.at(Point::Create, self.0.memory.create(cx, task)).await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        self.note(format!("update {}", write.task.state().as_str_name()));
        let state = write.task.state();
        let written = self
            .at(Point::Update, self.0.memory.update(cx, write))
            .await?;
        self.0.written.send_modify(|states| states.push(state));
        Ok(written)
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        self.at(Point::Get, self.0.memory.get(cx, id)).await
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        self.0.memory.list(cx, request).await
    }

    async fn settle(&self, _: &CallContext, _: &str, _: TaskVersion) -> Result<(), StoreError> {
        self.note("settle");
        self.at(Point::Settle, async { Ok(()) }).await
    }

    fn serve(&self, live: LiveTasks) {
        self.0.memory.serve(live);
    }
}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_proto::v1::{
    GetTaskRequest, ListTasksRequest, ListTasksResponse, Task, TaskState, TaskStatus,
};
use a2a_proto::{ErrorCode, Method};
use async_trait::async_trait;

use super::within;
use crate::store::{Abandoned, StoredTask, TaskVersion, TaskWrite};
use crate::{
    Agent, BoundaryPolicy, CallContext, MemoryStore, Principal, RequestHandler, StoreError,
    TaskStore, executor_fn,
};

/// A store that an earlier process has left so, and that can't be asked at first.
#[derive(Default)]
struct Left {
    memory: MemoryStore,
    names: Vec<&'static str>,
    failures: usize,
    asked: AtomicUsize,
}

fn owner() -> CallContext {
    CallContext::new(Method::GetTask).with_principal(Principal::named("owner"))
}

impl Left {
    async fn with(tasks: &[(&'static str, TaskState)]) -> Self {
        let left = Self::default();
        for (id, state) in tasks {
            let task = Task {
                status: Some(TaskStatus::new(*state)),
                ..Task::submitted(*id, "c")
            };
            left.memory.create(&owner(), &task).await.unwrap();
        }
        Self {
            names: tasks.iter().map(|(id, _)| *id).collect(),
            ..left
        }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    async fn state(&self, id: &str) -> TaskState {
        let stored = self.memory.get(&owner(), id).await.unwrap();
        stored.expect("the task is stored").task.state()
    }
}

#[async_trait]
impl TaskStore for Left {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        self.memory.create(cx, task).await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        self.memory.update(cx, write).await
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        self.memory.get(cx, id).await
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        self.memory.list(cx, request).await
    }

    async fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < self.failures {
            return Err(StoreError::Backend {
                source: "scripted".into(),
            });
        }
        let name = |id: &&str| Abandoned::new(owner(), *id);
        Ok(self.names.iter().map(name).collect())
    }
}

fn agent(store: &Arc<Left>, boundary: BoundaryPolicy) -> Agent {
    let executor = executor_fn(|_, out| async move { Ok(out.complete().await?) });
    let builder = Agent::builder(executor).store(Arc::clone(store));
    builder.boundary(boundary).build().unwrap()
}

fn get(id: &str) -> GetTaskRequest {
    GetTaskRequest {
        id: id.to_owned(),
        ..GetTaskRequest::default()
    }
}

#[tokio::test]
async fn calls_are_refused_until_what_was_left_is_failed_and_it_is_asked_once() {
    within(async {
        let mut left = Left::with(&[("a", TaskState::Submitted), ("b", TaskState::Working)]).await;
        left.failures = 1;
        let store = Arc::new(left);
        let agent = agent(&store, BoundaryPolicy::immediate());
        let refused = agent.get_task(owner(), get("a")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Internal);
        assert!(refused.is_retryable());
        assert_eq!(store.state("a").await, TaskState::Submitted);
        for id in ["a", "b"] {
            let task = agent.get_task(owner(), get(id)).await.unwrap().into_task();
            assert_eq!(task.state(), TaskState::Failed);
            assert_eq!(task.status_text(), "the agent was restarted");
        }
        assert_eq!(store.asked(), 2);
    })
    .await;
}

/// A store may name too much: only what is SUBMITTED or WORKING is failed.
#[tokio::test]
async fn what_has_ended_or_waits_or_is_gone_stays() {
    within(async {
        let states = [
            ("done", TaskState::Completed),
            ("input", TaskState::InputRequired),
            ("auth", TaskState::AuthRequired),
            ("running", TaskState::Working),
        ];
        let mut left = Left::with(&states).await;
        left.names.insert(0, "gone");
        let store = Arc::new(left);
        let agent = agent(&store, BoundaryPolicy::immediate());
        agent.get_task(owner(), get("done")).await.unwrap();
        for (id, state) in states.into_iter().take(3) {
            assert_eq!(store.state(id).await, state);
        }
        assert_eq!(store.state("running").await, TaskState::Failed);
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_is_bound_does_it_before_the_first_call() {
    within(async {
        let store = Arc::new(Left::with(&[("a", TaskState::Working)]).await);
        let agent = agent(&store, BoundaryPolicy::immediate());
        let server = agent.bind("127.0.0.1:0").await.unwrap();
        assert_eq!(store.state("a").await, TaskState::Failed);
        server.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn a_store_that_decides_is_not_asked() {
    within(async {
        let store = Arc::new(Left::with(&[("a", TaskState::Working)]).await);
        let policy = BoundaryPolicy::immediate().with_store_deciding();
        let agent = agent(&store, policy);
        let task = agent.get_task(owner(), get("a")).await.unwrap().into_task();
        assert_eq!((task.state(), store.asked()), (TaskState::Working, 0));
    })
    .await;
}

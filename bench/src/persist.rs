//! What a store is asked for under each persist policy, for one reply of a thousand chunks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse, Message, SendMessageRequest, Task};
use a2a_server::store::{StoredTask, TaskVersion, TaskWrite};
use a2a_server::{
    Agent, CallContext, MemoryStore, PersistPolicy, RequestHandler as _, StoreError, TaskStore,
    async_trait, executor_fn,
};
use prost::Message as _;

use crate::Result;

#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    events: AtomicUsize,
    tasks: AtomicUsize,
}

/// A store like one on the other side of a network: it counts what would cross it.
struct Counting {
    memory: MemoryStore,
    counts: Arc<Counts>,
}

impl Counting {
    fn note(&self, task: &Task, events: usize) {
        self.counts.calls.fetch_add(1, Ordering::Relaxed);
        self.counts.events.fetch_add(events, Ordering::Relaxed);
        self.counts
            .tasks
            .fetch_add(task.encoded_len(), Ordering::Relaxed);
    }
}

#[async_trait]
impl TaskStore for Counting {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        self.note(task, task.encoded_len());
        self.memory.create(cx, task).await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        let events = write.events.iter().map(|event| event.encoded_len());
        self.note(write.task, events.sum());
        // So that chunks gather as they do while a store is waited for.
        tokio::task::yield_now().await;
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
}

pub(crate) async fn print() -> Result<()> {
    println!("\na reply of 1,000 chunks, as a store sees it");
    println!(
        "{:<12} {:>8} {:>16} {:>16}",
        "policy", "calls", "events, bytes", "tasks, bytes"
    );
    for (name, policy) in [
        ("every event", PersistPolicy::EveryEvent),
        ("coalesced", PersistPolicy::coalesce()),
    ] {
        let counts = Arc::new(Counts::default());
        let store = Counting {
            memory: MemoryStore::new(),
            counts: Arc::clone(&counts),
        };
        let reply = executor_fn(|_, out| async move {
            let mut text = out.text();
            for _ in 0..1000 {
                text.push("token ").await?;
            }
            text.finish().await?;
            Ok(out.complete().await?)
        });
        let agent = Agent::builder(reply).store(store).persist(policy).build()?;
        let call = CallContext::new(a2a_proto::Method::SendMessage);
        let request = SendMessageRequest::from(Message::user("hi"));
        agent.send_message(call, request).await?;
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        println!(
            "{name:<12} {:>8} {:>16} {:>16}",
            count(&counts.calls),
            count(&counts.events),
            count(&counts.tasks)
        );
    }
    Ok(())
}

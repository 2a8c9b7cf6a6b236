//! The steps at a boundary: hold, save, hook, settle, free the slot, publish.

use std::sync::Arc;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::ErrorCode;
use a2a_proto::v1::{AgentExtension, Message, StreamResponse, Task, TaskState};
use a2a_server::{
    Agent, AgentBuilder, BoundaryHook, BoundaryPolicy, Busy, EventSink, ExecutionContext,
    Extension, Limits, PersistPolicy, executor_fn,
};
use async_trait::async_trait;
use tokio::sync::{Notify, Semaphore, mpsc};

use crate::harness::*;

struct Flush(GatedStore);

#[async_trait]
impl BoundaryHook for Flush {
    async fn before_settle(&self, task: &Task) {
        self.0.note(format!("flush {}", task.state().as_str_name()));
    }
}

struct Finish(GatedStore);

#[async_trait]
impl Extension for Finish {
    fn declaration(&self) -> AgentExtension {
        AgentExtension {
            uri: "urn:test:finish".into(),
            ..Default::default()
        }
    }

    async fn finish(&self, _: &ExecutionContext) {
        self.0.note("finish");
    }
}

/// An agent as kagent runs it: one execution at a time, boundary events held.
fn held(store: &GatedStore, builder: AgentBuilder) -> AgentBuilder {
    builder
        .store(store.clone())
        .persist(PersistPolicy::EveryEvent)
        .boundary(BoundaryPolicy::held().with_hook(Arc::new(Flush(store.clone()))))
        .busy(Busy::Unsupported)
        .limits(
            Limits::default()
                .executions(1)
                .grace(Duration::from_millis(50)),
        )
        .extension(Finish(store.clone()))
}

for_each_binding! {
    async fn the_steps_come_in_order_and_the_event_last(via: Via) {
        let store = GatedStore::new();
        let log = store.clone();
        let peer = via
            .serve(held(
                &store,
                Agent::builder(executor_fn(move |_, out: EventSink| {
                    let log = log.clone();
                    async move {
                        out.reply("done").await?;
                        log.note("clean-up");
                        Ok(())
                    }
                })),
            ))
            .await;
        store.next(Point::Settle, Fault::WaitBefore);
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.event().await;
        store.reached().await;
        // Saved and not settled: nobody sees it yet.
        assert_state(&store.stored(&id).await, TaskState::Completed);
        assert_state(&peer.get(&id).await.unwrap(), TaskState::Submitted);
        store.open();
        events.until(TaskState::Completed).await;
        assert_eq!(
            store.log(),
            [
                "create TASK_STATE_SUBMITTED",
                "update TASK_STATE_SUBMITTED",
                "clean-up",
                "finish",
                "update TASK_STATE_COMPLETED",
                "flush TASK_STATE_COMPLETED",
                "settle",
            ]
        );
    }
}

/// On two threads, so that the caller can be quicker than the end of the execution.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_saw_completion_can_send_at_once() {
    within(async {
        let store = GatedStore::new();
        let echo = executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            Ok(out.reply(cx.message().text()).await?)
        });
        let peer = Via::Direct.serve(held(&store, Agent::builder(echo))).await;
        for _ in 0..1_000 {
            peer.stream(ask("one")).await.unwrap().fold().await.unwrap();
            assert_state(&peer.run(ask("two")).await.unwrap(), TaskState::Completed);
        }
    })
    .await;
}

for_each_binding! {
    async fn one_execution_at_a_time(via: Via) {
        let store = GatedStore::new();
        let go = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&go);
        let peer = via
            .serve(held(
                &store,
                Agent::builder(executor_fn(move |_, out: EventSink| {
                    let gate = Arc::clone(&gate);
                    async move {
                        gate.acquire().await?.forget();
                        Ok(out.reply("done").await?)
                    }
                })),
            ))
            .await;
        let mut events = peer.stream(ask("one")).await.unwrap();
        events.snapshot().await;
        let error = peer.run(ask("two")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnsupportedOperation);
        assert_eq!(error.message(), "session already has active work");
        go.add_permits(1);
        events.until(TaskState::Completed).await;
    }
}

for_each_binding! {
    async fn a_held_auth_required_closes_the_sink(via: Via) {
        let store = GatedStore::new();
        let peer = via
            .serve(held(
                &store,
                Agent::builder(executor_fn(
                    |cx: ExecutionContext, out: EventSink| async move {
                        if cx.task().is_some() {
                            return Ok(out.reply("in").await?);
                        }
                        out.auth_required(Message::agent("log in")).await?;
                        assert_eq!(cx.next_message().await, None);
                        let refused = out.working("more").await.unwrap_err();
                        assert_eq!(refused.code(), ErrorCode::UnsupportedOperation);
                        Ok(())
                    },
                )),
            ))
            .await;
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&task, TaskState::AuthRequired);
        assert_state(
            &peer.run(answer(&task.id, "done")).await.unwrap(),
            TaskState::Completed,
        );
    }
}

/// Holds an event, then waits for the cancel.
fn holding(
    hold: fn(EventSink) -> futures::future::BoxFuture<'static, Result<(), A2aError>>,
    told: &Arc<Notify>,
) -> AgentBuilder {
    let told = Arc::clone(told);
    Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
        let told = Arc::clone(&told);
        async move {
            hold(out).await?;
            told.notify_one();
            cx.cancelled().await;
            Ok(())
        }
    }))
}

for_each_binding! {
    async fn a_held_terminal_event_wins_over_a_later_cancel(via: Via) {
        let (store, told) = (GatedStore::new(), Arc::new(Notify::new()));
        let builder = holding(
            |out| Box::pin(async move { out.reply("done").await }),
            &told,
        );
        let peer = via.serve(held(&store, builder)).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        told.notified().await;
        assert_state(&peer.cancel(&id).await.unwrap(), TaskState::Completed);
        events.until(TaskState::Completed).await;
    }
}

for_each_binding! {
    async fn a_held_pause_gives_way_to_a_cancel(via: Via) {
        let (store, told) = (GatedStore::new(), Arc::new(Notify::new()));
        let builder = holding(
            |out| Box::pin(async move { out.input_required(Message::agent("which?")).await }),
            &told,
        );
        let peer = via.serve(held(&store, builder)).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        told.notified().await;
        assert_state(&peer.cancel(&id).await.unwrap(), TaskState::Canceled);
        events.until(TaskState::Canceled).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_settle_that_fails_is_tried_again() {
    within(async {
        let store = GatedStore::new();
        let echo = executor_fn(|_, out: EventSink| async move { Ok(out.reply("done").await?) });
        let peer = Via::Direct.serve(held(&store, Agent::builder(echo))).await;
        store.next(Point::Settle, Fault::Fail);
        store.next(Point::Settle, Fault::Unknown);
        store.next(Point::Settle, Fault::Panic);
        assert_state(&peer.run(ask("go")).await.unwrap(), TaskState::Completed);
        assert_eq!(
            store.log().iter().filter(|line| *line == "settle").count(),
            4
        );
    })
    .await;
}

/// Nothing is published, callers are told, the slot is free, and the next request reads the store.
#[tokio::test(start_paused = true)]
async fn a_settle_that_fails_for_good() {
    within(async {
        let store = GatedStore::new();
        let echo = executor_fn(|_, out: EventSink| async move { Ok(out.reply("done").await?) });
        let peer = Via::Direct.serve(held(&store, Agent::builder(echo))).await;
        store.next(Point::Settle, Fault::Hang);
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        store.reached().await;
        // The slot is taken as long as it is tried.
        assert_eq!(
            peer.run(ask("more")).await.unwrap_err().code(),
            ErrorCode::UnsupportedOperation
        );
        let error = events.failure().await;
        assert_eq!(error.code(), ErrorCode::Internal);
        assert_state(&peer.get(&id).await.unwrap(), TaskState::Completed);
        assert_state(&peer.run(ask("more")).await.unwrap(), TaskState::Completed);
    })
    .await;
}

struct Ends(mpsc::Sender<String>);

#[async_trait]
impl BoundaryHook for Ends {
    async fn before_settle(&self, _: &Task) {}

    fn execution_ended(&self, cx: &ExecutionContext) {
        self.0.try_send(cx.message().text()).unwrap();
    }
}

for_each_binding! {
    async fn the_hook_is_told_of_every_end_with_or_without_a_boundary(via: Via) {
        let store = GatedStore::new();
        let (ends, mut ended) = mpsc::channel(8);
        let executor = executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            assert_ne!(cx.message().text(), "panic", "scripted");
            Ok(out.reply("done").await?)
        });
        let agent = Agent::builder(executor)
            .store(store.clone())
            .boundary(BoundaryPolicy::held().with_hook(Arc::new(Ends(ends))));
        let peer = via.serve(agent).await;
        for text in ["reply", "panic"] {
            peer.run(ask(text)).await.unwrap();
            assert_eq!(ended.recv().await.unwrap(), text);
        }
        store.next(Point::Update, Fault::Fail);
        peer.run(ask("lost")).await.unwrap_err();
        assert_eq!(ended.recv().await.unwrap(), "lost");
    }
}

struct Panics;

#[async_trait]
impl Extension for Panics {
    fn declaration(&self) -> AgentExtension {
        AgentExtension {
            uri: "urn:test:panics".into(),
            ..Default::default()
        }
    }

    fn admit(&self, cx: &ExecutionContext) -> Result<(), A2aError> {
        assert_ne!(cx.message().text(), "panic in admit", "scripted");
        Ok(())
    }

    fn begin(&self, _: &mut ExecutionContext) {
        panic!("scripted");
    }

    fn outgoing(&self, _: &ExecutionContext, event: &mut StreamResponse) {
        event.payload = None;
        panic!("scripted");
    }

    async fn finish(&self, _: &ExecutionContext) {
        panic!("scripted");
    }
}

for_each_binding! {
    async fn a_panic_in_an_extension_skips_its_step(via: Via) {
        let echo = executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            Ok(out.reply(cx.message().text()).await?)
        });
        let peer = via.serve(Agent::builder(echo).extension(Panics)).await;
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&task, TaskState::Completed);
        assert_eq!(task.artifact_text(), "go");
        let error = peer.run(ask("panic in admit")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal);
    }
}

//! A store that fails, hangs, panics or does not know.

use std::sync::Arc;
use std::time::Duration;

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Artifact, Message, Part, TaskArtifactUpdateEvent, TaskState};
use a2a_server::{
    Agent, AgentBuilder, EventSink, ExecutionContext, Limits, PersistPolicy, executor_fn,
};
use tokio::sync::Semaphore;

use crate::harness::*;

fn over(store: &GatedStore, builder: AgentBuilder) -> AgentBuilder {
    builder
        .store(store.clone())
        .persist(PersistPolicy::EveryEvent)
        .limits(Limits::default().store_timeout(Duration::from_millis(50)))
}

/// An answer, and a pause when asked for one.
fn agent() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            if cx.message().text() == "pause" {
                return Ok(out.input_required(Message::agent("which?")).await?);
            }
            out.working("on it").await?;
            Ok(out.reply("done").await?)
        },
    ))
}

for_each_binding! {
    /// Whatever fails and wherever: the call is told, nothing hangs, no task stays running, and no state is shown that the
    /// store does not have.
    async fn a_fault_at_each_call(via: Via) {
        for fault in [
            Fault::Fail,
            Fault::FailAfter,
            Fault::Unknown,
            Fault::Hang,
            Fault::Panic,
        ] {
            for skip in 0..4 {
                for streaming in [false, true] {
                    let store = GatedStore::new();
                    let peer = via.serve(over(&store, agent())).await;
                    // create, WORKING, artifact, COMPLETED
                    for _ in 1..skip {
                        store.next(Point::Update, Fault::Pass);
                    }
                    store.next(
                        if skip == 0 {
                            Point::Create
                        } else {
                            Point::Update
                        },
                        fault,
                    );
                    let error = if streaming {
                        match peer.stream(ask("go")).await {
                            Ok(events) => events.failure().await,
                            Err(error) => error,
                        }
                    } else {
                        peer.run(ask("go")).await.unwrap_err()
                    };
                    assert_eq!(error.code(), ErrorCode::Internal, "{fault:?} at {skip}");
                    assert!(error.is_retryable(), "{fault:?} at {skip}");
                    settled(&peer, &store, fault, skip).await;
                }
            }
        }
    }
}

/// Waits until the task, if there is one, has been reconciled, and looks at what became of it.
async fn settled(peer: &Peer, store: &GatedStore, fault: Fault, skip: usize) {
    match (fault, skip) {
        (Fault::Fail | Fault::Unknown | Fault::Hang | Fault::Panic, 0) => {}
        // It is there already.
        (Fault::FailAfter, 3) => {}
        _ => store.wrote(TaskState::Failed).await,
    }
    let tasks = peer.list(Default::default()).await.unwrap().tasks;
    match (fault, skip) {
        // The create did not arrive: there is no task.
        (Fault::Fail | Fault::Unknown | Fault::Hang | Fault::Panic, 0) => assert!(tasks.is_empty()),
        // The last write did arrive: it stands.
        (Fault::FailAfter, 3) => assert_state(&tasks[0], TaskState::Completed),
        _ => {
            assert_state(&tasks[0], TaskState::Failed);
            assert_eq!(status_text(&tasks[0]), "the task store failed");
        }
    }
}

for_each_binding! {
    async fn a_pause_that_did_arrive_stands_and_can_be_answered(via: Via) {
        let store = GatedStore::new();
        let peer = via.serve(over(&store, agent())).await;
        store.next(Point::Update, Fault::FailAfter);
        let error = peer.run(ask("pause")).await.unwrap_err();
        assert!(error.is_retryable());
        let id = peer.list(Default::default()).await.unwrap().tasks[0]
            .id
            .clone();
        let done = loop {
            match peer.run(answer(&id, "this")).await {
                Ok(task) => break task,
                // Still being found out.
                Err(error) => assert_eq!(error.code(), ErrorCode::Unavailable),
            }
            tokio::task::yield_now().await;
        };
        assert_state(&done, TaskState::Completed);
    }
}

for_each_binding! {
    async fn while_a_task_is_in_doubt_it_can_be_read_and_not_changed(via: Via) {
        let store = GatedStore::new();
        let peer = via.serve(over(&store, agent())).await;
        let paused = peer.run(ask("pause")).await.unwrap();
        // The read of the reconciliation stands at the gate.
        store.next(Point::Update, Fault::FailAndHoldRead);
        peer.run(answer(&paused.id, "this")).await.unwrap_err();
        store.reached().await;
        for error in [
            peer.run(answer(&paused.id, "again")).await.unwrap_err(),
            peer.cancel(&paused.id).await.unwrap_err(),
        ] {
            assert_eq!(error.code(), ErrorCode::Unavailable);
            assert!(error.is_retryable());
        }
        assert_state(
            &peer.get(&paused.id).await.unwrap(),
            TaskState::InputRequired,
        );
        store.open();
    }
}

for_each_binding! {
    async fn reads_do_not_wait_for_a_save_and_do_not_see_it(via: Via) {
        let store = GatedStore::new();
        let builder = over(&store, agent()).limits(Limits::default());
        let peer = via.serve(builder).await;
        store.next(Point::Update, Fault::Pass);
        store.next(Point::Update, Fault::WaitAfter);
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        store.reached().await;
        // The artifact is stored and not published.
        assert_eq!(store.stored(&id).await.artifacts.len(), 1);
        assert!(peer.get(&id).await.unwrap().artifacts.is_empty());
        store.open();
        events.until(TaskState::Completed).await;
    }
}

for_each_binding! {
    /// Chunks are seen at once and stored later; any other event takes them along.
    async fn coalesced_chunks_are_published_at_once_and_flushed_by_the_next_state(via: Via) {
        let store = GatedStore::new();
        let go = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&go);
        let peer = via
            .serve(
                Agent::builder(executor_fn(move |_, out: EventSink| {
                    let gate = Arc::clone(&gate);
                    async move {
                        for index in 0..1_000 {
                            let artifact = Some(Artifact::new("a", [Part::text("token ")]));
                            out.send(TaskArtifactUpdateEvent {
                                artifact,
                                append: index > 0,
                                ..Default::default()
                            })
                            .await?;
                        }
                        gate.acquire().await?.forget();
                        Ok(out.complete().await?)
                    }
                }))
                .store(store.clone())
                .persist(PersistPolicy::coalesce()),
            )
            .await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let mut folded = events.snapshot().await;
        for _ in 0..1_000 {
            folded.apply(&events.event().await).unwrap();
        }
        assert_eq!(
            peer.get(&folded.id).await.unwrap().artifacts[0].parts.len(),
            1_000
        );
        go.add_permits(1);
        while let Some(event) = events.next().await {
            folded.apply(&event.unwrap()).unwrap();
        }
        assert_eq!(folded, store.stored(&folded.id).await);
        let updates = store
            .log()
            .iter()
            .filter(|line| line.starts_with("update"))
            .count();
        assert!(updates < 500, "{updates} writes for 1,000 chunks");
    }
}

for_each_binding! {
    async fn coalesced_chunks_are_stored_when_their_time_has_come(via: Via) {
        let store = GatedStore::new();
        let peer = via
            .serve(
                Agent::builder(executor_fn(|_, out: EventSink| async move {
                    let mut text = out.text();
                    text.push("a").await?;
                    text.push("b").await?;
                    std::future::pending().await
                }))
                .store(store.clone())
                .persist(PersistPolicy::coalesce()),
            )
            .await;
        // The first chunk begins the artifact and is stored at once.
        store.next(Point::Update, Fault::Pass);
        store.next(Point::Update, Fault::WaitAfter);
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.event().await;
        events.event().await;
        store.reached().await;
        assert_eq!(store.stored(&id).await.artifact_text(), "ab");
        store.open();
    }
}

for_each_binding! {
    async fn a_failed_write_of_chunks_stops_the_agent(via: Via) {
        let store = GatedStore::new();
        let peer = via
            .serve(
                over(
                    &store,
                    Agent::builder(executor_fn(|_, out: EventSink| async move {
                        let mut text = out.text();
                        loop {
                            text.push("x").await?;
                            tokio::task::yield_now().await;
                        }
                    })),
                )
                .persist(PersistPolicy::coalesce()),
            )
            .await;
        store.next(Point::Update, Fault::Pass);
        store.next(Point::Update, Fault::Fail);
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        let error = events.failure().await;
        assert_eq!(error.code(), ErrorCode::Internal);
        assert!(error.is_retryable());
        store.wrote(TaskState::Failed).await;
        assert_state(&store.stored(&id).await, TaskState::Failed);
    }
}

//! A `send` that its caller drops half-way.

use std::sync::Arc;
use std::time::Duration;

use a2a_proto::v1::{Artifact, Part, TaskState};
use a2a_server::{Agent, EventSink, PersistPolicy, executor_fn};
use tokio::sync::Notify;

use crate::harness::*;

/// Drops a send while its store stands at the gate, then ends the task; what is stored, read and streamed must agree.
async fn cut(via: Via, fault: Fault, by_select: bool) {
    let store = GatedStore::new();
    let dropped = Arc::new(Notify::new());
    let (gate, cut) = (store.clone(), Arc::clone(&dropped));
    let peer = via
        .serve(
            Agent::builder(executor_fn(move |_, out: EventSink| {
                let (gate, cut) = (gate.clone(), Arc::clone(&cut));
                async move {
                    out.working("about to be cut").await?;
                    gate.next(Point::Update, fault);
                    let send = out.artifact(Artifact::new("a", [Part::text("cut")]));
                    if by_select {
                        tokio::select! {
                            _ = send => panic!("the store is closed"),
                            () = gate.reached() => {}
                        }
                    } else {
                        let timed = tokio::time::timeout(Duration::from_millis(10), send).await;
                        assert!(timed.is_err(), "the store is closed");
                    }
                    cut.notify_one();
                    Ok(out.complete().await?)
                }
            }))
            .store(store.clone())
            .persist(PersistPolicy::EveryEvent),
        )
        .await;
    let mut events = peer.stream(ask("go")).await.unwrap();
    let mut folded = events.snapshot().await;
    let other = peer.subscribe(&folded.id).await.unwrap();
    dropped.notified().await;
    // While the write is under way, readers see the state before it.
    assert!(peer.get(&folded.id).await.unwrap().artifacts.is_empty());
    store.open();
    while let Some(event) = events.next().await {
        folded.apply(&event.unwrap()).unwrap();
    }
    assert_state(&folded, TaskState::Completed);
    assert_eq!(folded.artifact_text(), "cut");
    assert_eq!(folded, peer.get(&folded.id).await.unwrap());
    assert_eq!(folded, store.stored(&folded.id).await);
    assert_eq!(folded, other.fold().await.unwrap());
}

for_each_binding! {
    async fn a_send_cut_by_select_before_the_store_commits(via: Via) {
        cut(via, Fault::WaitBefore, true).await;
    }
}

for_each_binding! {
    async fn a_send_cut_by_select_after_the_store_commits(via: Via) {
        cut(via, Fault::WaitAfter, true).await;
    }
}

for_each_binding! {
    async fn a_send_cut_by_timeout_before_the_store_commits(via: Via) {
        cut(via, Fault::WaitBefore, false).await;
    }
}

for_each_binding! {
    async fn a_send_cut_by_timeout_after_the_store_commits(via: Via) {
        cut(via, Fault::WaitAfter, false).await;
    }
}

//! How a server ends.

use std::sync::Arc;
use std::time::Duration;

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, TaskState};
use a2a_server::{
    Agent, CancelReason, EventSink, ExecutionContext, Limits, PersistPolicy, executor_fn,
};
use tokio::sync::Notify;

use crate::harness::*;

for_each_binding! {
    async fn shutdown_with_open_streams_a_parked_task_and_a_pending_commit(via: Via) {
        let store = GatedStore::new();
        let working = Arc::new(Notify::new());
        let told = Arc::clone(&working);
        let executor = executor_fn(move |cx: ExecutionContext, out: EventSink| {
            let told = Arc::clone(&told);
            async move {
                match cx.message().text().as_str() {
                    "park" => out.input_required(Message::agent("which?")).await?,
                    "stubborn" => {
                        out.working("and working").await?;
                        std::future::pending().await
                    }
                    "polite" => {
                        out.working("until told").await?;
                        assert_eq!(cx.cancelled().await, CancelReason::Shutdown);
                        out.reply("just in time").await?;
                    }
                    _ => {
                        told.notify_one();
                        out.reply("being stored").await?;
                    }
                }
                Ok(())
            }
        });
        let builder = Agent::builder(executor)
            .store(store.clone())
            .persist(PersistPolicy::EveryEvent)
            .limits(Limits::default().grace(Duration::from_millis(50)));
        let peer = via.serve(builder).await;

        let parked = peer.run(ask("park")).await.unwrap();
        let mut parked_stream = peer.subscribe(&parked.id).await.unwrap();
        parked_stream.snapshot().await;
        let mut stubborn = peer.stream(ask("stubborn")).await.unwrap();
        let stubborn_id = stubborn.snapshot().await.id;
        stubborn.until(TaskState::Working).await;
        let mut polite = peer.stream(ask("polite")).await.unwrap();
        let polite_id = polite.snapshot().await.id;
        polite.until(TaskState::Working).await;
        store.next(Point::Update, Fault::WaitBefore);
        let mut pending = peer.stream(ask("pending")).await.unwrap();
        let pending_id = pending.snapshot().await.id;
        store.reached().await;

        let shutdown = tokio::spawn({
            let peer = peer.clone();
            async move { peer.shutdown().await }
        });
        stubborn.until(TaskState::Failed).await;
        if via == Via::Direct {
            // A socket takes no new connection any more.
            let refused = peer.run(ask("late")).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::Unavailable);
            assert!(refused.is_retryable());
        }
        assert!(!shutdown.is_finished(), "a commit is under way");
        store.open();
        shutdown.await.unwrap();

        assert_state(&store.stored(&parked.id).await, TaskState::InputRequired);
        assert_state(&store.stored(&stubborn_id).await, TaskState::Failed);
        assert_eq!(
            status_text(&store.stored(&stubborn_id).await),
            "agent shut down"
        );
        assert_state(&store.stored(&polite_id).await, TaskState::Completed);
        let pending_task = store.stored(&pending_id).await;
        assert!(pending_task.state().is_terminal());
        assert_eq!(
            pending_task.artifacts.len(),
            1,
            "what was being stored is stored"
        );
        assert!(parked_stream.failure().await.is_retryable());
    }
}

/// In process: over a socket nothing tells that the message has arrived.
#[tokio::test]
async fn a_waiting_message_is_told_of_the_shutdown() {
    within(async {
        let executor = executor_fn(|_, out: EventSink| async move {
            out.input_required(Message::agent("which?")).await?;
            std::future::pending().await
        });
        let limits = Limits::default().grace(Duration::from_millis(50));
        let peer = Via::Direct
            .serve(Agent::builder(executor).limits(limits))
            .await;
        let task = peer.run(ask("go")).await.unwrap();
        let waiting = peer.run(answer(&task.id, "this"));
        let (answered, ()) = tokio::join!(waiting, peer.shutdown());
        assert_eq!(answered.unwrap_err().code(), ErrorCode::Unavailable);
        assert_state(&peer.get(&task.id).await.unwrap(), TaskState::InputRequired);
    })
    .await;
}

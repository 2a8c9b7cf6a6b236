//! Rule 8: one terminal state wins, decided by the writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, TaskState};
use a2a_server::{
    Agent, AgentError, AgentExecutor, CancelReason, EventSink, ExecutionContext, Limits,
    executor_fn,
};
use tokio::sync::Notify;

use crate::harness::*;

fn short_grace() -> Limits {
    Limits::default().grace(Duration::from_millis(20))
}

for_each_binding_and_store! {
    async fn can_01_an_executor_that_ignores_cancel_is_dropped(via: Via) {
        let dropped = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&dropped);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let count = Dropped(Arc::clone(&count));
            async move {
                let _count = count;
                out.working("and working").await?;
                std::future::pending().await
            }
        })).limits(short_grace())).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        let task = peer.cancel(&id).await.unwrap();
        assert_state(&task, TaskState::Canceled);
        events.until(TaskState::Canceled).await;
        assert!(events.next().await.is_none());
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert_state(&peer.get(&id).await.unwrap(), TaskState::Canceled);
        // CAN-04: canceling again returns it.
        assert_state(&peer.cancel(&id).await.unwrap(), TaskState::Canceled);
    }

    async fn an_executor_may_end_the_task_itself(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            out.working("until canceled").await?;
            let reason = cx.cancelled().await;
            assert!(matches!(reason, CancelReason::Request { .. }));
            assert_eq!(cx.next_message().await, None);
            Ok(out.reply("what I have").await?)
        }))).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        let task = peer.cancel(&id).await.unwrap();
        assert_state(&task, TaskState::Completed);
        assert_eq!(task.artifact_text(), "what I have");
        let error = peer.cancel(&id).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::TaskNotCancelable);
    }

    async fn a_return_after_cancel_is_canceled(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            out.working("half a result").await?;
            cx.cancelled().await;
            match cx.message().text().as_str() {
                "ok" => Ok(()),
                "error" => Err(AgentError::from("interrupted")),
                _ => panic!("interrupted"),
            }
        }))).await;
        for text in ["ok", "error", "panic"] {
            let mut events = peer.stream(ask(text)).await.unwrap();
            let id = events.snapshot().await.id;
            events.until(TaskState::Working).await;
            assert_state(&peer.cancel(&id).await.unwrap(), TaskState::Canceled);
        }
    }

    async fn an_executor_that_panics_when_it_is_dropped_is_canceled_all_the_same(via: Via) {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("scripted");
            }
        }
        let peer = via
            .serve(
                Agent::builder(executor_fn(|_, out: EventSink| async move {
                    let _panics = Panics;
                    out.working("and working").await?;
                    std::future::pending().await
                }))
                .limits(short_grace()),
            )
            .await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        assert_state(&peer.cancel(&id).await.unwrap(), TaskState::Canceled);
    }

    async fn a_pause_behind_a_cancel_gives_way_to_it(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            out.working("until canceled").await?;
            cx.cancelled().await;
            Ok(out.input_required(Message::agent("are you sure?")).await?)
        }))).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        assert_state(&peer.cancel(&id).await.unwrap(), TaskState::Canceled);
        assert_state(&peer.get(&id).await.unwrap(), TaskState::Canceled);
    }

    async fn can_05_a_waiting_task_is_canceled_and_takes_no_answer(via: Via) {
        let peer = via.serve(Agent::builder(Asks::default())).await;
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&task, TaskState::InputRequired);
        let mut events = peer.subscribe(&task.id).await.unwrap();
        assert_state(&events.snapshot().await, TaskState::InputRequired);
        assert_state(&peer.cancel(&task.id).await.unwrap(), TaskState::Canceled);
        events.until(TaskState::Canceled).await;
        let error = peer.run(answer(&task.id, "too late")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnsupportedOperation);
    }

    async fn an_answer_while_the_cancel_hook_hangs_is_refused(via: Via) {
        let asks = Asks { hangs: true, ..Asks::default() };
        let (entered, go) = (Arc::clone(&asks.entered), Arc::clone(&asks.go));
        let peer = via.serve(Agent::builder(asks)).await;
        let task = peer.run(ask("go")).await.unwrap();
        let canceling = tokio::spawn({
            let (peer, id) = (peer.clone(), task.id.clone());
            async move { peer.cancel(&id).await }
        });
        entered.notified().await;
        let error = peer.run(answer(&task.id, "in between")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnsupportedOperation);
        assert_state(&peer.get(&task.id).await.unwrap(), TaskState::InputRequired);
        go.notify_one();
        assert_state(&canceling.await.unwrap().unwrap(), TaskState::Canceled);
    }

    async fn can_03_and_02_what_can_not_be_canceled(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            Ok(out.reject("not for me").await?)
        }))).await;
        assert_eq!(peer.cancel("nope").await.unwrap_err().code(), ErrorCode::TaskNotFound);
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&task, TaskState::Rejected);
        assert_eq!(peer.cancel(&task.id).await.unwrap_err().code(), ErrorCode::TaskNotCancelable);
    }
}

/// The hook has 5 seconds.
#[tokio::test(start_paused = true)]
async fn a_cancel_hook_that_never_returns_is_given_up() {
    within(async {
        let asks = Asks {
            hangs: true,
            ..Asks::default()
        };
        let peer = Via::Direct.serve(Agent::builder(asks)).await;
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&peer.cancel(&task.id).await.unwrap(), TaskState::Canceled);
    })
    .await;
}

/// Asks, and has a cancel hook that can hang.
#[derive(Default)]
struct Asks {
    hangs: bool,
    entered: Arc<Notify>,
    go: Arc<Notify>,
}

impl AgentExecutor for Asks {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        if cx.task().is_none() {
            return Ok(out.input_required(Message::agent("which one?")).await?);
        }
        Ok(out.reply(cx.message().text()).await?)
    }

    async fn cancel(&self, cx: ExecutionContext) -> Result<(), AgentError> {
        assert!(matches!(
            cx.cancel_reason(),
            Some(CancelReason::Request { .. })
        ));
        assert_eq!(cx.message().text(), "go");
        if self.hangs {
            self.entered.notify_one();
            self.go.notified().await;
        }
        Err(AgentError::from("the hook's error is only logged"))
    }
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

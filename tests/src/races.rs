//! What happens when two things happen at once.

use std::sync::Arc;

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, TaskState};
use a2a_server::{Agent, AgentBuilder, EventSink, ExecutionContext, executor_fn};
use tokio::sync::Notify;

use crate::harness::*;

/// Asks once, then repeats the answer.
fn asks() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            match cx.task() {
                None => out.input_required(Message::agent("which?")).await?,
                Some(_) => out.reply(cx.message().text()).await?,
            }
            Ok(())
        },
    ))
}

for_each_binding_and_store! {
    async fn can_07_cancel_races_complete(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            out.working("on it").await?;
            let turns: usize = cx.message().text().parse()?;
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            Ok(out.reply("done").await?)
        }))).await;
        for round in 0..ROUNDS {
            let mut events = peer.stream(ask(&(round % 40).to_string())).await.unwrap();
            let id = events.snapshot().await.id;
            let canceled = peer.cancel(&id).await;
            let mut last = None;
            while let Some(event) = events.next().await {
                let event = event.unwrap();
                assert!(last.is_none_or(|state: TaskState| !state.is_terminal()), "an event behind the end");
                last = event.state().or(last);
            }
            let stored = peer.get(&id).await.unwrap();
            assert_eq!(last, Some(stored.state()));
            match canceled {
                Ok(task) => assert_eq!(task.state(), stored.state()),
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::TaskNotCancelable);
                    assert_state(&stored, TaskState::Completed);
                }
            }
        }
    }

    async fn of_two_answers_to_one_pause_one_wins(via: Via) {
        let peer = via.serve(asks()).await;
        for _ in 0..200 {
            let task = peer.run(ask("go")).await.unwrap();
            let (one, two) = tokio::join!(
                peer.run(answer(&task.id, "one")),
                peer.run(answer(&task.id, "two")),
            );
            let (won, lost) = match (one, two) {
                (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
                other => panic!("not one of two: {other:?}"),
            };
            assert_eq!(lost.code(), ErrorCode::UnsupportedOperation);
            assert_state(&won, TaskState::Completed);
            let answers = won.history.iter().filter(|message| ["one", "two"].contains(&message.text().as_str()));
            assert_eq!(answers.count(), 1);
        }
    }

    async fn an_answer_in_the_instant_of_the_pause_is_taken(via: Via) {
        // The executor is not done when the pause is seen; the answer waits for it.
        let go = Arc::new(Notify::new());
        let gate = Arc::clone(&go);
        let peer = via.serve(Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
            let gate = Arc::clone(&gate);
            async move {
                match cx.task() {
                    None => {
                        out.input_required(Message::agent("which?")).await?;
                        gate.notified().await;
                    }
                    Some(_) => out.reply(cx.message().text()).await?,
                }
                Ok(())
            }
        }))).await;
        for _ in 0..50 {
            let mut events = peer.stream(ask("go")).await.unwrap();
            let id = events.snapshot().await.id;
            events.until(TaskState::InputRequired).await;
            let answered = tokio::spawn({
                let (peer, answer) = (peer.clone(), answer(&id, "this"));
                async move { peer.run(answer).await }
            });
            tokio::task::yield_now().await;
            go.notify_one();
            assert_eq!(answered.await.unwrap().unwrap().artifact_text(), "this");
        }
    }

    async fn join_leave_and_answer_race(via: Via) {
        let peer = via.serve(asks()).await;
        for round in 0..ROUNDS {
            let task = peer.run(ask("go")).await.unwrap();
            let leaving = async {
                let mut events = peer.subscribe(&task.id).await?;
                events.snapshot().await;
                Ok::<_, a2a_proto::A2aError>(())
            };
            let staying = async { peer.subscribe(&task.id).await?.fold().await };
            let answering = async {
                for _ in 0..round % 5 {
                    tokio::task::yield_now().await;
                }
                peer.run(answer(&task.id, "this")).await
            };
            let (left, stayed, answered) = tokio::join!(leaving, staying, answering);
            let answered = answered.unwrap();
            assert_state(&answered, TaskState::Completed);
            for error in [left.err(), stayed.as_ref().err().cloned()].into_iter().flatten() {
                // Joined when all was over.
                assert_eq!(error.code(), ErrorCode::UnsupportedOperation);
            }
            if let Ok(folded) = stayed {
                assert_eq!((folded.status, folded.artifacts), (answered.status, answered.artifacts));
            }
        }
    }
}

const ROUNDS: usize = 1_000;

/// An executor that never returns from its pause is dropped after the grace; its answer waits so long.
#[tokio::test(start_paused = true)]
async fn an_answer_waits_for_the_grace_and_no_longer() {
    within(async {
        let peer = Via::Direct
            .serve(Agent::builder(executor_fn(
                |cx: ExecutionContext, out: EventSink| async move {
                    match cx.task() {
                        None => {
                            out.input_required(Message::agent("which?")).await?;
                            std::future::pending().await
                        }
                        Some(_) => Ok(out.reply("that").await?),
                    }
                },
            )))
            .await;
        let task = peer.run(ask("go")).await.unwrap();
        let done = peer.run(answer(&task.id, "this")).await.unwrap();
        assert_state(&done, TaskState::Completed);
    })
    .await;
}

//! Messages to tasks that exist: answers, steering, and AUTH_REQUIRED.

use std::sync::Arc;

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, TaskState};
use a2a_server::{
    Agent, AgentBuilder, ConcurrentMessages, EventSink, ExecutionContext, Limits, executor_fn,
};
use tokio::sync::{Notify, Semaphore};

use crate::harness::*;

/// Works until it is let go, then replies with all that it was told.
fn slow(go: &Arc<Semaphore>) -> AgentBuilder {
    let go = Arc::clone(go);
    Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
        let go = Arc::clone(&go);
        async move {
            out.working("slowly").await?;
            go.acquire().await?.forget();
            Ok(out.reply(cx.message().text()).await?)
        }
    }))
}

fn history(task: &a2a_proto::v1::Task) -> Vec<String> {
    task.history.iter().map(Message::text).collect()
}

for_each_binding_and_store! {
    async fn mt_01_an_answer_goes_on_with_the_task(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            match cx.task() {
                None => out.input_required(Message::agent("which one?")).await?,
                Some(task) => {
                    assert_state(task, TaskState::InputRequired);
                    assert_eq!(status_text(task), "which one?");
                    out.reply(cx.message().text()).await?;
                }
            }
            Ok(())
        }))).await;
        let task = peer.run(ask("one")).await.unwrap();
        assert_state(&task, TaskState::InputRequired);
        let done = peer.run(answer(&task.id, "that one")).await.unwrap();
        assert_state(&done, TaskState::Completed);
        assert_eq!((done.id.as_str(), done.context_id.as_str()), (task.id.as_str(), task.context_id.as_str()));
        assert_eq!(history(&done), ["one", "which one?", "that one"]);
        assert_eq!(done.artifact_text(), "that one");
    }

    async fn send_06_to_08_what_a_message_may_not_name(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            Ok(out.input_required(Message::agent("well?")).await?)
        }))).await;
        assert_eq!(peer.run(answer("nope", "hello")).await.unwrap_err().code(), ErrorCode::TaskNotFound);
        let task = peer.run(ask("one")).await.unwrap();
        let elsewhere = Message { task_id: task.id.clone(), context_id: "other".into(), ..Message::user("x") };
        let error = peer.run(request(elsewhere)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParams);
        assert_eq!(error.violations()[0].field, "message.context_id");
        peer.cancel(&task.id).await.unwrap();
        assert_eq!(peer.run(answer(&task.id, "x")).await.unwrap_err().code(), ErrorCode::UnsupportedOperation);
        let events = peer.stream(answer(&task.id, "x")).await;
        assert_eq!(events.err().unwrap().code(), ErrorCode::UnsupportedOperation);
    }

    async fn mt_02_a_second_message_is_refused_by_default(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let peer = via.serve(slow(&go)).await;
        let mut events = peer.stream(ask("first")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        let error = peer.run(answer(&id, "second")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnsupportedOperation);
        go.add_permits(1);
        let done = peer.wait_for(&id, TaskState::Completed).await;
        assert_eq!(history(&done), ["first", "slowly"]);
    }

    async fn a_second_message_steers_the_agent_where_it_is_delivered(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            out.working("listening").await?;
            let mut told = vec![cx.message().text()];
            while told.last().is_some_and(|text| text != "stop") {
                told.push(cx.next_message().await.map(|message| message.text()).unwrap_or_default());
            }
            Ok(out.reply(told.join(" ")).await?)
        })).concurrent_messages(ConcurrentMessages::Deliver)).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        peer.run(immediately(answer(&id, "left"))).await.unwrap();
        let done = peer.run(answer(&id, "stop")).await.unwrap();
        assert_state(&done, TaskState::Completed);
        assert_eq!(done.artifact_text(), "go left stop");
        assert_eq!(history(&done), ["go", "listening", "left", "stop"]);
    }

    async fn a_message_that_is_not_taken_starts_the_next_execution(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let started = Arc::new(Notify::new());
        let (gate, told) = (Arc::clone(&go), Arc::clone(&started));
        let peer = via.serve(Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
            let (gate, told) = (Arc::clone(&gate), Arc::clone(&told));
            async move {
                out.working(cx.message().text()).await?;
                told.notify_one();
                gate.acquire().await?.forget();
                if cx.message().text() == "last" {
                    out.complete().await?;
                }
                Ok(())
            }
        })).concurrent_messages(ConcurrentMessages::Deliver)).await;
        let mut events = peer.stream(ask("first")).await.unwrap();
        let id = events.snapshot().await.id;
        started.notified().await;
        let waiting = tokio::spawn({
            let (peer, last) = (peer.clone(), answer(&id, "last"));
            async move { peer.run(last).await }
        });
        // The message is in the history before the executor may return.
        while !history(&peer.get(&id).await.unwrap()).contains(&"last".to_owned()) {
            tokio::task::yield_now().await;
        }
        go.add_permits(1);
        started.notified().await;
        go.add_permits(1);
        assert_state(&waiting.await.unwrap().unwrap(), TaskState::Completed);
        events.until(TaskState::Completed).await;
    }

    async fn a_message_not_taken_by_a_task_that_ended_gets_that_task(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let peer = via.serve(slow(&go).concurrent_messages(ConcurrentMessages::Deliver)).await;
        let mut events = peer.stream(ask("first")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        let waiting = tokio::spawn({
            let (peer, second) = (peer.clone(), answer(&id, "second"));
            async move { peer.run(second).await }
        });
        events.until(TaskState::Working).await;
        go.add_permits(1);
        let done = waiting.await.unwrap().unwrap();
        assert_state(&done, TaskState::Completed);
        assert_eq!(done.artifact_text(), "first");
        assert_eq!(history(&done), ["first", "slowly", "second"]);
    }

    async fn at_most_eight_messages_wait(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let peer = via.serve(slow(&go).concurrent_messages(ConcurrentMessages::Deliver)).await;
        let mut events = peer.stream(ask("first")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        for _ in 0..8 {
            peer.run(immediately(answer(&id, "more"))).await.unwrap();
        }
        let error = peer.run(immediately(answer(&id, "one too many"))).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnsupportedOperation);
        assert_eq!(history(&peer.get(&id).await.unwrap()).len(), 10);
    }

    async fn authreq_03_the_executor_goes_on_in_auth_required(via: Via) {
        let granted = Arc::new(Notify::new());
        let grant = Arc::clone(&granted);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let granted = Arc::clone(&granted);
            async move {
                out.auth_required(Message::agent("log in over there")).await?;
                granted.notified().await;
                Ok(out.reply("in").await?)
            }
        }))).await;
        // SEND-03: a blocking send returns there.
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&task, TaskState::AuthRequired);
        assert_eq!(status_text(&task), "log in over there");
        let mut events = peer.subscribe(&task.id).await.unwrap();
        assert_state(&events.snapshot().await, TaskState::AuthRequired);
        grant.notify_one();
        events.until(TaskState::Completed).await;
        assert!(events.next().await.is_none());
    }

    async fn authreq_04_a_message_reaches_the_executor_in_auth_required(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            out.auth_required(Message::agent("log in")).await?;
            let message = cx.next_message().await.map(|message| message.text());
            Ok(out.reply(message.unwrap_or_default()).await?)
        }))).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::AuthRequired).await;
        let done = peer.run(answer(&id, "done")).await.unwrap();
        assert_state(&done, TaskState::Completed);
        assert_eq!(done.artifact_text(), "done");
        assert_eq!(history(&done), ["go", "log in", "done"]);
        events.until(TaskState::Working).await;
        events.until(TaskState::Completed).await;
    }

    async fn a_message_after_the_executor_returned_in_auth_required_starts_it_again(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            match cx.task() {
                None => out.auth_required(Message::agent("log in")).await?,
                Some(_) => out.reply(cx.message().text()).await?,
            }
            Ok(())
        }))).await;
        // In the very instant of the return, at some moment before or after it.
        for _ in 0..100 {
            let task = peer.run(ask("go")).await.unwrap();
            assert_state(&task, TaskState::AuthRequired);
            let done = peer.run(answer(&task.id, "done")).await.unwrap();
            assert_state(&done, TaskState::Completed);
            assert_eq!(done.artifact_text(), "done");
        }
    }

    async fn the_conversation_goes_on_in_the_context(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            let said: Vec<String> = cx.conversation(3).await?.iter().map(Message::text).collect();
            let mut past = cx.past_tasks();
            let mut tasks = 0;
            while past.next().await?.is_some() {
                tasks += 1;
            }
            Ok(out.reply(format!("{tasks}: {}", said.join(","))).await?)
        }))).await;
        let first = peer.run(ask("one")).await.unwrap();
        assert_eq!(first.artifact_text(), "0: ");
        let follow = |text: &str| Message { context_id: first.context_id.clone(), ..Message::user(text) };
        let second = peer.run(request(follow("two"))).await.unwrap();
        assert_ne!(second.id, first.id);
        assert_eq!(second.artifact_text(), "1: one,0: ");
        let third = peer.run(request(follow("three"))).await.unwrap();
        assert_eq!(third.artifact_text(), "2: 0: ,two,1: one,0: ");
    }
}

for_each_binding_and_store! {
    async fn a_message_is_worked_on_although_its_caller_can_not_follow(via: Via) {
        let limits = Limits::default().subscribers_per_task(1);
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            match cx.task() {
                None => out.input_required(Message::agent("which?")).await?,
                Some(_) => out.reply("that").await?,
            }
            Ok(())
        })).limits(limits)).await;
        let task = peer.run(ask("go")).await.unwrap();
        let mut reader = peer.subscribe(&task.id).await.unwrap();
        reader.snapshot().await;
        let refused = peer.stream(answer(&task.id, "this")).await.err().unwrap();
        assert_eq!(refused.code(), ErrorCode::ResourceExhausted);
        reader.until(TaskState::Completed).await;
    }
}

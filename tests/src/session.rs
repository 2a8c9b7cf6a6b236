//! What is special of a byo agent: it serves one session, one execution at a time (kagent contract 2.3, 5, 11.3).

use std::sync::Arc;

use a2a_client::Binding;
use a2a_proto::ErrorCode;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Message, Task, TaskState};
use a2a_server::{CancelReason, EventSink, ExecutionContext, executor_fn};
use kagent_ext::part::{FunctionCall, FunctionResponse};
use kagent_ext::tool::ToolSink;
use tokio::sync::Semaphore;

use crate::harness::*;

for_each_wire! {
    async fn byo_a_second_message_while_one_is_worked_on_is_refused(binding: Binding) {
        let go = Arc::new(Semaphore::new(0));
        let held = Arc::clone(&go);
        let peer = ByoPeer::start(binding, executor_fn(move |_, out: EventSink| {
            let held = Arc::clone(&held);
            async move {
                out.working("busy").await?;
                held.acquire().await?.forget();
                Ok(out.reply("done").await?)
            }
        })).await;
        let client = peer.client().await;
        let mut events = client.stream_text("one").await.unwrap();
        while events.last_state() != TaskState::Working {
            events.next().await.unwrap().unwrap();
        }
        let refused = run(&client, Message::user("two")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::UnsupportedOperation);
        assert_eq!(refused.message(), "session already has active work");
        go.add_permits(1);
        while events.next().await.transpose().unwrap().is_some() {}
        assert_eq!(events.last_state(), TaskState::Completed);
    }

    async fn byo_who_saw_the_end_may_send_again_at_once(binding: Binding) {
        let peer = ByoPeer::start(binding, executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            Ok(out.reply(cx.message().text()).await?)
        })).await;
        let client = peer.client().await;
        for round in 0..300 {
            let mut events = client.stream_text(format!("{round}")).await.unwrap();
            while events.last_state() != TaskState::Completed {
                events.next().await.unwrap().unwrap();
            }
        }
    }

    async fn byo_a_streamed_text_ends_with_the_whole_of_it(binding: Binding) {
        let peer = ByoPeer::start(binding, executor_fn(|_, out: EventSink| async move {
            let mut text = out.text();
            for chunk in ["one ", "two ", "three"] {
                text.push(chunk).await?;
            }
            text.finish().await?;
            Ok(out.complete().await?)
        })).await;
        let mut events = peer.client().await.stream_text("count").await.unwrap();
        let mut seen = Vec::new();
        let mut ids = Vec::new();
        while let Some(event) = events.next().await {
            if let Some(Payload::ArtifactUpdate(update)) = event.unwrap().payload {
                let artifact = update.artifact.unwrap();
                seen.push((artifact.text(), update.append, update.last_chunk));
                ids.push(artifact.artifact_id);
            }
        }
        let seen: Vec<_> = seen.iter().map(|(text, append, last)| (text.as_str(), *append, *last)).collect();
        assert_eq!(seen, [
            ("one ", false, false),
            ("two ", true, false),
            ("three", true, false),
            ("one two three", false, true),
        ]);
        ids.dedup();
        assert_eq!(ids.len(), 1);
    }

    async fn byo_a_pause_for_authorization_ends_the_stream(binding: Binding) {
        let peer = ByoPeer::start(binding, executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            if cx.task().is_some() {
                return Ok(out.reply("authorized").await?);
            }
            out.auth_required(Message::agent("log in")).await?;
            // The sink is closed behind it, as the contract has it.
            assert!(out.working("more").await.is_err());
            Ok(())
        })).await;
        let client = peer.client().await;
        let task = client.stream_text("hello").await.unwrap().into_task().await.unwrap();
        assert_state(&task, TaskState::AuthRequired);
        let done = run(&client, Message::user("done").with_task_id(&task.id)).await.unwrap();
        assert_state(&done, TaskState::Completed);
    }

    async fn byo_tool_calls_are_parts_that_the_ui_knows(binding: Binding) {
        let peer = ByoPeer::start(binding, executor_fn(|_, out: EventSink| async move {
            out.tool_call(FunctionCall::new("c-1", "get_pods").arg("ns", "default")).await?;
            out.tool_result(FunctionResponse::new("c-1", "get_pods", "two pods")).await?;
            Ok(out.reply("There are two.").await?)
        })).await;
        let task = run(&peer.client().await, Message::user("pods?")).await.unwrap();
        let parts: Vec<_> = task.artifacts.iter().map(|artifact| &artifact.parts[0]).collect();
        assert_eq!(FunctionCall::of(parts[0]), Some(FunctionCall::new("c-1", "get_pods").arg("ns", "default")));
        assert_eq!(FunctionResponse::of(parts[1]), Some(FunctionResponse::new("c-1", "get_pods", "two pods")));
        assert_eq!(parts[2].as_text(), Some("There are two."));
    }

    async fn byo_a_turn_knows_the_ones_before(binding: Binding) {
        let peer = ByoPeer::start(binding, executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            let said = cx.conversation(10).await?;
            let said: Vec<String> = said.iter().map(Message::text).collect();
            Ok(out.reply(format!("[{}]", said.join(", "))).await?)
        })).await;
        let client = peer.client().await;
        let first = run(&client, Message::user("one")).await.unwrap();
        assert_eq!(first.artifact_text(), "[]");
        let second = run(&client, Message::user("two").with_context_id(&first.context_id)).await.unwrap();
        assert_eq!(second.artifact_text(), "[one, []]");
        let elsewhere = run(&client, Message::user("three")).await.unwrap();
        assert_eq!(elsewhere.artifact_text(), "[]");
    }

    async fn byo_a_shutdown_lets_the_agent_bring_its_work_to_an_end(binding: Binding) {
        let peer = ByoPeer::start(binding, executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            out.working("busy").await?;
            assert_eq!(cx.cancelled().await, CancelReason::Shutdown);
            Ok(out.reply("saved what there was").await?)
        })).await;
        let client = peer.client().await;
        let mut events = client.stream_text("work").await.unwrap();
        let mut task = Task::default();
        while events.last_state() != TaskState::Working {
            task = Task::from_event(&events.next().await.unwrap().unwrap()).unwrap();
        }
        let rest = async {
            while let Some(event) = events.next().await {
                task.apply(&event.unwrap()).unwrap();
            }
        };
        tokio::join!(peer.shutdown(), rest);
        assert_state(&task, TaskState::Completed);
        assert_eq!(task.artifact_text(), "saved what there was");
        assert!(client.stream_text("more").await.is_err());
    }
}

//! Rule 7: how an execution ends; rule 10: what an executor may send; and answers without a task.

use std::sync::Arc;
use std::time::Duration;

use a2a_proto::v1::part::Content;
use a2a_proto::v1::send_message_response::Payload;
use a2a_proto::v1::{
    Artifact, ListTasksRequest, Message, Part, StreamResponse, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use a2a_proto::{A2aError, ErrorCode};
use a2a_server::{
    Agent, AgentBuilder, AgentError, EventSink, ExecutionContext, Limits, ReplyMode, executor_fn,
};
use tokio::sync::Notify;

use crate::harness::*;

/// An agent whose message says how it ends.
fn scripted() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            match cx.message().text().as_str() {
                "panic" => panic!("the secret of the agent"),
                "panic after an artifact" => {
                    out.artifact(Artifact::new("a", [Part::text("half")]))
                        .await?;
                    panic!("the secret of the agent")
                }
                "error" => Err(AgentError::from("the secret of the agent")),
                "public error" => Err(AgentError::public("the model is down")),
                "nothing" => Ok(()),
                "working only" => Ok(out.status(TaskState::Working, None).await?),
                "working with text" => Ok(out.working("found it").await?),
                "artifact" => Ok(out
                    .artifact(Artifact::new("a", [Part::text("whole")]))
                    .await?),
                "error behind the end" => {
                    out.complete().await?;
                    Err(AgentError::from("too late"))
                }
                "panic behind the end" => {
                    out.complete().await?;
                    panic!("too late")
                }
                "event behind the end" => {
                    out.complete().await?;
                    let refused = out.working("more").await.unwrap_err();
                    assert_eq!(refused.code(), ErrorCode::UnsupportedOperation);
                    Ok(())
                }
                other => Err(AgentError::public(format!("no script for {other}"))),
            }
        },
    ))
}

for_each_binding_and_store! {
    async fn send_21_a_panic_fails_the_task(via: Via) {
        let peer = via.serve(scripted()).await;
        for text in ["panic", "panic after an artifact"] {
            let task = peer.run(ask(text)).await.unwrap();
            assert_state(&task, TaskState::Failed);
            assert_eq!(status_text(&task), "the agent failed");
            assert_state(&peer.get(&task.id).await.unwrap(), TaskState::Failed);
        }
        let streamed = peer.stream(ask("panic after an artifact")).await.unwrap().fold().await.unwrap();
        assert_state(&streamed, TaskState::Failed);
        assert_eq!(streamed.artifact_text(), "half");
    }

    async fn a_panic_before_there_is_a_future_fails_the_task(via: Via) {
        let peer = via
            .serve(Agent::builder(executor_fn(
                |cx: ExecutionContext, _: EventSink| {
                    assert_ne!(cx.message().text(), "panic", "scripted");
                    async { Ok(()) }
                },
            )))
            .await;
        let task = peer.run(ask("panic")).await.unwrap();
        assert_state(&task, TaskState::Failed);
        assert_eq!(status_text(&task), "the agent failed");
    }

    async fn err_07_an_error_fails_the_task_without_its_text(via: Via) {
        let peer = via.serve(scripted()).await;
        let task = peer.run(ask("error")).await.unwrap();
        assert_state(&task, TaskState::Failed);
        assert!(!format!("{task:?}").contains("secret"));
        let task = peer.run(ask("public error")).await.unwrap();
        assert_eq!(status_text(&task), "the model is down");
    }

    async fn a_plain_return_completes_what_spoke_and_fails_what_did_not(via: Via) {
        let peer = via.serve(scripted()).await;
        for (text, state) in [
            ("nothing", TaskState::Failed),
            ("working only", TaskState::Failed),
            ("working with text", TaskState::Completed),
            ("artifact", TaskState::Completed),
        ] {
            let task = peer.run(ask(text)).await.unwrap();
            assert_state(&task, state);
            let streamed = peer.stream(ask(text)).await.unwrap().fold().await.unwrap();
            assert_state(&streamed, state);
        }
        assert_eq!(status_text(&peer.run(ask("nothing")).await.unwrap()), "agent ended without a result");
    }

    async fn task_01_what_comes_behind_the_end_changes_nothing(via: Via) {
        let peer = via.serve(scripted()).await;
        for text in ["error behind the end", "panic behind the end", "event behind the end"] {
            let task = peer.run(ask(text)).await.unwrap();
            assert_state(&task, TaskState::Completed);
            assert_state(&peer.get(&task.id).await.unwrap(), TaskState::Completed);
        }
    }

    async fn task_03_the_message_of_a_status_moves_to_the_history(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            out.working("one").await?;
            out.working("two").await?;
            out.fail("three").await?;
            Ok(())
        })))
        .await;
        let task = peer.run(ask("go")).await.unwrap();
        let history: Vec<String> = task.history.iter().map(Message::text).collect();
        assert_eq!(history, ["go", "one", "two"]);
        assert_eq!(status_text(&task), "three");
        assert!(task.status.unwrap().timestamp.is_some());
    }

    async fn send_22_events_of_another_task_are_refused(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            let status = Some(TaskStatus::new(TaskState::Working));
            let foreign = TaskStatusUpdateEvent { task_id: "other".into(), status, ..Default::default() };
            let refused = out.send(foreign).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::InvalidAgentResponse);
            if cx.message().text() == "give up" {
                return Err(refused.into());
            }
            Ok(out.reply("went on").await?)
        })))
        .await;
        let task = peer.run(ask("go on")).await.unwrap();
        assert_state(&task, TaskState::Completed);

        let error = peer.run(ask("give up")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidAgentResponse);
        let mut events = peer.stream(ask("give up")).await.unwrap();
        let id = events.snapshot().await.id;
        assert_eq!(events.failure().await.code(), ErrorCode::InvalidAgentResponse);
        assert_state(&peer.get(&id).await.unwrap(), TaskState::Failed);
    }

    async fn events_that_break_the_protocol_are_refused(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            let no_parts = TaskArtifactUpdateEvent { artifact: Some(Artifact::new("a", [])), ..Default::default() };
            let no_content = Artifact::new("a", [Part::default()]);
            let no_state = TaskStatusUpdateEvent { status: Some(TaskStatus::default()), ..Default::default() };
            let deep = (0..40).fold(serde_json::json!(1), |inner, _| serde_json::json!({"a": inner}));
            let too_deep = Artifact::new("a", [Part::from(Content::Data(deep.into()))]);
            let bad: [StreamResponse; 6] = [
                StreamResponse::default(),
                no_parts.into(),
                TaskArtifactUpdateEvent { artifact: Some(no_content), ..Default::default() }.into(),
                no_state.into(),
                TaskArtifactUpdateEvent { artifact: Some(too_deep), ..Default::default() }.into(),
                Message::agent("no task").into(),
            ];
            for (index, event) in bad.into_iter().enumerate() {
                let refused = out.send(event).await.expect_err(&index.to_string());
                assert_eq!(refused.code(), ErrorCode::InvalidAgentResponse, "{index}");
            }
            Ok(out.reply("fine").await?)
        })))
        .await;
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&task, TaskState::Completed);
        assert_eq!(task.artifacts.len(), 1);
    }

    async fn art_03_an_append_to_an_unseen_artifact_begins_it(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            for text in ["a", "b"] {
                let artifact = Some(Artifact::new("unseen", [Part::text(text)]));
                out.send(TaskArtifactUpdateEvent { artifact, append: true, ..Default::default() }).await?;
            }
            Ok(out.complete().await?)
        })))
        .await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let mut appends = Vec::new();
        while let Some(event) = events.next().await {
            if let Some(a2a_proto::v1::stream_response::Payload::ArtifactUpdate(update)) = event.unwrap().payload {
                appends.push(update.append);
            }
        }
        assert_eq!(appends, [false, true]);
    }
}

/// An agent that answers as its message says.
fn either() -> AgentBuilder {
    let executor = executor_fn(|cx: ExecutionContext, out: EventSink| async move {
        match cx.message().text().as_str() {
            "message" => Ok(out.message(Message::agent("just a word")).await?),
            "two messages" => {
                out.message(Message::agent("one")).await?;
                let refused = out.message(Message::agent("two")).await.unwrap_err();
                assert_eq!(refused.code(), ErrorCode::UnsupportedOperation);
                Ok(())
            }
            "task" => Ok(out.reply("a task").await?),
            "message behind a task" => {
                out.working("a task").await?;
                out.message(Message::agent("word")).await?;
                Ok(())
            }
            "protocol error" => Err(A2aError::content_type_not_supported("no music").into()),
            "error" => Err(AgentError::from("the secret of the agent")),
            "panic" => panic!("the secret of the agent"),
            _ => Ok(()),
        }
    });
    Agent::builder(executor.with_reply_mode(ReplyMode::Either))
}

for_each_binding_and_store! {
    async fn str_02_a_message_leaves_no_task_behind(via: Via) {
        let peer = via.serve(either()).await;
        for text in ["message", "two messages"] {
            let Some(Payload::Message(message)) = peer.send(ask(text)).await.unwrap().payload else {
                panic!("not a message")
            };
            assert!(!message.message_id.is_empty() && !message.context_id.is_empty());
            assert!(message.task_id.is_empty());
            // SEND-05: returnImmediately does not matter to a message.
            let sent = peer.send(immediately(ask(text))).await.unwrap();
            assert!(matches!(sent.payload, Some(Payload::Message(_))));
            let mut events = peer.stream(ask(text)).await.unwrap();
            assert!(matches!(
                events.event().await.payload,
                Some(a2a_proto::v1::stream_response::Payload::Message(_))
            ));
            assert!(events.next().await.is_none());
        }
        assert_eq!(peer.list(ListTasksRequest::default()).await.unwrap().total_size, 0);
    }

    async fn either_may_answer_with_a_task(via: Via) {
        let peer = via.serve(either()).await;
        let task = peer.run(ask("task")).await.unwrap();
        assert_state(&task, TaskState::Completed);
        assert_eq!(task.history[0].text(), "task");
        let folded = peer.stream(ask("task")).await.unwrap().fold().await.unwrap();
        assert_eq!(folded, peer.get(&folded.id).await.unwrap());
        assert_eq!(peer.list(ListTasksRequest::default()).await.unwrap().total_size, 2);
    }

    async fn either_tells_what_went_wrong_before_the_first_event(via: Via) {
        let peer = via.serve(either()).await;
        for (text, code) in [
            ("nothing", ErrorCode::InvalidAgentResponse),
            ("protocol error", ErrorCode::ContentTypeNotSupported),
            ("error", ErrorCode::Internal),
            ("panic", ErrorCode::Internal),
        ] {
            let error = peer.send(ask(text)).await.unwrap_err();
            assert_eq!(error.code(), code, "{text}");
            assert!(!error.to_string().contains("secret"));
            let error = peer.stream(ask(text)).await.err().expect(text);
            assert_eq!(error.code(), code, "{text}");
        }
        assert_eq!(peer.list(ListTasksRequest::default()).await.unwrap().total_size, 0);
    }

    async fn str_05_no_message_behind_a_task(via: Via) {
        let peer = via.serve(either()).await;
        let error = peer.send(ask("message behind a task")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidAgentResponse);
    }

    async fn a_limit_on_time_fails_the_task(via: Via) {
        let limits = Limits::default()
            .max_execution_time(Some(Duration::from_millis(20)))
            .grace(Duration::from_millis(20));
        let dropped = Arc::new(Notify::new());
        let told = Arc::clone(&dropped);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let told = Told(Arc::clone(&told));
            async move {
                out.working("forever").await?;
                let _told = told;
                std::future::pending().await
            }
        })).limits(limits)).await;
        let task = peer.run(ask("go")).await.unwrap();
        assert_state(&task, TaskState::Failed);
        assert_eq!(status_text(&task), "time limit reached");
        dropped.notified().await;
    }
}

/// Tells when it is dropped.
struct Told(Arc<Notify>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

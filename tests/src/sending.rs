//! What a message is answered with, and what its stream shows.

use std::sync::Arc;

use a2a_proto::v1::send_message_response::Payload as Sent;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{
    Artifact, Message, Part, Role, SendMessageConfiguration, SendMessageRequest, StreamResponse,
    TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use a2a_proto::{ErrorCode, Struct};
use a2a_server::{Agent, AgentBuilder, EventSink, ExecutionContext, ReplyMode, executor_fn};
use tokio::sync::{Notify, Semaphore};

use crate::harness::*;

/// Says that it works, and replies once it is let go.
fn gated(go: &Arc<Semaphore>) -> AgentBuilder {
    let go = Arc::clone(go);
    Agent::builder(executor_fn(move |_, out: EventSink| {
        let go = Arc::clone(&go);
        async move {
            out.working("on it").await?;
            go.acquire().await?.forget();
            Ok(out.reply("done").await?)
        }
    }))
}

fn note(text: &str) -> Struct {
    Struct::from_iter([("note", text)])
}

fn numbered(index: usize) -> Artifact {
    Artifact::new(format!("a{index}"), [Part::text(index.to_string())])
}

for_each_binding_and_store! {
    async fn send_01_02_a_blocking_send_returns_the_task_at_its_end(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let peer = via.serve(gated(&go)).await;
        let sending = tokio::spawn({
            let peer = peer.clone();
            async move { peer.run(ask("go")).await }
        });
        // The task works, and the call still waits for it.
        let id = loop {
            let page = peer.list(Default::default()).await.unwrap();
            match page.tasks.first() {
                Some(task) if task.state() == TaskState::Working => break task.id.clone(),
                _ => tokio::task::yield_now().await,
            }
        };
        assert!(!sending.is_finished());
        go.add_permits(1);
        let task = sending.await.unwrap().unwrap();
        assert_state(&task, TaskState::Completed);
        assert_eq!((task.id.as_str(), task.artifact_text().as_str()), (id.as_str(), "done"));
        // GET-01: reading it gives the same.
        assert_eq!(peer.get(&id).await.unwrap(), task);
    }

    async fn send_05_an_immediate_return_does_not_shorten_a_stream(via: Via) {
        let go = Arc::new(Semaphore::new(1));
        let peer = via.serve(gated(&go)).await;
        let task = peer.stream(immediately(ask("go"))).await.unwrap().fold().await.unwrap();
        assert_state(&task, TaskState::Completed);
        assert_eq!(task.artifact_text(), "done");
    }

    async fn send_09_14_the_agent_is_told_the_context_and_the_modes_asked_for(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            let told = format!("{} {}", cx.context_id(), cx.accepted_output_modes().join(","));
            match cx.task() {
                None => out.input_required(Message::agent(told)).await?,
                Some(_) => out.reply(told).await?,
            }
            Ok(())
        }))).await;
        let modes = |request: SendMessageRequest| SendMessageRequest {
            configuration: Some(SendMessageConfiguration {
                accepted_output_modes: vec!["text/plain".into(), "image/*".into()],
                ..Default::default()
            }),
            ..request
        };
        let task = peer.run(modes(ask("go"))).await.unwrap();
        let told = format!("{} text/plain,image/*", task.context_id);
        assert_eq!(status_text(&task), told);
        let done = peer.run(modes(answer(&task.id, "and now"))).await.unwrap();
        assert_eq!((done.artifact_text(), done.context_id), (told, task.context_id));
    }

    async fn send_18_a_message_in_place_of_a_task_is_complete(via: Via) {
        let executor = executor_fn(|_, out: EventSink| async move {
            // An executor that fills in nothing but the words.
            let message = Message { message_id: String::new(), role: 0, ..Message::agent("just a word") };
            Ok(out.message(message).await?)
        });
        let peer = via.serve(Agent::builder(executor.with_reply_mode(ReplyMode::Either))).await;
        let Some(Sent::Message(message)) = peer.send(ask("go")).await.unwrap().payload else {
            panic!("not a message")
        };
        assert_eq!((message.role(), message.text().as_str()), (Role::Agent, "just a word"));
        assert!(!message.message_id.is_empty() && !message.context_id.is_empty());
        assert!(message.task_id.is_empty());
    }

    async fn send_20_a_caller_that_leaves_does_not_end_the_task(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let peer = via.serve(gated(&go)).await;
        let sending = tokio::spawn({
            let peer = peer.clone();
            async move { peer.run(ask("go")).await }
        });
        let id = loop {
            let page = peer.list(Default::default()).await.unwrap();
            match page.tasks.first() {
                Some(task) => break task.id.clone(),
                None => tokio::task::yield_now().await,
            }
        };
        sending.abort();
        assert!(sending.await.unwrap_err().is_cancelled());
        go.add_permits(1);
        assert_eq!(peer.wait_for(&id, TaskState::Completed).await.artifact_text(), "done");
    }

    async fn str_03_04_12_list_12_a_stream_begins_with_the_task_and_each_event_names_it(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            out.working("first an update").await?;
            out.artifact(numbered(0)).await?;
            Ok(out.complete().await?)
        }))).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let task = events.snapshot().await;
        assert_state(&task, TaskState::Submitted);
        assert_eq!(task.history[0].text(), "go");
        assert!(task.status.as_ref().is_some_and(|status| status.timestamp.is_some()));
        let mut last = None;
        while let Some(event) = events.next().await {
            let (task_id, context_id) = match event.unwrap().payload {
                Some(Payload::StatusUpdate(update)) => {
                    let status = update.status.expect("a status");
                    assert!(status.timestamp.is_some());
                    last = Some(status.state());
                    (update.task_id, update.context_id)
                }
                Some(Payload::ArtifactUpdate(update)) => (update.task_id, update.context_id),
                other => panic!("neither a status nor an artifact: {other:?}"),
            };
            assert_eq!((&task_id, &context_id), (&task.id, &task.context_id));
        }
        assert_eq!(last, Some(TaskState::Completed));
    }

    async fn str_07_what_can_not_be_streamed_is_refused_before_the_first_event(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            Ok(out.reply("done").await?)
        }))).await;
        let done = peer.run(ask("go")).await.unwrap();
        for (id, code) in [
            (done.id.as_str(), ErrorCode::UnsupportedOperation),
            ("nope", ErrorCode::TaskNotFound),
        ] {
            let error = peer.stream(answer(id, "again")).await.err().expect("refused");
            assert_eq!(error.code(), code);
        }
        // SEND-07: no task came of it.
        assert_eq!(peer.list(Default::default()).await.unwrap().total_size, 1);
    }

    async fn sub_06_all_streams_of_a_task_show_the_same(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&go);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let gate = Arc::clone(&gate);
            async move {
                out.working("waits for its readers").await?;
                gate.acquire().await?.forget();
                for index in 0..100 {
                    out.artifact(numbered(index)).await?;
                }
                Ok(out.complete().await?)
            }
        }))).await;
        let mut first = peer.stream(ask("go")).await.unwrap();
        let id = first.snapshot().await.id;
        first.until(TaskState::Working).await;
        let mut streams = vec![first];
        for _ in 0..2 {
            let mut joined = peer.subscribe(&id).await.unwrap();
            assert_state(&joined.snapshot().await, TaskState::Working);
            streams.push(joined);
        }
        go.add_permits(1);
        let mut seen = Vec::new();
        for mut stream in streams {
            let mut events: Vec<StreamResponse> = Vec::new();
            while let Some(event) = stream.next().await {
                events.push(event.unwrap());
            }
            seen.push(events);
        }
        assert_eq!(seen[0].len(), 101);
        assert!(seen.iter().all(|events| *events == seen[0]));
    }

    async fn task_04_an_answer_to_a_task_is_never_a_message(via: Via) {
        let executor = executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            match cx.task() {
                None => Ok(out.input_required(Message::agent("which?")).await?),
                Some(_) => Ok(out.message(Message::agent("just a word")).await?),
            }
        });
        let peer = via.serve(Agent::builder(executor.with_reply_mode(ReplyMode::Either))).await;
        let task = peer.run(ask("go")).await.unwrap();
        let error = peer.run(answer(&task.id, "that")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidAgentResponse);
        assert_state(&peer.get(&task.id).await.unwrap(), TaskState::Failed);
    }

    async fn art_06_an_artifact_has_an_id_of_its_own_and_content(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            out.artifact(Artifact::new("", [Part::text("one")])).await?;
            out.artifact(Artifact::new("", [Part::text("two")])).await?;
            let empty = out.artifact(Artifact::new("empty", [])).await.unwrap_err();
            assert_eq!(empty.code(), ErrorCode::InvalidAgentResponse);
            Ok(out.complete().await?)
        }))).await;
        let task = peer.run(ask("go")).await.unwrap();
        let ids: Vec<&str> = task.artifacts.iter().map(|artifact| artifact.artifact_id.as_str()).collect();
        assert!(ids.len() == 2 && ids[0] != ids[1] && ids.iter().all(|id| !id.is_empty()), "{ids:?}");
    }

    async fn dm_meta_01_can_06_metadata_passes_through_unchanged(via: Via) {
        let canceled = Arc::new(Notify::new());
        let told = Arc::clone(&canceled);
        let peer = via.serve(Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
            let told = Arc::clone(&told);
            async move {
                let message = cx.message().clone();
                let artifact = Artifact {
                    metadata: cx.request_metadata().cloned(),
                    ..Artifact::new("echo", message.parts)
                };
                out.send(TaskArtifactUpdateEvent {
                    artifact: Some(artifact),
                    metadata: message.metadata,
                    ..Default::default()
                }).await?;
                out.send(TaskStatusUpdateEvent {
                    status: Some(TaskStatus { state: TaskState::Working.into(), ..Default::default() }),
                    metadata: Some(note("status")),
                    ..Default::default()
                }).await?;
                let a2a_server::CancelReason::Request { metadata, .. } = cx.cancelled().await else {
                    panic!("not canceled by its caller")
                };
                assert_eq!(metadata, Some(note("cancel")));
                told.notify_one();
                Ok(out.complete().await?)
            }
        }))).await;
        let part = Part { metadata: Some(note("part")), ..Part::text("go") };
        let message = Message { metadata: Some(note("message")), parts: vec![part.clone()], ..Message::user("") };
        let sent = SendMessageRequest { metadata: Some(note("request")), ..request(message.clone()) };
        let mut events = peer.stream(sent).await.unwrap();
        let task = events.snapshot().await;
        assert_eq!(task.history[0].metadata, message.metadata);
        assert_eq!(task.history[0].parts, std::slice::from_ref(&part));
        let Some(Payload::ArtifactUpdate(update)) = events.event().await.payload else {
            panic!("not an artifact")
        };
        assert_eq!(update.metadata, Some(note("message")));
        let artifact = update.artifact.unwrap();
        assert_eq!((artifact.metadata, artifact.parts), (Some(note("request")), vec![part]));
        let Some(Payload::StatusUpdate(update)) = events.event().await.payload else {
            panic!("not a status")
        };
        assert_eq!(update.metadata, Some(note("status")));
        peer.cancel_with(&task.id, note("cancel")).await.unwrap();
        canceled.notified().await;
    }
}

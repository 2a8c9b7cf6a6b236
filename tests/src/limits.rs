//! Each limit at its edge: what is just within passes, what is just over gets a typed error, on every binding.

use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Client, Error};
use a2a_proto::v1::{Message, Part, SendMessageConfiguration, SendMessageRequest, Task, TaskState};
use a2a_proto::wire::jsonrpc;
use a2a_proto::{Binding, Call, ErrorCode, Struct, json};
use a2a_server::store::Retention;
use a2a_server::{
    Agent, AgentBuilder, ConcurrentMessages, EventSink, ExecutionContext, Limits, Server,
    executor_fn,
};
use prost::Message as _;
use tokio::sync::Semaphore;

use crate::harness::*;

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

fn counts() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            Ok(out.reply(cx.message().parts.len().to_string()).await?)
        },
    ))
}

/// Works until it is let go.
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

async fn client(server: &Server, binding: Binding) -> Client {
    let url = format!("http://{}", server.local_addr());
    let builder = Client::builder().prefer([binding]);
    builder.connect(url).await.unwrap()
}

async fn send(client: &Client, request: SendMessageRequest) -> Result<Task, ErrorCode> {
    match client.send_message(request).await {
        Ok(response) => Ok(response.into_task().expect("a task")),
        Err(error) => Err(code(&error)),
    }
}

fn code(error: &Error) -> ErrorCode {
    error.protocol().expect("the agent's error").code()
}

/// A text of that length, to be answered without it: the limit holds for answers too.
fn short_answer(length: usize) -> SendMessageRequest {
    SendMessageRequest {
        configuration: Some(SendMessageConfiguration {
            history_length: Some(0),
            ..Default::default()
        }),
        ..ask(&"x".repeat(length))
    }
}

/// The bytes that a request is on the wire.
fn size(binding: Binding, request: &SendMessageRequest) -> usize {
    match binding {
        Binding::Grpc => request.encoded_len(),
        Binding::HttpJson => json::to_vec(request).len(),
        Binding::JsonRpc => {
            let call = Call::SendMessage(request.clone());
            jsonrpc::request(&jsonrpc::Id::from(1), &call.into()).len()
        }
    }
}

#[tokio::test]
async fn sec_07_a_body_may_be_as_large_as_its_limit() {
    const LIMIT: usize = 4096;
    within(async {
        let limits = Limits::default().body_bytes(LIMIT);
        let server = counts().limits(limits).bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let empty = size(binding, &short_answer(1000)) - 1000;
            for (bytes, expected) in [
                (LIMIT - 1, None),
                (LIMIT, None),
                (LIMIT + 1, Some(ErrorCode::ResourceExhausted)),
            ] {
                // Lengths within protobuf take two bytes each over the whole range.
                let request = short_answer(bytes - empty);
                assert_eq!(size(binding, &request), bytes, "{binding}");
                let sent = send(&client(&server, binding).await, request).await;
                assert_eq!(sent.err(), expected, "{binding}: {bytes} bytes");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn sec_07_a_message_may_have_as_many_parts_as_its_limit() {
    within(async {
        let limits = Limits::default().message_parts(3);
        let server = counts().limits(limits).bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let client = client(&server, binding).await;
            let parts = |count: usize| Message {
                parts: vec![Part::text("x"); count],
                ..Message::user("")
            };
            for count in [2, 3] {
                let task = send(&client, request(parts(count))).await.unwrap();
                assert_eq!(task.artifact_text(), count.to_string(), "{binding}");
            }
            let error = client.send_message(request(parts(4))).await.unwrap_err();
            let error = error.protocol().expect("the agent's error");
            assert_eq!(error.code(), ErrorCode::InvalidParams, "{binding}");
            assert_eq!(error.violations()[0].field, "message.parts", "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn sec_07_metadata_may_be_as_large_as_its_limit() {
    let metadata = |length: usize| Struct::from_iter([("k", "x".repeat(length))]);
    within(async {
        let limits = Limits::default().metadata_bytes(2 * metadata(100).encoded_len());
        let server = counts().limits(limits).bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let client = client(&server, binding).await;
            // That of the request, the message and its parts counts together.
            for (length, expected) in [
                (99, None),
                (100, None),
                (101, Some(ErrorCode::InvalidParams)),
            ] {
                let message = Message {
                    metadata: Some(metadata(100)),
                    ..Message::user("go")
                };
                let request = SendMessageRequest {
                    metadata: Some(metadata(length)),
                    ..request(message)
                };
                let sent = send(&client, request).await;
                assert_eq!(sent.err(), expected, "{binding}: {length}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn as_many_executions_run_as_their_limit() {
    within(async {
        for binding in BINDINGS {
            let go = Arc::new(Semaphore::new(0));
            let limits = Limits::default().executions(2);
            let server = gated(&go).limits(limits).bind("127.0.0.1:0").await.unwrap();
            let client = client(&server, binding).await;
            let mut running = Vec::new();
            for _ in 0..2 {
                running.push(send(&client, immediately(ask("go"))).await.unwrap().id);
            }
            let error = client.send_message(ask("go")).await.unwrap_err();
            assert_eq!(code(&error), ErrorCode::Unavailable, "{binding}");
            assert!(error.is_retryable() && error.retry_after().is_some());
            // No task came of it, and a slot that is free again is used.
            let listed = client.list_tasks(Default::default()).await.unwrap();
            assert_eq!(listed.total_size, 2, "{binding}");
            let mut events = client.subscribe_to_task(running[0].as_str()).await.unwrap();
            go.add_permits(2);
            while events.next().await.is_some() {}
            let mut events = client.subscribe_to_task(running[1].as_str()).await;
            if let Ok(events) = &mut events {
                while events.next().await.is_some() {}
            }
            go.add_permits(1);
            let task = loop {
                match send(&client, ask("go")).await {
                    Ok(task) => break task,
                    // The slot is free once the executor has been cleaned up behind its last event.
                    Err(ErrorCode::Unavailable) => tokio::task::yield_now().await,
                    Err(code) => panic!("{binding}: {code:?}"),
                }
            };
            assert_state(&task, TaskState::Completed);
        }
    })
    .await;
}

#[tokio::test]
async fn as_many_streams_follow_a_task_as_their_limit() {
    within(async {
        for binding in BINDINGS {
            let go = Arc::new(Semaphore::new(0));
            let limits = Limits::default().subscribers_per_task(2);
            let server = gated(&go).limits(limits).bind("127.0.0.1:0").await.unwrap();
            let client = client(&server, binding).await;
            let id = send(&client, immediately(ask("go"))).await.unwrap().id;
            let mut streams = Vec::new();
            for _ in 0..2 {
                let mut events = client.subscribe_to_task(id.as_str()).await.unwrap();
                events.next().await.unwrap().unwrap();
                streams.push(events);
            }
            let refused = match client.subscribe_to_task(id.as_str()).await {
                Err(error) => error,
                Ok(mut events) => events.next().await.unwrap().unwrap_err(),
            };
            assert_eq!(code(&refused), ErrorCode::ResourceExhausted, "{binding}");
            go.add_permits(1);
            for mut events in streams {
                let mut last = None;
                while let Some(event) = events.next().await {
                    last = event.unwrap().state().or(last);
                }
                assert_eq!(last, Some(TaskState::Completed), "{binding}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn as_many_messages_wait_for_an_executor_as_their_limit() {
    within(async {
        for binding in BINDINGS {
            let go = Arc::new(Semaphore::new(0));
            let server = gated(&go)
                .limits(Limits::default().waiting_messages(2))
                .concurrent_messages(ConcurrentMessages::Deliver)
                .bind("127.0.0.1:0")
                .await
                .unwrap();
            let client = client(&server, binding).await;
            let mut events = client.stream_text("go").await.unwrap();
            let id = first_task(events.next().await.unwrap().unwrap()).id;
            while events.next().await.unwrap().unwrap().state() != Some(TaskState::Working) {}
            for text in ["one", "two"] {
                send(&client, immediately(answer(&id, text))).await.unwrap();
            }
            let refused = send(&client, immediately(answer(&id, "three"))).await;
            assert_eq!(
                refused.unwrap_err(),
                ErrorCode::UnsupportedOperation,
                "{binding}"
            );
            // What was taken is in the history, and what was refused is not.
            let task = client.get_task(id.as_str()).await.unwrap();
            let texts: Vec<String> = task.history.iter().map(Message::text).collect();
            assert!(texts.contains(&"two".to_owned()), "{texts:?}");
            assert!(!texts.contains(&"three".to_owned()), "{texts:?}");
            go.add_permits(3);
        }
    })
    .await;
}

#[tokio::test]
async fn streams_beyond_the_limit_of_a_connection_wait_their_turn() {
    within(async {
        let go = Arc::new(Semaphore::new(0));
        let limits = Limits::default().streams_per_connection(2);
        let server = gated(&go).limits(limits).bind("127.0.0.1:0").await.unwrap();
        // gRPC has all calls of a client on one connection.
        let client = client(&server, Binding::Grpc).await;
        let mut open = Vec::new();
        for _ in 0..2 {
            let mut events = client.stream_text("go").await.unwrap();
            let id = first_task(events.next().await.unwrap().unwrap()).id;
            open.push((id, events));
        }
        let (id, first) = open.remove(0);
        let mut waiting = Box::pin(client.get_task(id.as_str()));
        // Another client is answered meanwhile: it is the connection that is full, and not the server.
        let other = self::client(&server, Binding::JsonRpc).await;
        tokio::select! {
            biased;
            early = &mut waiting => panic!("it did not wait: {early:?}"),
            task = other.get_task(id.as_str()) => assert_state(&task.unwrap(), TaskState::Working),
        }
        drop(first);
        assert_state(&waiting.await.unwrap(), TaskState::Working);
        go.add_permits(2);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tasks_are_kept_for_as_long_and_as_many_as_their_retention_says() {
    within(async {
        let mut retention = Retention::default();
        retention.finished = Duration::from_secs(60);
        retention.finished_count = 2;
        let limits = Limits::default().retention(retention);
        let peer = Via::Direct.serve(counts().limits(limits)).await;
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(peer.run(ask("x")).await.unwrap().id);
        }
        // Two are kept, and one more is one too many.
        let kept = async |id: &str| peer.get(id).await.is_ok();
        assert_eq!(
            [
                kept(&ids[0]).await,
                kept(&ids[1]).await,
                kept(&ids[2]).await
            ],
            [false, true, true]
        );
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(kept(&ids[2]).await);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(!kept(&ids[2]).await && !kept(&ids[1]).await);
    })
    .await;
}

#[tokio::test]
async fn headers_over_the_limit_are_refused_on_every_binding_and_those_within_are_not() {
    within(async {
        let limits = Limits::default().header_bytes(16 * 1024);
        let server = counts().limits(limits).bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let client = client(&server, binding).await;
            let with = |length: usize| {
                let value = "x".repeat(length).parse().unwrap();
                client.with_header("x-large".parse().unwrap(), value)
            };
            assert!(with(12 * 1024).send_text("hi").await.is_ok(), "{binding}");
            let error = with(20 * 1024).send_text("hi").await.unwrap_err();
            assert_eq!(
                error.http_status().map(|status| status.as_u16()),
                Some(431),
                "{binding}: {error:?}"
            );
            // The connection, or another, still serves.
            assert!(client.send_text("hi").await.is_ok(), "{binding}");
        }
    })
    .await;
}

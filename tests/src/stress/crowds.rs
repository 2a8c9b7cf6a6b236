//! Many readers: they join, leave, fall behind and wait.

use std::sync::Arc;

use a2a_client::Client;
use a2a_proto::v1::TaskState;
use a2a_proto::{Binding, ErrorCode};
use a2a_server::{Agent, EventSink, ExecutionContext, executor_fn};
use tokio::sync::Semaphore;

use super::{Gate, agent};
use crate::harness::*;

const CHUNKS: usize = 10_000;
const READERS: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_join_at_any_moment_of_a_long_stream_while_others_leave_and_lag() {
    within(async {
        // The agent is let on a thousand chunks at a time, so that readers join all along.
        let pace = Arc::new(Semaphore::new(0));
        let paced = Arc::clone(&pace);
        let builder = Agent::builder(executor_fn(move |_: ExecutionContext, out: EventSink| {
            let pace = Arc::clone(&paced);
            async move {
                let mut text = out.text();
                for index in 0..CHUNKS {
                    pace.acquire().await?.forget();
                    text.push(format!("{index} ")).await?;
                }
                text.finish().await?;
                Ok(out.complete().await?)
            }
        }));
        let peer = Via::Direct.serve(builder).await;
        let mut first = peer.stream(ask("go")).await.unwrap();
        let id = first.snapshot().await.id;
        let whole: String = (0..CHUNKS).map(|index| format!("{index} ")).collect();
        let mut staying = Vec::new();
        let mut lagging = Vec::new();
        for wave in 0..READERS {
            let mut joined = peer.subscribe(&id).await.unwrap();
            match wave % 4 {
                // Leaves after a few events.
                0 => {
                    joined.snapshot().await;
                    pace.add_permits(3);
                    joined.event().await;
                }
                // Reads nothing until all is over.
                1 => lagging.push(joined),
                _ => staying.push(tokio::spawn(joined.fold())),
            }
            pace.add_permits(CHUNKS / READERS);
        }
        pace.add_permits(CHUNKS);
        for reader in staying {
            let task = reader.await.unwrap().unwrap();
            assert_eq!(task.artifact_text(), whole);
            assert_state(&task, TaskState::Completed);
        }
        for reader in lagging {
            match reader.fold().await {
                Ok(task) => assert_eq!(task.artifact_text(), whole),
                // It fell behind what is kept for it, and is told to join again.
                Err(error) => assert!(error.is_retryable(), "{error}"),
            }
        }
        drop(first);
        assert_eq!(peer.get(&id).await.unwrap().artifact_text(), whole);
    })
    .await;
}

#[tokio::test]
async fn ten_thousand_idle_readers_all_see_the_end() {
    within(async {
        let peer = Via::Direct.serve(agent(&Gate::default())).await;
        let mut events = peer.stream(ask("hang")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        let mut readers = Vec::new();
        for _ in 0..10_000 {
            let mut reader = peer.subscribe(&id).await.unwrap();
            reader.snapshot().await;
            readers.push(reader);
        }
        peer.cancel(&id).await.unwrap();
        for mut reader in readers {
            let mut last = None;
            while let Some(event) = reader.next().await {
                last = event.unwrap().state();
            }
            assert_eq!(last, Some(TaskState::Canceled));
        }
    })
    .await;
}

#[tokio::test]
async fn a_hundred_open_streams_end_properly_at_shutdown() {
    within(async {
        let server = agent(&Gate::default()).bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", server.local_addr());
        let mut streams = Vec::new();
        for index in 0..100 {
            let binding = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc][index % 3];
            let builder = Client::builder().prefer([binding]);
            let client = builder.connect(&url).await.unwrap();
            let mut stream = client.stream_text("hang").await.unwrap();
            while stream.next().await.unwrap().unwrap().state() != Some(TaskState::Working) {}
            streams.push(stream);
        }
        server.shutdown().await;
        for mut stream in streams {
            let mut ended = None;
            while let Some(event) = stream.next().await {
                ended = Some(event);
            }
            match ended.expect("the end is told") {
                Ok(event) => assert!(
                    event.state().is_some_and(TaskState::is_terminal),
                    "{event:?}"
                ),
                Err(error) => assert_eq!(error.code(), Some(ErrorCode::Unavailable), "{error:?}"),
            }
        }
    })
    .await;
}

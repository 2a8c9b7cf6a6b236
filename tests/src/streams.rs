//! Rules 4 to 6: readers lose nothing and block nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Artifact, Message, Part, TaskArtifactUpdateEvent, TaskState};
use a2a_server::{Agent, AgentBuilder, EventSink, ExecutionContext, executor_fn};
use futures::future::join_all;
use tokio::sync::{Barrier, Notify, Semaphore};

use crate::harness::*;

/// Sends as many chunks as its message says, without waiting for anything but `send`.
fn burst() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            let count: usize = cx.message().text().parse()?;
            for index in 0..count {
                let artifact = Some(Artifact::new("a", [Part::text(format!("{index} "))]));
                out.send(TaskArtifactUpdateEvent {
                    artifact,
                    append: index > 0,
                    ..Default::default()
                })
                .await?;
            }
            Ok(out.complete().await?)
        },
    ))
}

for_each_binding_and_store! {
    async fn sub_05_a_burst_reaches_64_readers_that_join_at_random_moments(via: Via) {
        const EVENTS: usize = 10_000;
        let peer = via.serve(burst()).await;
        let mut first = peer.stream(ask(&EVENTS.to_string())).await.unwrap();
        let id = first.snapshot().await.id;
        let mut readers = Vec::new();
        let mut seen = 0;
        // Reader n joins after the first has seen so many events; the steps are uneven.
        for reader in 0..64_usize {
            let moment = reader * reader * 2;
            while seen < moment {
                first.event().await;
                seen += 1;
            }
            match peer.subscribe(&id).await {
                Ok(events) => readers.push(tokio::spawn(events.fold())),
                // The task may have ended before the last ones came.
                Err(error) => assert_eq!(error.code(), ErrorCode::UnsupportedOperation),
            }
        }
        first.until(TaskState::Completed).await;
        assert!(first.next().await.is_none());
        let stored = peer.get(&id).await.unwrap();
        assert_eq!(stored.artifacts[0].parts.len(), EVENTS);
        assert!(!readers.is_empty());
        for folded in join_all(readers).await {
            assert_eq!(folded.unwrap().unwrap(), stored);
        }
    }

    async fn str_06_order_is_kept(via: Via) {
        let peer = via.serve(burst()).await;
        let task = peer.stream(ask("500")).await.unwrap().fold().await.unwrap();
        let texts: Vec<&str> = task.artifacts[0].parts.iter().filter_map(Part::as_text).collect();
        let expected: Vec<String> = (0..500).map(|index| format!("{index} ")).collect();
        assert_eq!(texts, expected);
    }

    async fn four_parts_of_5_mib_reach_healthy_readers(via: Via) {
        let joined = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&joined);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let gate = Arc::clone(&gate);
            async move {
                out.working("wait for the readers").await?;
                gate.acquire().await?.forget();
                for index in 0..4_u8 {
                    let bytes = vec![index; 5 << 20];
                    out.artifact(Artifact::new(index.to_string(), [Part::raw(bytes)])).await?;
                }
                Ok(out.complete().await?)
            }
        }))).await;
        let mut first = peer.stream(ask("go")).await.unwrap();
        let id = first.snapshot().await.id;
        let mut readers = Vec::new();
        for _ in 0..2 {
            readers.push(tokio::spawn(peer.subscribe(&id).await.unwrap().fold()));
        }
        joined.add_permits(1);
        first.until(TaskState::Completed).await;
        for reader in readers {
            let folded = reader.await.unwrap().unwrap();
            assert_eq!(folded.artifacts.len(), 4);
            for (index, artifact) in folded.artifacts.iter().enumerate() {
                let bytes = artifact.parts[0].content.clone();
                let Some(a2a_proto::v1::part::Content::Raw(bytes)) = bytes else { panic!("not raw") };
                assert_eq!(bytes.len(), 5 << 20);
                assert!(bytes.iter().all(|byte| usize::from(*byte) == index));
            }
        }
    }

    async fn sub_08_a_reader_that_never_reads_blocks_nobody(via: Via) {
        let peer = via.serve(burst()).await;
        // The originating stream is never read; what is read is another one.
        let idle = peer.stream(ask("20000")).await.unwrap();
        let mut idle = idle;
        let id = idle.snapshot().await.id;
        let done = peer.wait_for(&id, TaskState::Completed).await;
        assert_eq!(done.artifacts[0].parts.len(), 20_000);
        drop(idle);
    }

    async fn sse_06_a_client_that_leaves_changes_nothing(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&go);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let gate = Arc::clone(&gate);
            async move {
                out.working("alone").await?;
                gate.acquire().await?.forget();
                Ok(out.reply("done").await?)
            }
        }))).await;
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        let mut other = peer.subscribe(&id).await.unwrap();
        other.snapshot().await;
        drop(events);
        // SEND-20: a blocking call that is cut off does not stop the task either.
        let waiting = tokio::spawn({
            let (peer, go) = (peer.clone(), ask("go"));
            async move { peer.run(go).await }
        });
        tokio::task::yield_now().await;
        waiting.abort();
        go.add_permits(2);
        other.until(TaskState::Completed).await;
        assert_state(&peer.get(&id).await.unwrap(), TaskState::Completed);
    }

    async fn sub_01_to_04_what_a_subscription_shows(via: Via) {
        let go = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&go);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let gate = Arc::clone(&gate);
            async move {
                out.working("step").await?;
                gate.acquire().await?.forget();
                Ok(out.reply("done").await?)
            }
        }))).await;
        assert_eq!(peer.subscribe("nope").await.err().unwrap().code(), ErrorCode::TaskNotFound);
        let mut events = peer.stream(ask("go")).await.unwrap();
        let id = events.snapshot().await.id;
        events.until(TaskState::Working).await;
        let mut late = peer.subscribe(&id).await.unwrap();
        assert_state(&late.snapshot().await, TaskState::Working);
        go.add_permits(1);
        late.until(TaskState::Completed).await;
        assert!(late.next().await.is_none());
        let ended = peer.subscribe(&id).await.err().unwrap();
        assert_eq!(ended.code(), ErrorCode::UnsupportedOperation);
    }

    async fn sub_07_a_waiting_task_can_be_joined_and_shows_the_next_turn(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|cx: ExecutionContext, out: EventSink| async move {
            match cx.task() {
                None => out.input_required(Message::agent("which?")).await?,
                Some(_) => out.reply("that").await?,
            }
            Ok(())
        }))).await;
        let task = peer.run(ask("go")).await.unwrap();
        let mut events = peer.subscribe(&task.id).await.unwrap();
        assert_state(&events.snapshot().await, TaskState::InputRequired);
        peer.run(answer(&task.id, "this")).await.unwrap();
        events.until(TaskState::Working).await;
        events.until(TaskState::Completed).await;
        assert!(events.next().await.is_none());
    }

    async fn str_08_input_required_closes_the_stream(via: Via) {
        let peer = via.serve(Agent::builder(executor_fn(|_, out: EventSink| async move {
            Ok(out.input_required(Message::agent("which?")).await?)
        }))).await;
        let task = peer.stream(ask("go")).await.unwrap().fold().await.unwrap();
        assert_state(&task, TaskState::InputRequired);
    }

    async fn the_agent_hears_all_readers_of_a_task_the_same(via: Via) {
        let everybody = Arc::new(Barrier::new(9));
        let gate = Arc::clone(&everybody);
        let peer = via.serve(Agent::builder(executor_fn(move |_, out: EventSink| {
            let gate = Arc::clone(&gate);
            async move {
                out.working("wait").await?;
                gate.wait().await;
                for index in 0..300 {
                    out.working(index.to_string()).await?;
                }
                Ok(out.complete().await?)
            }
        }))).await;
        let mut first = peer.stream(ask("go")).await.unwrap();
        let id = first.snapshot().await.id;
        let readers: Vec<_> = (0..8).map(|_| {
            let (peer, id, everybody) = (peer.clone(), id.clone(), Arc::clone(&everybody));
            tokio::spawn(async move {
                let mut events = peer.subscribe(&id).await.unwrap();
                events.snapshot().await;
                everybody.wait().await;
                let mut texts = Vec::new();
                while let Some(event) = events.next().await {
                    texts.push(format!("{:?}", event.unwrap().payload));
                }
                texts
            })
        }).collect();
        let heard: Vec<Vec<String>> = join_all(readers).await.into_iter().map(Result::unwrap).collect();
        for texts in &heard {
            // A reader may have joined before the status that says that it waits.
            assert_eq!(texts[texts.len() - 301..], heard[0][heard[0].len() - 301..]);
        }
    }
}

/// How far a slow reader may fall behind is a setting of the engine, not of the test: 65,536 events.
#[tokio::test]
async fn a_reader_that_falls_behind_the_window_is_told_to_come_again() {
    within(async {
        let peer = Via::Direct.serve(burst()).await;
        let mut idle = peer.stream(ask("70000")).await.unwrap();
        let id = idle.snapshot().await.id;
        peer.wait_for(&id, TaskState::Completed).await;
        let error = idle.next().await.unwrap().unwrap_err();
        assert_eq!(error.code(), ErrorCode::Unavailable);
        assert!(error.is_retryable());
        assert!(idle.next().await.is_none());
    })
    .await;
}

/// With [`a2a_server::LagPolicy::Wait`] the agent waits for the stream that started it.
#[tokio::test]
async fn the_agent_waits_for_its_originator_where_the_server_chose_so() {
    within(async {
        let ahead = Arc::new(Notify::new());
        let peer = Via::Direct
            .serve(burst().lag(a2a_server::LagPolicy::Wait))
            .await;
        let mut events = peer.stream(ask("100000")).await.unwrap();
        events.snapshot().await;
        let mut count = 0;
        while let Some(event) = events.next().await {
            event.unwrap();
            count += 1;
            if count % 10_000 == 0 {
                // The reader is slow: the executor gets all the time there is.
                for _ in 0..2_000 {
                    tokio::task::yield_now().await;
                }
            }
        }
        assert_eq!(count, 100_001);
        ahead.notify_one();
    })
    .await;
}

/// An originator that stopped reading holds the agent up for 30 seconds an event, and no longer.
#[tokio::test(start_paused = true)]
async fn the_wait_for_an_originator_has_an_end() {
    within(async {
        let limits = a2a_server::Limits::default().lag_wait(Duration::from_millis(1));
        let peer = Via::Direct
            .serve(burst().lag(a2a_server::LagPolicy::Wait).limits(limits))
            .await;
        let mut idle = peer.stream(ask("40000")).await.unwrap();
        let id = idle.snapshot().await.id;
        let done = peer.wait_for(&id, TaskState::Completed).await;
        assert_eq!(done.artifacts[0].parts.len(), 40_000);
    })
    .await;
}

/// One worker thread serves readers during a burst: the agent lets them in at least every 128 events or 1 MiB.
#[tokio::test]
async fn a_burst_lets_its_readers_in() {
    within(async {
        for (events, bytes, allowed) in [(10_000, 1, 128), (64, 1 << 20, 1)] {
            let sent = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&sent);
            let executor = executor_fn(move |_, out: EventSink| {
                let count = Arc::clone(&count);
                async move {
                    let chunk = "x".repeat(bytes);
                    let mut text = out.text();
                    for _ in 0..events {
                        text.push(chunk.as_str()).await?;
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                    Ok(out.complete().await?)
                }
            });
            let peer = Via::Direct.serve(Agent::builder(executor)).await;
            let mut stream = peer.stream(ask("go")).await.unwrap();
            stream.snapshot().await;
            let (mut read, mut farthest) = (0, 0);
            while let Some(event) = stream.next().await {
                event.unwrap();
                read += 1;
                farthest = farthest.max(sent.load(Ordering::SeqCst).saturating_sub(read));
            }
            assert_eq!(read, events + 1);
            assert!(
                farthest <= allowed,
                "the reader was {farthest} events behind"
            );
        }
    })
    .await;
}

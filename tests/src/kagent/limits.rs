//! How long a task may grow: the controller takes messages of 16 MiB (kagent contract 11.8).

use std::sync::{Arc, Mutex};

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, TaskState};
use a2a_server::executor_fn;
use kagent_ext::byo::Byo;
use kagent_ext::testing::{Controller, StoreMethod};

use super::{send, stream};
use crate::harness::within;

const MIB: usize = 1 << 20;

/// An agent that sends artifacts of these sizes, and notes which were taken.
async fn sending(sizes: Vec<usize>) -> (Controller, Arc<Mutex<Vec<bool>>>) {
    let kagent = Controller::start().await.unwrap();
    let taken = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&taken);
    kagent.run(move |_| {
        let (sizes, noted) = (sizes.clone(), Arc::clone(&noted));
        Byo::new(executor_fn(move |_, out| {
            let (sizes, noted) = (sizes.clone(), Arc::clone(&noted));
            async move {
                for size in sizes {
                    let artifact = a2a_proto::v1::Artifact::new(
                        "",
                        [a2a_proto::v1::Part::from("x".repeat(size))],
                    );
                    let sent = out.artifact(artifact).await;
                    noted.lock().unwrap().push(sent.is_ok());
                    sent?;
                }
                out.complete().await?;
                Ok(())
            }
        }))
    });
    (kagent, taken)
}

/// The largest artifact that a fresh task has room for.
async fn room() -> usize {
    let (kagent, _) = sending(vec![1]).await;
    send(&kagent.client(), Message::user("go")).await.unwrap();
    let calls = kagent.calls();
    let stored = calls.iter().find(|call| call.method == StoreMethod::Update);
    let rest = stored.unwrap().bytes - 1;
    // Kept free: 64 KiB for the boundary, 1 KiB for the request around the task, the frame, and longer lengths.
    (16 << 20) - (64 << 10) - 1024 - 5 - rest
}

#[tokio::test]
async fn a_task_below_and_at_the_limit_is_stored() {
    within(async {
        let room = room().await;
        for size in [room - MIB, room - 16] {
            let (kagent, taken) = sending(vec![size]).await;
            let task = stream(&kagent.client(), Message::user("go")).await.unwrap();
            assert_eq!(task.last().unwrap().state(), Some(TaskState::Completed));
            assert_eq!(*taken.lock().unwrap(), [true]);
            assert!(
                kagent
                    .calls()
                    .iter()
                    .all(|call| call.bytes <= (16 << 20) - 5)
            );
        }
    })
    .await;
}

#[tokio::test]
async fn an_event_above_the_limit_is_refused_and_the_task_still_fails_settles_and_is_read() {
    within(async {
        let (kagent, taken) = sending(vec![MIB, 16 * MIB, 1]).await;
        let task = send(&kagent.client(), Message::user("go")).await.unwrap();
        assert_eq!(task.state(), TaskState::Failed);
        let why = task
            .status
            .as_ref()
            .unwrap()
            .message
            .as_ref()
            .unwrap()
            .text();
        assert!(why.contains("its store takes"), "{why}");
        assert_eq!(task.artifacts.len(), 1);
        assert_eq!(*taken.lock().unwrap(), [true, false]);
        assert_eq!(kagent.trace().last().unwrap(), "Settle");
    })
    .await;
}

#[tokio::test]
async fn many_small_events_come_to_the_limit_as_one_large_one_does() {
    within(async {
        let (kagent, taken) = sending(vec![MIB; 20]).await;
        let task = send(&kagent.client(), Message::user("go")).await.unwrap();
        assert_eq!(task.state(), TaskState::Failed);
        let taken = taken.lock().unwrap().clone();
        assert_eq!(taken, [vec![true; 15], vec![false]].concat());
    })
    .await;
}

#[tokio::test]
async fn a_message_that_its_task_has_no_room_for_is_refused_before_anything_is_stored() {
    within(async {
        let (kagent, _) = sending(vec![]).await;
        let client = kagent.client_over(a2a_client::Binding::Grpc);
        let message = Message::user("x".repeat(16 * MIB - 32 * 1024));
        let error = send(&client, message).await.unwrap_err();
        assert_eq!(
            error.code(),
            Some(ErrorCode::ResourceExhausted),
            "{error:?}"
        );
        assert!(kagent.trace().is_empty());
    })
    .await;
}

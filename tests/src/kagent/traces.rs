//! What is stored, and when: the golden call traces (kagent contract 2.3), with the answer and the WORKING of a resume as
//! one save, and without reads.

use std::sync::{Arc, Mutex};

use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{CancelTaskRequest, Message, TaskState};
use a2a_server::executor_fn;
use a2a_server::testing::{Script, Signal};
use kagent_ext::byo::Byo;
use kagent_ext::testing::{Controller, StoreFault, StoreMethod};
use kagent_ext::uri;

use super::{answer, running, send, stream};
use crate::harness::within;

#[tokio::test]
async fn a_new_task_is_created_worked_on_completed_and_settled() {
    within(async {
        let kagent = running(|| Script::new().working("on it").reply("done")).await;
        let events = stream(&kagent.client(), Message::user("go")).await.unwrap();
        assert_eq!(
            kagent.trace(),
            [
                "Create(SUBMITTED)",
                "Update(WORKING)",
                "Update(WORKING)",
                "Update(COMPLETED)",
                "Settle"
            ]
        );
        let created = &kagent.calls()[0];
        let task = created.task.as_ref().unwrap();
        assert_eq!(task.history.len(), 1);
        assert_eq!(task.context_id, created.session_id);
        // What closes the stream is the task as it is stored.
        let Some(Payload::Task(last)) = &events.last().unwrap().payload else {
            panic!("{events:?}");
        };
        assert_eq!(last.state(), TaskState::Completed);
        assert_eq!(last.artifacts[0].text(), "done");
    })
    .await;
}

#[tokio::test]
async fn a_resume_stores_the_answer_and_working_and_then_goes_on() {
    within(async {
        let kagent = running(|| {
            Script::new()
                .input_required("which one?")
                .then()
                .reply("that one")
        })
        .await;
        let client = kagent.client();
        let paused = send(&client, Message::user("go")).await.unwrap();
        assert_eq!(paused.state(), TaskState::InputRequired);
        assert_eq!(
            kagent.trace(),
            [
                "Create(SUBMITTED)",
                "Update(WORKING)",
                "Update(INPUT_REQUIRED)",
                "Settle"
            ]
        );
        kagent.forget_calls();
        let done = send(&client, answer(&paused, "the second")).await.unwrap();
        assert_eq!(done.state(), TaskState::Completed);
        assert_eq!(
            kagent.trace(),
            [
                "Update(WORKING)",
                "Update(WORKING)",
                "Update(COMPLETED)",
                "Settle"
            ]
        );
        let saves = kagent.calls();
        let resumed = saves.iter().find_map(|call| call.task.as_ref()).unwrap();
        let texts: Vec<String> = resumed.history.iter().map(Message::text).collect();
        assert_eq!(texts, ["go", "which one?", "the second"]);
    })
    .await;
}

#[tokio::test]
async fn a_cancel_stores_canceled_once_the_executor_has_unwound() {
    within(async {
        let unwound = Arc::new(Mutex::new(false));
        let started = Signal::new();
        let kagent = Controller::start().await.unwrap();
        let (noted, begun) = (Arc::clone(&unwound), started.clone());
        kagent.run(move |_| {
            let (noted, begun) = (Arc::clone(&noted), begun.clone());
            Byo::new(executor_fn(move |cx, out| {
                let (noted, begun) = (Arc::clone(&noted), begun.clone());
                async move {
                    out.working("on it").await?;
                    begun.wait().await;
                    cx.cancelled().await;
                    tokio::task::yield_now().await;
                    *noted.lock().unwrap() = true;
                    Ok(())
                }
            }))
        });
        let client = kagent.client();
        let streaming = tokio::spawn({
            let client = client.clone();
            async move { stream(&client, Message::user("go")).await }
        });
        started.reached().await;
        started.release();
        let task_id = kagent.calls()[0].task_id.clone();
        let hold = Signal::new();
        kagent.fail(StoreMethod::Settle, StoreFault::Held(hold.clone()));
        let canceling =
            tokio::spawn(async move { client.cancel_task(CancelTaskRequest::from(task_id)).await });
        hold.reached().await;
        assert!(
            *unwound.lock().unwrap(),
            "settled before the executor had ended"
        );
        hold.release();
        let canceled = canceling.await.unwrap().unwrap();
        assert_eq!(canceled.state(), TaskState::Canceled);
        let events = streaming.await.unwrap().unwrap();
        assert_eq!(events.last().unwrap().state(), Some(TaskState::Canceled));
        assert_eq!(
            kagent.trace(),
            [
                "Create(SUBMITTED)",
                "Update(WORKING)",
                "Update(CANCELED)",
                "Settle"
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn nothing_is_worked_on_before_the_first_save_is_acknowledged() {
    within(async {
        let started = Signal::new();
        let begun = started.clone();
        let kagent = running(move || Script::new().wait(&begun).reply("done")).await;
        let hold = Signal::new();
        kagent.fail(StoreMethod::Create, StoreFault::Held(hold.clone()));
        let client = kagent.client();
        let sending = tokio::spawn(async move { send(&client, Message::user("go")).await });
        hold.reached().await;
        assert!(
            !started.is_reached(),
            "the executor began before its task was stored"
        );
        hold.release();
        started.reached().await;
        started.release();
        assert_eq!(
            sending.await.unwrap().unwrap().state(),
            TaskState::Completed
        );
    })
    .await;
}

#[tokio::test]
async fn a_boundary_is_stored_when_the_executor_has_returned_and_seen_when_it_is_settled() {
    within(async {
        let cleaning = Signal::new();
        let clean = cleaning.clone();
        let kagent = running(move || Script::new().reply("done").wait(&clean)).await;
        let hold = Signal::new();
        kagent.fail(StoreMethod::Settle, StoreFault::Held(hold.clone()));
        let client = kagent.client();
        let reading = client.clone();
        let streaming = tokio::spawn(async move { stream(&reading, Message::user("go")).await });
        cleaning.reached().await;
        assert_eq!(kagent.trace().last().unwrap(), "Update(WORKING)");
        cleaning.release();
        hold.reached().await;
        assert_eq!(kagent.trace().last().unwrap(), "Update(COMPLETED)");
        let task_id = kagent.calls()[0].task_id.clone();
        let seen = client.get_task(task_id.as_str()).await.unwrap();
        assert_eq!(seen.state(), TaskState::Working);
        assert!(!streaming.is_finished());
        hold.release();
        let events = streaming.await.unwrap().unwrap();
        assert_eq!(events.last().unwrap().state(), Some(TaskState::Completed));
        assert_eq!(kagent.trace().last().unwrap(), "Settle");
    })
    .await;
}

#[tokio::test]
async fn an_authorization_pauses_and_closes_the_stream_as_a_question_does() {
    within(async {
        let kagent = running(|| {
            Script::new()
                .auth_required("log in")
                .then()
                .reply("logged in")
        })
        .await;
        let client = kagent.client();
        let events = stream(&client, Message::user("go")).await.unwrap();
        assert_eq!(
            events.last().unwrap().state(),
            Some(TaskState::AuthRequired)
        );
        assert_eq!(
            kagent.trace(),
            [
                "Create(SUBMITTED)",
                "Update(WORKING)",
                "Update(AUTH_REQUIRED)",
                "Settle"
            ]
        );
        let Some(Payload::Task(task)) = &events.last().unwrap().payload else {
            panic!("{events:?}");
        };
        let done = send(&client, answer(task, "done")).await.unwrap();
        assert_eq!(done.state(), TaskState::Completed);
    })
    .await;
}

#[tokio::test]
async fn each_save_names_its_delivery_and_nothing_goes_along_but_the_placeholder() {
    within(async {
        let kagent = running(|| {
            Script::new()
                .input_required("which one?")
                .then()
                .reply("that one")
        })
        .await;
        let client = kagent.client().with_header(
            http::HeaderName::from_static("authorization"),
            http::HeaderValue::from_static("Bearer not-a-real-token"),
        );
        let paused = send(&client, Message::user("go")).await.unwrap();
        let first = kagent.calls();
        kagent.forget_calls();
        send(&client, answer(&paused, "the second")).await.unwrap();
        let second = kagent.calls();
        let deliveries = |calls: &[kagent_ext::testing::StoreCall]| {
            let saves = calls.iter().filter(|call| call.task.is_some());
            let ids: std::collections::BTreeSet<_> = saves
                .map(|call| call.dispatch_id.clone().unwrap())
                .collect();
            assert_eq!(ids.len(), 1, "one delivery");
            ids.into_iter().next().unwrap()
        };
        assert_ne!(deliveries(&first), deliveries(&second));
        for call in first.iter().chain(&second) {
            let metadata: Vec<(&str, &[u8])> = call
                .metadata
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_bytes()))
                .collect();
            assert_eq!(
                metadata,
                [("authorization", b"Bearer placeholder".as_slice())]
            );
        }
        assert_eq!(uri::header::DISPATCH_ID, "x-kagent-dispatch-id");
    })
    .await;
}

#[tokio::test]
async fn who_has_seen_the_end_can_send_at_once() {
    within(async {
        let kagent = Controller::builder()
            .wait_for_turn(std::time::Duration::ZERO)
            .start()
            .await
            .unwrap();
        kagent.run(|_| {
            Byo::new(executor_fn(|cx, out| async move {
                out.reply(cx.message().text()).await?;
                Ok(())
            }))
        });
        let session = kagent.new_session("admin@kagent.dev");
        let client = kagent.client_over(a2a_client::Binding::Grpc);
        for round in 0..1_000 {
            let message = Message::user(format!("{round}")).with_context_id(&session);
            let task = send(&client, message).await.unwrap();
            assert_eq!(task.artifacts[0].text(), round.to_string());
        }
    })
    .await;
}

//! What goes wrong between an agent and its task store (kagent contract 2.2, 2.3, 11.5).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, TaskState};
use a2a_server::executor_fn;
use a2a_server::testing::Script;
use kagent_ext::byo::Byo;
use kagent_ext::testing::{Controller, StoreFault, StoreMethod};
use tonic::Code;

use super::{running, send, stream};
use crate::harness::within;

#[tokio::test]
async fn a_save_whose_answer_is_lost_is_sent_again_byte_for_byte() {
    within(async {
        for method in [StoreMethod::Create, StoreMethod::Update] {
            let kagent = running(|| Script::new().working("on it").reply("done")).await;
            kagent.fail(method, StoreFault::AnswerLost);
            let task = send(&kagent.client(), Message::user("go")).await.unwrap();
            assert_eq!(task.state(), TaskState::Completed);
            let calls = kagent.calls();
            let lost = calls.iter().position(|call| call.code == Code::Unavailable);
            let (lost, again) = (&calls[lost.unwrap()], &calls[lost.unwrap() + 1]);
            assert_eq!((again.method, again.code), (method, Code::Ok));
            assert_eq!(again.task, lost.task);
            assert_eq!(again.version, lost.version);
            assert_eq!(again.dispatch_id, lost.dispatch_id);
            assert_eq!(again.bytes, lost.bytes);
        }
    })
    .await;
}

#[tokio::test]
async fn a_settling_whose_answer_is_lost_is_settled_once_more() {
    within(async {
        let kagent = running(|| Script::new().reply("done")).await;
        kagent.fail(StoreMethod::Settle, StoreFault::AnswerLost);
        let events = stream(&kagent.client(), Message::user("go")).await.unwrap();
        assert_eq!(events.last().unwrap().state(), Some(TaskState::Completed));
        assert_eq!(
            kagent.trace()[3..],
            ["Update(COMPLETED)", "Settle -> Unavailable", "Settle"]
        );
    })
    .await;
}

#[tokio::test]
async fn four_attempts_are_made_and_then_the_call_fails_and_nothing_more_is_saved() {
    within(async {
        let kagent = running(|| Script::new().working("on it").reply("done")).await;
        for _ in 0..4 {
            let refused = StoreFault::Refused(Code::Unavailable);
            kagent.fail(StoreMethod::Update, refused);
        }
        let error = send(&kagent.client(), Message::user("go"))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::Internal), "{error:?}");
        assert_eq!(
            kagent.trace(),
            [
                "Create(SUBMITTED)",
                "Update(WORKING) -> Unavailable",
                "Update(WORKING) -> Unavailable",
                "Update(WORKING) -> Unavailable",
                "Update(WORKING) -> Unavailable"
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_conflict_stops_the_executor_and_nothing_more_is_saved() {
    within(async {
        let stopped = Arc::new(AtomicBool::new(false));
        let kagent = Controller::start().await.unwrap();
        let noted = Arc::clone(&stopped);
        kagent.run(move |_| {
            let noted = Arc::clone(&noted);
            Byo::new(executor_fn(move |_, out| {
                let noted = Dropped(Arc::clone(&noted));
                async move {
                    let _noted = noted;
                    out.working("on it").await?;
                    std::future::pending::<()>().await;
                    Ok(())
                }
            }))
        });
        kagent.fail(StoreMethod::Update, StoreFault::Refused(Code::Aborted));
        let error = stream(&kagent.client(), Message::user("go"))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::Internal), "{error:?}");
        kagent.shutdown().await;
        assert!(stopped.load(Ordering::SeqCst));
        assert_eq!(
            kagent.trace(),
            ["Create(SUBMITTED)", "Update(WORKING) -> Aborted"]
        );
    })
    .await;
}

struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn what_a_revoked_delivery_brings_is_not_worked_on() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        let began = Arc::new(AtomicBool::new(false));
        let session = kagent.new_session("admin@kagent.dev");
        let environment = kagent.environment(&session).await.unwrap();
        let noted = Arc::clone(&began);
        let agent = Byo::new(executor_fn(move |_, out| {
            noted.store(true, Ordering::SeqCst);
            async move {
                out.reply("done").await?;
                Ok(())
            }
        }));
        let agent = agent
            .environment(environment)
            .listen("127.0.0.1:0")
            .readiness_port(0)
            .bind()
            .await
            .unwrap();
        let dispatch = kagent.dispatch(&session);
        kagent.revoke(&dispatch);
        let client = a2a_client::Client::builder()
            .header("x-kagent-dispatch-id", dispatch)
            .from_endpoint(
                a2a_client::Binding::Grpc,
                format!("http://{}", agent.local_addr()),
            )
            .unwrap();
        let message = Message::user("go").with_context_id(&session);
        let error = send(&client, message).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::Internal), "{error:?}");
        assert!(!began.load(Ordering::SeqCst));
        assert_eq!(kagent.trace(), ["Create(SUBMITTED) -> Aborted"]);
    })
    .await;
}

#[tokio::test]
async fn an_earlier_name_of_the_service_is_found_once_and_remembered() {
    within(async {
        let kagent = Controller::builder()
            .task_store_service("kagent.api.v1alpha1.TaskStoreService")
            .start()
            .await
            .unwrap();
        kagent.run(|_| Byo::new(Script::new().working("on it").reply("done")));
        let task = send(&kagent.client(), Message::user("go")).await.unwrap();
        assert_eq!(task.state(), TaskState::Completed);
        let services: Vec<String> = kagent
            .calls()
            .into_iter()
            .map(|call| call.service)
            .collect();
        assert!(
            services
                .iter()
                .all(|name| name == "kagent.api.v1alpha1.TaskStoreService")
        );

        let strange = Controller::builder()
            .task_store_service("some.other.Service")
            .start()
            .await
            .unwrap();
        strange.run(|_| {
            Byo::new(Script::new().reply("done")).task_store_service("some.other.Service")
        });
        let task = send(&strange.client(), Message::user("go")).await.unwrap();
        assert_eq!(task.state(), TaskState::Completed);
    })
    .await;
}

#[tokio::test]
async fn a_controller_without_the_service_fails_the_call_and_says_so_in_the_log() {
    within(async {
        let kagent = Controller::builder()
            .task_store_service("some.other.Service")
            .start()
            .await
            .unwrap();
        kagent.run(|_| Byo::new(Script::new().reply("done")));
        let error = send(&kagent.client(), Message::user("go"))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::Internal), "{error:?}");
        assert!(kagent.calls().is_empty());
    })
    .await;
}

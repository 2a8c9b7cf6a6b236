//! The gateway as clients see it (kagent contract 7), which the double must do for the tests of users to mean something.

use std::time::Duration;

use a2a_client::{Binding, Client};
use a2a_proto::ErrorCode;
use a2a_proto::v1::{
    ListTasksRequest, Message, SendMessageConfiguration, SendMessageRequest,
    SubscribeToTaskRequest, TaskState,
};
use a2a_server::testing::{Script, Signal};
use futures::StreamExt as _;
use kagent_ext::byo::Byo;
use kagent_ext::testing::Controller;

use super::{answer, running, send, stream};
use crate::harness::within;

#[tokio::test]
async fn the_card_names_the_cluster_and_comes_on_both_bindings() {
    within(async {
        let kagent = running(|| Script::new().reply("done")).await;
        let url = format!(
            "{}/agents/default/agent/.well-known/agent-card.json",
            kagent.url()
        );
        let client = Client::connect(&url).await.unwrap();
        let card = client.card().unwrap();
        let urls: Vec<&str> = card
            .supported_interfaces
            .iter()
            .map(|i| i.url.as_str())
            .collect();
        assert_eq!(
            urls,
            [
                "http://kagent-controller.kagent:8083/agents/default/agent",
                "http://kagent-controller.kagent:8083"
            ]
        );
        assert_eq!(card.supported_interfaces[1].tenant, "default/agent");
        for binding in [Binding::JsonRpc, Binding::Grpc] {
            let extended = kagent
                .client_over(binding)
                .get_extended_agent_card()
                .await
                .unwrap();
            assert_eq!(extended.supported_interfaces, card.supported_interfaces);
        }
    })
    .await;
}

#[tokio::test]
async fn a_first_message_that_comes_again_is_the_same_task() {
    within(async {
        let kagent = running(|| Script::new().reply("done")).await;
        let client = kagent.client();
        let message = Message::user("go");
        let first = send(&client, message.clone()).await.unwrap();
        let again = send(&client, message.clone()).await.unwrap();
        assert_eq!(
            (first.id.as_str(), &first.context_id),
            (again.id.as_str(), &again.context_id)
        );
        let creates = |kagent: &Controller| {
            kagent
                .trace()
                .iter()
                .filter(|call| call.starts_with("Create"))
                .count()
        };
        assert_eq!(creates(&kagent), 1);
        let other = Message {
            parts: Message::user("stop").parts,
            ..message
        };
        let error = send(&client, other).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::InvalidRequest));
    })
    .await;
}

#[tokio::test]
async fn a_message_that_must_wait_too_long_is_not_accepted_and_says_when_to_come_again() {
    within(async {
        let working = Signal::new();
        let signal = working.clone();
        let kagent = Controller::builder()
            .wait_for_turn(Duration::ZERO)
            .start()
            .await
            .unwrap();
        kagent.run(move |_| {
            let turn = |script: Script| script.working("on it").wait(&signal).reply("done");
            Byo::new(turn(turn(Script::new()).then()))
        });
        let client = kagent.client();
        let session = kagent.new_session("admin@kagent.dev");
        let message = || Message::user("go").with_context_id(&session);
        let running = tokio::spawn({
            let (client, message) = (client.clone(), message());
            async move { send(&client, message).await }
        });
        working.reached().await;
        let plain = Client::builder()
            .from_endpoint(
                Binding::JsonRpc,
                format!("{}/agents/default/agent", kagent.url()),
            )
            .unwrap();
        let error = send(&plain, message()).await.unwrap_err();
        let told = error.protocol().unwrap();
        assert_eq!(told.code(), ErrorCode::UnsupportedOperation);
        assert_eq!(told.metadata()["reason"], "KAGENT_SEND_NOT_ACCEPTED");
        assert_eq!(told.metadata()["retryAfterMs"], "100");
        // A client of kagent's goes on asking, and has its turn in the end.
        let waiting = tokio::spawn({
            let (client, message) = (client.clone(), message());
            async move { send(&client, message).await }
        });
        working.release();
        running.await.unwrap().unwrap();
        working.reached().await;
        working.release();
        assert_eq!(
            waiting.await.unwrap().unwrap().state(),
            TaskState::Completed
        );
    })
    .await;
}

#[tokio::test]
async fn a_parked_task_lets_others_through_unless_its_session_is_reserved() {
    within(async {
        for reserved in [false, true] {
            let kagent = Controller::builder()
                .reserve_session_while_parked(reserved)
                .start()
                .await
                .unwrap();
            kagent.run(|_| {
                Byo::new(
                    Script::new()
                        .input_required("which?")
                        .then()
                        .reply("done")
                        .then()
                        .reply("done"),
                )
            });
            let client = kagent.client();
            let parked = send(&client, Message::user("go")).await.unwrap();
            let other = Message::user("something else").with_context_id(&parked.context_id);
            let outcome = send(&client, other).await;
            assert_eq!(outcome.is_err(), reserved, "{outcome:?}");
            let done = send(&client, answer(&parked, "this")).await.unwrap();
            assert_eq!(done.state(), TaskState::Completed);
        }
    })
    .await;
}

#[tokio::test]
async fn work_goes_on_when_its_reader_leaves_and_another_follows_it() {
    within(async {
        let working = Signal::new();
        let signal = working.clone();
        let kagent =
            running(move || Script::new().working("on it").wait(&signal).reply("done")).await;
        for binding in [Binding::JsonRpc, Binding::Grpc] {
            let client = kagent.client_over(binding);
            let mut events = client
                .send_streaming_message(SendMessageRequest::from(Message::user("go")))
                .await
                .unwrap();
            let first = events.next().await.unwrap().unwrap();
            let id = first.task_id().to_owned();
            drop(events);
            working.reached().await;
            let mut following = client
                .subscribe_to_task(SubscribeToTaskRequest::from(id.as_str()))
                .await
                .unwrap();
            // The task as it is now, not as it was when it began.
            let joined = following.next().await.unwrap().unwrap();
            assert_eq!(joined.state(), Some(TaskState::Working));
            working.release();
            let rest: Vec<_> = following.collect().await;
            let last = rest.last().unwrap().as_ref().unwrap();
            assert_eq!(last.state(), Some(TaskState::Completed));
            // A task that stands still is one event, and the end.
            let quiet = client
                .subscribe_to_task(SubscribeToTaskRequest::from(id.as_str()))
                .await;
            let quiet: Vec<_> = quiet.unwrap().collect().await;
            assert_eq!(quiet.len(), 1);
        }
    })
    .await;
}

#[tokio::test]
async fn a_send_that_does_not_wait_returns_the_task_as_it_began() {
    within(async {
        let working = Signal::new();
        let signal = working.clone();
        let kagent = running(move || Script::new().wait(&signal).reply("done")).await;
        let client = kagent.client();
        let request = SendMessageRequest {
            configuration: Some(SendMessageConfiguration {
                return_immediately: true,
                ..SendMessageConfiguration::default()
            }),
            ..SendMessageRequest::from(Message::user("go"))
        };
        let task = client
            .send_message(request)
            .await
            .unwrap()
            .into_task()
            .unwrap();
        assert_eq!(task.state(), TaskState::Submitted);
        working.reached().await;
        working.release();
        let following = client
            .subscribe_to_task(SubscribeToTaskRequest::from(task.id.as_str()))
            .await;
        let rest: Vec<_> = following.unwrap().collect().await;
        let last = rest.last().unwrap().as_ref().unwrap();
        assert_eq!(last.state(), Some(TaskState::Completed));
    })
    .await;
}

#[tokio::test]
async fn wrong_ids_and_tenants_are_refused_with_what_is_wrong() {
    within(async {
        let kagent = running(|| Script::new().reply("done")).await;
        let client = kagent.client();
        let refused = |message: Message| {
            let client = client.clone();
            async move { send(&client, message).await.unwrap_err().code().unwrap() }
        };
        let unknown = "00000000-0000-4000-8000-000000000000";
        let message = Message::user("go");
        assert_eq!(
            refused(message.clone().with_context_id("mine")).await,
            ErrorCode::InvalidRequest
        );
        assert_eq!(
            refused(message.clone().with_context_id(unknown)).await,
            ErrorCode::TaskNotFound
        );
        assert_eq!(
            refused(message.clone().with_task_id("t")).await,
            ErrorCode::TaskNotFound
        );
        let done = send(&client, message.clone()).await.unwrap();
        assert_eq!(
            refused(answer(&done, "more")).await,
            ErrorCode::UnsupportedOperation
        );
        assert_eq!(
            refused(answer(&done, "more").with_context_id(unknown)).await,
            ErrorCode::InvalidParams
        );

        let grpc = |tenant: &str| {
            Client::builder()
                .tenant(tenant)
                .from_endpoint(Binding::Grpc, kagent.url())
                .unwrap()
        };
        for (tenant, code) in [
            ("", ErrorCode::InvalidRequest),
            ("agent", ErrorCode::InvalidRequest),
            ("default/other", ErrorCode::TaskNotFound),
        ] {
            let error = send(&grpc(tenant), Message::user("go")).await.unwrap_err();
            assert_eq!(error.code(), Some(code), "{tenant}: {error:?}");
        }
        let elsewhere = format!("{}/agents/default/other", kagent.url());
        let elsewhere = Client::builder()
            .from_endpoint(Binding::JsonRpc, elsewhere)
            .unwrap();
        let error = send(&elsewhere, Message::user("go")).await.unwrap_err();
        assert_eq!(
            error.http_status().map(|status| status.as_u16()),
            Some(404),
            "{error:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn the_agent_sees_who_speaks_and_not_what_the_caller_claims() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        kagent.run(|_| {
            Byo::new(a2a_server::executor_fn(|cx, out| async move {
                let shown = |name: &str| {
                    let value = cx.headers().get(name).and_then(|value| value.to_str().ok());
                    value.unwrap_or("-").to_owned()
                };
                let names = [
                    "x-user-id",
                    "x-team",
                    "authorization",
                    "x-share-token",
                    "cookie",
                ];
                out.reply(names.map(shown).join(" ")).await?;
                Ok(())
            }))
        });
        let client = Client::builder()
            .header("x-user-id", "ada")
            .header("x-team", "blue")
            .header("authorization", "Bearer not-a-real-token")
            .header("x-share-token", "t")
            .header("cookie", "c=1");
        let url = format!("{}/agents/default/agent", kagent.url());
        let client = client.from_endpoint(Binding::JsonRpc, url).unwrap();
        let task = send(&client, Message::user("go")).await.unwrap();
        assert_eq!(
            task.artifacts[0].text(),
            "ada blue Bearer not-a-real-token - -"
        );
    })
    .await;
}

#[tokio::test]
async fn human_in_the_loop_is_the_last_extension_that_the_agent_reads() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        kagent.run(|_| {
            Byo::new(a2a_server::executor_fn(|cx, out| async move {
                let mut lines = cx.headers().get_all("a2a-extensions").iter();
                let last = lines
                    .next_back()
                    .map(|line| line.to_str().unwrap().to_owned());
                Ok(out.reply(last.unwrap_or_default()).await?)
            }))
        });
        // kagent's Python helper reads the last of several lines, and the Go SDK splits none.
        for binding in [Binding::JsonRpc, Binding::Grpc] {
            let client = kagent.client_over(binding);
            let task = send(&client, Message::user("go")).await.unwrap();
            assert_eq!(task.artifacts[0].text(), kagent_ext::uri::HITL);
        }
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_breaks_off_is_an_error_and_not_an_end() {
    within(async {
        let working = Signal::new();
        let signal = working.clone();
        let kagent =
            running(move || Script::new().working("on it").wait(&signal).reply("done")).await;
        let client = kagent.client();
        let session = kagent.new_session("admin@kagent.dev");
        let message = Message::user("go").with_context_id(&session);
        let streaming = tokio::spawn({
            let client = client.clone();
            async move { stream(&client, message).await }
        });
        working.reached().await;
        kagent.kill(&session).await;
        let error = streaming.await.unwrap().unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::Internal), "{error:?}");
        assert!(
            error.to_string().contains("runtime stream ended"),
            "{error:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn the_tasks_of_a_session_are_listed_in_pages() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        kagent.run(|_| {
            Byo::new(a2a_server::executor_fn(|_, out| async move {
                Ok(out.reply("done").await?)
            }))
        });
        let client = kagent.client();
        let session = kagent.new_session("admin@kagent.dev");
        let mut sent = Vec::new();
        for _ in 0..5 {
            let message = Message::user("go").with_context_id(&session);
            sent.push(send(&client, message).await.unwrap().id);
        }
        let mut listed = Vec::new();
        let mut token = String::new();
        loop {
            let request = ListTasksRequest {
                context_id: session.clone(),
                page_size: Some(2),
                page_token: token,
                ..ListTasksRequest::default()
            };
            let page = client.list_tasks(request).await.unwrap();
            assert_eq!(page.total_size, 5);
            assert!(page.tasks.iter().all(|task| task.artifacts.is_empty()));
            listed.extend(page.tasks.into_iter().map(|task| task.id));
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        sent.reverse();
        assert_eq!(listed, sent, "newest first");
    })
    .await;
}

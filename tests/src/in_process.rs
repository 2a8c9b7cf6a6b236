//! The client's way to an agent without a socket.

use std::sync::Arc;

use a2a_client::Client;
use a2a_proto::v1::{Message, TaskState};
use a2a_proto::{A2aError, Binding, ErrorCode};
use a2a_server::auth::BearerTokens;
use a2a_server::{Agent, AgentBuilder, EventSink, ExecutionContext, Principal, executor_fn};
use tokio::sync::Semaphore;

use crate::harness::*;

const BINDINGS: [Binding; 2] = [Binding::JsonRpc, Binding::HttpJson];

fn asks() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            match cx.task() {
                None => out.input_required(Message::agent("which?")).await?,
                Some(_) => out.reply(cx.message().text()).await?,
            }
            Ok(())
        },
    ))
}

#[tokio::test]
async fn a_service_is_called_in_place_of_the_network() {
    within(async {
        for binding in BINDINGS {
            let client = Client::builder()
                .prefer([binding])
                .in_process(asks().build().unwrap().into_service())
                .connect("http://agent")
                .await
                .unwrap();
            assert_eq!(client.binding(), Some(binding));
            let task = client.send_text("go").await.unwrap().into_task().unwrap();
            assert_state(&task, TaskState::InputRequired);
            let reply = client.send_message(answer(&task.id, "that")).await.unwrap();
            assert_eq!(reply.into_task().unwrap().artifact_text(), "that");
            let error = client.get_task("nope").await.unwrap_err();
            let code = error.protocol().map(A2aError::code);
            assert_eq!(code, Some(ErrorCode::TaskNotFound), "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn events_are_received_as_they_are_produced() {
    within(async {
        for binding in BINDINGS {
            let go = Arc::new(Semaphore::new(0));
            let gate = Arc::clone(&go);
            let agent = Agent::builder(executor_fn(move |_, out: EventSink| {
                let gate = Arc::clone(&gate);
                async move {
                    out.working("on it").await?;
                    gate.acquire().await?.forget();
                    Ok(out.reply("done").await?)
                }
            }));
            let client = Client::builder()
                .prefer([binding])
                .in_process(agent.build().unwrap().into_router())
                .connect("http://agent")
                .await
                .unwrap();
            let mut events = client.stream_text("go").await.unwrap();
            while events.next().await.unwrap().unwrap().state() != Some(TaskState::Working) {}
            go.add_permits(1);
            let mut last = None;
            while let Some(event) = events.next().await {
                last = event.unwrap().state();
            }
            assert_eq!(last, Some(TaskState::Completed), "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn headers_go_along() {
    within(async {
        let tokens = BearerTokens::new([("secret", Principal::named("alice"))]);
        let service = asks().authenticator(tokens).build().unwrap().into_service();
        let builder = Client::builder().in_process(service);
        let stranger = builder.clone().connect("http://agent").await.unwrap();
        let refused = stranger.send_text("go").await.unwrap_err();
        let code = refused.protocol().map(A2aError::code);
        assert_eq!(code, Some(ErrorCode::Unauthenticated));
        let alice = builder.header("authorization", "Bearer secret");
        let alice = alice.connect("http://agent").await.unwrap();
        assert!(alice.send_text("go").await.is_ok());
    })
    .await;
}

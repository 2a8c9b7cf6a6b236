//! Whose tasks a caller sees: to all others they are what does not exist.

use a2a_client::{Client, Error};
use a2a_proto::v1::{
    AgentCapabilities, AgentCard, CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message,
    SubscribeToTaskRequest, Task, TaskState,
};
use a2a_proto::{Binding, ErrorCode};
use a2a_server::auth::BearerTokens;
use a2a_server::{
    Agent, AgentBuilder, CallContext, EventSink, ExecutionContext, Principal, Server, executor_fn,
};

use crate::harness::*;

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

/// Each caller's token is its name.
fn tokens() -> BearerTokens {
    let names = ["alice", "bob", "nobody"];
    BearerTokens::new(names.map(|name| (name, Principal::named(name))))
}

/// Asks; on the answer it says how many messages it knows of the context's earlier tasks.
fn asks() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            if cx.task().is_some() {
                let earlier = cx.conversation(100).await?.len();
                return Ok(out.reply(format!("{earlier} before")).await?);
            }
            Ok(out.input_required(Message::agent("which?")).await?)
        },
    ))
    .authenticator(tokens())
}

async fn caller(server: &Server, binding: Binding, name: &str, tenant: &str) -> Client {
    Client::builder()
        .prefer([binding])
        .header("authorization", format!("Bearer {name}"))
        .tenant(tenant)
        .connect(format!("http://{}", server.local_addr()))
        .await
        .unwrap()
}

async fn run(client: &Client, message: Message) -> Result<Task, Error> {
    let response = client.send_message(request(message)).await?;
    Ok(response.into_task().expect("a task"))
}

fn to(task: &Task, text: &str) -> Message {
    Message {
        task_id: task.id.clone(),
        ..Message::user(text)
    }
}

/// What each operation on a task says of it, with its id taken out.
async fn told_of(client: &Client, id: &str) -> Vec<String> {
    let task = Task {
        id: id.to_owned(),
        ..Task::default()
    };
    let get = GetTaskRequest {
        id: id.to_owned(),
        ..Default::default()
    };
    let cancel = CancelTaskRequest {
        id: id.to_owned(),
        ..Default::default()
    };
    let subscribe = SubscribeToTaskRequest {
        id: id.to_owned(),
        ..Default::default()
    };
    let mut answers = vec![
        client.get_task(get).await.unwrap_err(),
        client.cancel_task(cancel).await.unwrap_err(),
        run(client, to(&task, "let me in")).await.unwrap_err(),
    ];
    let streams = [
        client.subscribe_to_task(subscribe).await,
        client
            .send_streaming_message(request(to(&task, "let me in")))
            .await,
    ];
    for stream in streams {
        answers.push(match stream {
            Err(error) => error,
            Ok(mut events) => events.next().await.expect("a frame").unwrap_err(),
        });
    }
    let told = answers.iter().map(|error| {
        let error = error.protocol().expect("the agent's error");
        assert_eq!(error.code(), ErrorCode::TaskNotFound);
        format!("{error:?}").replace(id, "ID")
    });
    told.collect()
}

#[tokio::test]
async fn sec_05_sec_06_get_02_list_01_a_foreign_task_is_one_that_does_not_exist() {
    within(async {
        let server = asks().bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let alice = caller(&server, binding, "alice", "").await;
            let bob = caller(&server, binding, "bob", "").await;
            let task = run(&alice, Message::user("mine")).await.unwrap();
            let unknown = told_of(&bob, "00000000-0000-0000-0000-000000000000").await;
            assert_eq!(told_of(&bob, &task.id).await, unknown, "{binding}");
            let of_context = ListTasksRequest {
                context_id: task.context_id.clone(),
                ..Default::default()
            };
            for listed in [of_context, ListTasksRequest::default()] {
                let page = bob.list_tasks(listed).await.unwrap();
                assert_eq!((page.total_size, page.tasks.len()), (0, 0), "{binding}");
            }
            let done = run(&alice, to(&task, "that")).await.unwrap();
            assert_state(&done, TaskState::Completed);
        }
    })
    .await;
}

#[tokio::test]
async fn sec_14_a_foreign_context_is_an_empty_one_of_ones_own() {
    within(async {
        let server = asks().bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let alice = caller(&server, binding, "alice", "").await;
            let bob = caller(&server, binding, "bob", "").await;
            let hers = run(&alice, Message::user("mine")).await.unwrap();
            let guessed = Message {
                context_id: hers.context_id.clone(),
                ..Message::user("what do you know?")
            };
            let his = run(&bob, guessed).await.unwrap();
            let told = run(&bob, to(&his, "tell me")).await.unwrap();
            assert_eq!(told.artifact_text(), "0 before", "{binding}");
            let of_context = ListTasksRequest {
                context_id: hers.context_id.clone(),
                ..Default::default()
            };
            let page = alice.list_tasks(of_context).await.unwrap();
            let ids: Vec<&str> = page.tasks.iter().map(|task| task.id.as_str()).collect();
            assert_eq!(ids, [hers.id.as_str()], "{binding}");
        }
    })
    .await;
}

#[tokio::test]
async fn ten_04_a_task_belongs_to_its_tenant() {
    within(async {
        let server = asks().bind("127.0.0.1:0").await.unwrap();
        for binding in BINDINGS {
            let north = caller(&server, binding, "alice", "acme/north").await;
            let task = run(&north, Message::user("mine")).await.unwrap();
            for other in ["acme/south", "acme", ""] {
                let elsewhere = caller(&server, binding, "alice", other).await;
                let unknown = told_of(&elsewhere, "00000000-0000-0000-0000-000000000000").await;
                assert_eq!(told_of(&elsewhere, &task.id).await, unknown, "{binding}");
                let page = elsewhere
                    .list_tasks(ListTasksRequest::default())
                    .await
                    .unwrap();
                assert_eq!(page.total_size, 0, "{binding} {other}");
            }
            assert_eq!(north.get_task(task.id.as_str()).await.unwrap().id, task.id);
        }
    })
    .await;
}

#[tokio::test]
async fn ext_card_03_ext_card_05_each_caller_sees_a_card_of_its_own_or_none() {
    within(async {
        let server = asks()
            .extended_card(|cx: &CallContext| match cx.principal().name() {
                Some("nobody") => None,
                name => Some(AgentCard {
                    name: format!("for {}", name.unwrap_or_default()),
                    capabilities: Some(AgentCapabilities::default()),
                    ..AgentCard::default()
                }),
            })
            .bind("127.0.0.1:0")
            .await
            .unwrap();
        for binding in BINDINGS {
            for name in ["alice", "bob"] {
                let client = caller(&server, binding, name, "").await;
                let card = client.get_extended_agent_card().await.unwrap();
                assert_eq!(card.name, format!("for {name}"), "{binding}");
            }
            let nobody = caller(&server, binding, "nobody", "").await;
            let error = nobody.get_extended_agent_card().await.unwrap_err();
            let code = error.protocol().map(a2a_proto::A2aError::code);
            assert_eq!(code, Some(ErrorCode::ExtendedAgentCardNotConfigured));
        }
    })
    .await;
}

//! Sessions: whose they are, which process serves them, and what a cold boot leaves (kagent contract 1.6, 1.8, 11.1).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, TaskState};
use a2a_server::executor_fn;
use a2a_server::testing::Script;
use kagent_ext::byo::Byo;
use kagent_ext::caller::Caller;
use kagent_ext::testing::{Controller, ShareAccess};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::{answer, send};
use crate::harness::within;

fn as_user(client: &a2a_client::Client, user: &'static str) -> a2a_client::Client {
    client.with_header(
        http::HeaderName::from_static("x-user-id"),
        http::HeaderValue::from_static(user),
    )
}

fn with_share(client: &a2a_client::Client, token: &str) -> a2a_client::Client {
    client.with_header(
        http::HeaderName::from_static("x-share-token"),
        token.parse().unwrap(),
    )
}

#[tokio::test]
async fn who_has_a_share_answers_the_pause_that_another_raised() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        kagent.run(|_| {
            Byo::new(executor_fn(|cx, out| async move {
                match cx.task().is_some() {
                    true => out.reply(format!("by {}", Caller::of(&cx).user())).await?,
                    false => out.input_required("which one?").await?,
                }
                Ok(())
            }))
        });
        let ada = as_user(&kagent.client(), "ada");
        let paused = send(&ada, Message::user("go")).await.unwrap();
        let bob = as_user(&kagent.client(), "bob");
        let refused = send(&bob, answer(&paused, "this")).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::TaskNotFound));

        let reading = kagent.share(&paused.context_id, ShareAccess::ReadOnly);
        let reader = with_share(&bob, &reading);
        assert_eq!(
            reader.get_task(paused.id.as_str()).await.unwrap().id,
            paused.id
        );
        let refused = send(&reader, answer(&paused, "this")).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::PermissionDenied));

        let writing = kagent.share(&paused.context_id, ShareAccess::ReadWrite);
        let done = send(&with_share(&bob, &writing), answer(&paused, "this"))
            .await
            .unwrap();
        assert_eq!(done.state(), TaskState::Completed);
        assert_eq!(done.artifacts[0].text(), "by bob");
    })
    .await;
}

#[tokio::test]
async fn a_pause_is_answered_by_a_process_that_did_not_raise_it() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        kagent.run(|_| {
            Byo::new(executor_fn(|cx, out| async move {
                match cx.task() {
                    Some(task) => {
                        let asked = task.history.first().map(Message::text).unwrap_or_default();
                        out.reply(format!("{asked}: {}", cx.message().text()))
                            .await?;
                    }
                    None => out.input_required("which one?").await?,
                }
                Ok(())
            }))
        });
        let client = kagent.client();
        let paused = send(&client, Message::user("paint")).await.unwrap();
        kagent.cold_boot(&paused.context_id).await;
        let done = send(&client, answer(&paused, "blue")).await.unwrap();
        assert_eq!(done.artifacts[0].text(), "paint: blue");
    })
    .await;
}

#[tokio::test]
async fn the_conversation_is_known_to_a_process_that_was_not_there() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        kagent.run(|_| {
            Byo::new(executor_fn(|cx, out| async move {
                let said = cx.conversation(10).await?;
                let said: Vec<String> = said.iter().map(Message::text).collect();
                out.reply(format!("[{}]", said.join(", "))).await?;
                Ok(())
            }))
        });
        let client = kagent.client();
        let first = send(&client, Message::user("one")).await.unwrap();
        let mut replies = vec![first.text()];
        for word in ["two", "three"] {
            kagent.cold_boot(&first.context_id).await;
            let message = Message::user(word).with_context_id(&first.context_id);
            replies.push(send(&client, message).await.unwrap().text());
        }
        assert_eq!(replies, ["[]", "[one, []]", "[one, [], two, [one, []]]"]);
    })
    .await;
}

#[tokio::test]
async fn the_session_is_read_anew_for_each_message() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        let first = kagent.new_session("admin@kagent.dev");
        let environment = kagent.environment(&first).await.unwrap();
        let directory = crate::harness::Directory::new();
        let identity = directory.path().join("name");
        let agent = Byo::new(executor_fn(|_, out| async move {
            out.reply("done").await?;
            Ok(())
        }))
        .environment(environment.with_identity_file(&identity))
        .listen("127.0.0.1:0")
        .readiness_port(0)
        .bind()
        .await
        .unwrap();
        kagent.attach(format!("http://{}", agent.local_addr()), &identity);
        let client = kagent.client();
        let mut contexts = Vec::new();
        for _ in 0..2 {
            let task = send(&client, Message::user("go")).await.unwrap();
            contexts.push(task.context_id);
        }
        assert_ne!(contexts[0], contexts[1]);
        let sessions: Vec<String> = kagent
            .calls()
            .into_iter()
            .filter(|call| call.task.is_some())
            .map(|call| call.session_id)
            .collect();
        assert_eq!(sessions.first(), contexts.first());
        assert_eq!(sessions.last(), contexts.last());

        std::fs::write(&identity, "ai-something-else").unwrap();
        let direct = a2a_client::Client::builder()
            .from_endpoint(
                a2a_client::Binding::Grpc,
                format!("http://{}", agent.local_addr()),
            )
            .unwrap();
        kagent.forget_calls();
        let error = send(&direct, Message::user("go")).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::Internal));
        assert!(kagent.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn no_connection_to_the_controller_outlives_a_boundary() {
    within(async {
        let kagent = Controller::start().await.unwrap();
        let session = kagent.new_session("admin@kagent.dev");
        let between = Forwarder::to(kagent.local_addr()).await;
        let config = serde_json::json!({"runtime": {
            "name": "agent", "namespace": "default",
            "control_plane_url": between.url, "gateway_url": between.url,
        }});
        let environment = kagent.environment(&session).await.unwrap();
        let agent = Byo::new(Script::new().reply("one").then().reply("two"))
            .environment(environment.with_var("KAGENT_CONFIG_JSON", config.to_string()))
            .listen("127.0.0.1:0")
            .readiness_port(0)
            .bind()
            .await
            .unwrap();
        // Nothing is dialled at the start: a snapshot of the fresh process would hold it.
        assert_eq!(between.accepted.load(Ordering::SeqCst), 0);
        let client = a2a_client::Client::builder()
            .from_endpoint(
                a2a_client::Binding::Grpc,
                format!("http://{}", agent.local_addr()),
            )
            .unwrap();
        for round in 1..=2 {
            let message = Message::user("go").with_context_id(&session);
            send(&client, message).await.unwrap();
            let closed = between.closed.acquire().await.unwrap();
            closed.forget();
            assert_eq!(between.accepted.load(Ordering::SeqCst), round);
        }
    })
    .await;
}

/// Stands between an agent and the controller, and counts.
struct Forwarder {
    url: String,
    accepted: Arc<AtomicUsize>,
    /// One permit for each connection that has been closed.
    closed: Arc<Semaphore>,
    _task: tokio::task::JoinSet<()>,
}

impl Forwarder {
    async fn to(controller: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (accepted, closed) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let (counted, told) = (Arc::clone(&accepted), Arc::clone(&closed));
        let mut task = tokio::task::JoinSet::new();
        task.spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (mut from, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let told = Arc::clone(&told);
                connections.spawn(async move {
                    let mut to = TcpStream::connect(controller).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                    told.add_permits(1);
                });
            }
        });
        Self {
            url,
            accepted,
            closed,
            _task: task,
        }
    }
}

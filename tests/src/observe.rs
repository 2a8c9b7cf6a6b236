//! What an observer is told: in order, in pairs, and whatever goes wrong.

use std::sync::{Arc, Mutex};

use a2a_client::Client;
use a2a_proto::v1::TaskState;
use a2a_proto::{Binding, ErrorCode, Method};
use a2a_server::auth::BearerTokens;
use a2a_server::{Agent, AgentBuilder, Observation, Observer, Principal, Server, executor_fn};
use tokio::sync::Notify;

use crate::harness::*;

/// Keeps what it is told.
#[derive(Clone, Default)]
struct Notes(Arc<Kept>);

#[derive(Default)]
struct Kept {
    notes: Mutex<Vec<Observation>>,
    more: Notify,
}

impl Observer for Notes {
    fn observe(&self, observation: &Observation) {
        self.0.notes.lock().unwrap().push(observation.clone());
        self.0.more.notify_one();
    }
}

impl Notes {
    /// In short, without calls of the store.
    fn short(&self) -> Vec<String> {
        let notes = self.0.notes.lock().unwrap();
        notes.iter().filter_map(short).collect()
    }

    /// Waits until that was told.
    async fn until(&self, expected: &str) {
        while !self.short().iter().any(|note| note == expected) {
            self.0.more.notified().await;
        }
    }
}

fn short(observation: &Observation) -> Option<String> {
    let name = |method: &Method| method.name();
    Some(match observation {
        Observation::CallBegan { method, .. } => format!("+{}", name(method)),
        Observation::CallEnded { method, error, .. } => format!("-{} {error:?}", name(method)),
        Observation::Refused { error, .. } => format!("refused {error:?}"),
        Observation::StreamBegan { .. } => "+stream".to_owned(),
        Observation::StreamEnded { events, error, .. } => format!("-stream {events} {error:?}"),
        Observation::ExecutionBegan { .. } => "+execution".to_owned(),
        Observation::ExecutionEnded { state, .. } => format!("-execution {state:?}"),
        _ => return None,
    })
}

fn agent(notes: &Notes) -> AgentBuilder {
    Agent::builder(executor_fn(|cx, out| async move {
        match cx.message().text().as_str() {
            "panic" => panic!("boom"),
            "hang" => {
                out.working("on it").await?;
                cx.cancelled().await;
                Ok(())
            }
            text => Ok(out.reply(text).await?),
        }
    }))
    .observer(notes.clone())
}

async fn client(server: &Server, binding: Binding) -> Client {
    let url = format!("http://{}", server.local_addr());
    let builder = Client::builder().prefer([binding]);
    builder.connect(url).await.unwrap()
}

#[tokio::test]
async fn a_call_its_execution_and_its_stream_are_told_in_order() {
    within(async {
        for binding in [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc] {
            let notes = Notes::default();
            let server = agent(&notes).bind("127.0.0.1:0").await.unwrap();
            let client = client(&server, binding).await;
            client.send_text("hi").await.unwrap();
            notes.until("-execution Completed").await;
            notes.until("-SendMessage None").await;
            let told = notes.short();
            assert_eq!(told[..2], ["+SendMessage", "+execution"], "{told:?}");
            assert_eq!(told.len(), 4, "{told:?}");
            client.stream_text("hi").await.unwrap().into_task().await.unwrap();
            notes.until("-SendStreamingMessage None").await;
            notes.until("+stream").await;
            let ended = |notes: &Notes| notes.short().iter().any(|note| note.starts_with("-stream"));
            while !ended(&notes) {
                notes.0.more.notified().await;
            }
            let binding_of = |observation: &Observation| match observation {
                Observation::CallBegan { binding, .. } => Some(*binding),
                _ => None,
            };
            let notes = notes.0.notes.lock().unwrap();
            assert!(notes.iter().filter_map(binding_of).all(|found| found == binding));
            let stored = |wanted: &str| {
                notes.iter().any(|note| matches!(note, Observation::StoreCalled { operation, failed: false, .. } if *operation == wanted))
            };
            assert!(stored("create") && stored("update"));
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_refused_is_told_with_its_reason() {
    within(async {
        let notes = Notes::default();
        let tokens = BearerTokens::new([("secret", Principal::named("ann"))]);
        let server = agent(&notes)
            .authenticator(tokens)
            .bind("127.0.0.1:0")
            .await
            .unwrap();
        let stranger = client(&server, Binding::JsonRpc).await;
        stranger.get_task("t").await.unwrap_err();
        assert_eq!(notes.short(), ["refused Unauthenticated"]);
        let url = format!("http://{}", server.local_addr());
        let builder = Client::builder()
            .prefer([Binding::HttpJson])
            .bearer("secret");
        let known = builder.connect(url).await.unwrap();
        known.get_task("none").await.unwrap_err();
        known
            .send_message(request(a2a_proto::v1::Message::default()))
            .await
            .unwrap_err();
        let told = notes.short().split_off(1);
        let code = |code: ErrorCode| format!("Some({code:?})");
        assert_eq!(
            told,
            [
                "+GetTask".to_owned(),
                format!("-GetTask {}", code(ErrorCode::TaskNotFound)),
                "+SendMessage".to_owned(),
                format!("-SendMessage {}", code(ErrorCode::InvalidParams)),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_reader_that_leaves_and_an_executor_that_panics_end_what_they_began() {
    within(async {
        let notes = Notes::default();
        let server = agent(&notes).bind("127.0.0.1:0").await.unwrap();
        let client = client(&server, Binding::JsonRpc).await;
        let mut stream = client.stream_text("hang").await.unwrap();
        let id = first_task(stream.next().await.unwrap().unwrap()).id;
        stream.next().await.unwrap().unwrap();
        drop(stream);
        notes.until("-stream 2 None").await;
        client.cancel_task(id.as_str()).await.unwrap();
        notes.until("-execution Canceled").await;
        let failed = client
            .send_text("panic")
            .await
            .unwrap()
            .into_task()
            .unwrap();
        assert_state(&failed, TaskState::Failed);
        notes.until("-execution Failed").await;
        let told = notes.short();
        let count = |begin: &str| told.iter().filter(|note| note.starts_with(begin)).count();
        assert_eq!(count("+execution"), count("-execution"), "{told:?}");
        assert_eq!(count("+stream"), count("-stream"), "{told:?}");
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_leaves_is_told_as_a_canceled_call() {
    within(async {
        for binding in [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc] {
            let notes = Notes::default();
            let server = agent(&notes).bind("127.0.0.1:0").await.unwrap();
            let client = client(&server, binding).await;
            let call = client.send_text("hang");
            tokio::select! {
                answer = call => panic!("it was answered: {answer:?}"),
                () = notes.until("+execution") => {}
            }
            // With the future of the call its stream, and on HTTP/1.1 its connection, is gone.
            notes.until("-SendMessage Some(Canceled)").await;
            let told = notes.short();
            let count = |begin: &str| told.iter().filter(|note| note.starts_with(begin)).count();
            assert_eq!(
                (count("+SendMessage"), count("-SendMessage")),
                (1, 1),
                "{told:?}"
            );
            assert_eq!(count("-execution"), 0, "the execution goes on: {told:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_call_of_the_store_that_fails_is_told() {
    within(async {
        for fault in [Fault::Fail, Fault::Panic, Fault::FailAfter] {
            let notes = Notes::default();
            let store = GatedStore::new();
            store.next(Point::Create, fault);
            let agent = agent(&notes).store(store);
            let peer = Via::Direct.serve(agent).await;
            peer.run(ask("hi")).await.unwrap_err();
            let notes = notes.0.notes.lock().unwrap();
            let failed = |note: &Observation| {
                matches!(
                    note,
                    Observation::StoreCalled {
                        operation: "create",
                        failed: true,
                        ..
                    }
                )
            };
            assert_eq!(
                notes.iter().filter(|note| failed(note)).count(),
                1,
                "{fault:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn an_observer_that_panics_hurts_nobody() {
    struct Panics;

    impl Observer for Panics {
        fn observe(&self, _: &Observation) {
            panic!("boom");
        }
    }

    within(async {
        let server = agent(&Notes::default())
            .observer(Panics)
            .bind("127.0.0.1:0")
            .await
            .unwrap();
        for binding in [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc] {
            let client = client(&server, binding).await;
            let task = client.stream_text("hi").await.unwrap().into_task().await;
            assert_state(&task.unwrap(), TaskState::Completed);
        }
    })
    .await;
}

//! What is logged: spans with the names of tasks and operations, and nothing of what is said.
//!
//! A process of its own: which of its places a library logs at is decided once for all threads.
#![cfg(test)]

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a2a_client::Client;
use a2a_proto::v1::{Artifact, GetTaskRequest, Message, Part, SendMessageRequest, TaskState};
use a2a_proto::{Binding, Struct};
use a2a_server::auth::BearerTokens;
use a2a_server::{Agent, AgentBuilder, EventSink, ExecutionContext, Principal, executor_fn};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;

/// What takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(60);

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

/// Part of all that must not be logged.
const SECRET: &str = "cGFzc3dvcmQ";

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Logs all that our crates say on this thread, until the guard is dropped.
    fn start(&self) -> tracing::subscriber::DefaultGuard {
        let ours = ["a2a_proto", "a2a_server", "a2a_client", "kagent_ext"];
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
            .with_writer(self.clone());
        let filter = Targets::new().with_targets(ours.map(|name| (name, LevelFilter::TRACE)));
        tracing::subscriber::set_default(tracing_subscriber::registry().with(layer).with(filter))
    }

    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Says secrets in every place where an agent can say something.
fn telltale() -> AgentBuilder {
    Agent::builder(executor_fn(
        |cx: ExecutionContext, out: EventSink| async move {
            out.working(format!("working {SECRET}")).await?;
            let artifact = Artifact {
                name: format!("name {SECRET}"),
                metadata: Some(Struct::from_iter([("k", SECRET)])),
                ..Artifact::new("a", [Part::text(SECRET), Part::raw(SECRET)])
            };
            out.artifact(artifact).await?;
            match cx.message().text().split(' ').next() {
                Some("fail") => out.fail(SECRET).await?,
                Some("panic") => panic!("a panic without what was said"),
                _ => out.complete().await?,
            }
            Ok(())
        },
    ))
    .authenticator(BearerTokens::new([(SECRET, Principal::named("alice"))]))
}

fn message(verb: &str) -> SendMessageRequest {
    let message = Message {
        metadata: Some(Struct::from_iter([("k", SECRET)])),
        ..Message::user(format!("{verb} {SECRET}"))
    };
    SendMessageRequest {
        metadata: Some(Struct::from_iter([("k", SECRET)])),
        message: Some(message),
        ..Default::default()
    }
}

async fn talk(binding: Binding) {
    let server = telltale().bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://user:{SECRET}@{}", server.local_addr());
    let builder = Client::builder().prefer([binding]);
    let stranger = builder
        .clone()
        .header("authorization", format!("Bearer {SECRET}x"));
    let stranger = stranger.connect(&url).await.unwrap();
    stranger.send_message(message("go")).await.unwrap_err();
    let alice = builder.header("authorization", format!("Bearer {SECRET}"));
    let alice = alice.connect(&url).await.unwrap();
    for (verb, state) in [
        ("go", TaskState::Completed),
        ("fail", TaskState::Failed),
        ("panic", TaskState::Failed),
    ] {
        let task = alice.send_message(message(verb)).await.unwrap();
        assert_eq!(task.into_task().unwrap().state(), state);
    }
    let mut events = alice.send_streaming_message(message("go")).await.unwrap();
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    let unknown = GetTaskRequest {
        id: SECRET.to_owned(),
        ..Default::default()
    };
    alice.get_task(unknown).await.unwrap_err();
    server.shutdown().await;
}

#[tokio::test]
async fn sec_10_nothing_that_is_said_is_logged() {
    for binding in BINDINGS {
        let log = Log::default();
        let guard = log.start();
        tokio::time::timeout(DEADLINE, talk(binding))
            .await
            .expect("the test hangs");
        drop(guard);
        let text = log.text();
        assert!(text.contains("a2a.server") && text.contains("a2a.client"));
        let told: Vec<&str> = text.lines().filter(|line| line.contains(SECRET)).collect();
        assert!(told.is_empty(), "{binding}: {told:#?}");
        executions_have_spans(&text);
    }
}

/// Each with its task and the state that it left.
fn executions_have_spans(text: &str) {
    let ended = |state: &str| {
        let spans = text.lines().filter(|line| {
            line.contains("a2a.execute{")
                && line.contains("close")
                && line.contains(&format!("a2a.task.state=\"{state}\""))
        });
        spans.count()
    };
    let ends = (ended("TASK_STATE_COMPLETED"), ended("TASK_STATE_FAILED"));
    assert_eq!(ends, (2, 2), "{text}");
    for field in [
        "a2a.task.id=",
        "gen_ai.conversation.id=",
        "gen_ai.agent.name=\"agent\"",
        "gen_ai.operation.name=\"invoke_agent\"",
    ] {
        assert!(text.contains(field), "{field}");
    }
}

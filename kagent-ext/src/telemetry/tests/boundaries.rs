use std::sync::Arc;
use std::time::Duration;

use a2a_client::{Binding, Client};
use a2a_proto::v1::{Message, TaskState};
use a2a_server::testing::{Signal, loopback};
use a2a_server::{Agent, BoundaryPolicy, executor_fn};
use futures::FutureExt as _;
use opentelemetry::Context;
use opentelemetry::trace::{SpanBuilder, TraceContextExt as _};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tonic::Code;

use super::collector::{Collector, attributes};
use super::{Peer, send, within};
use crate::config::Environment;
use crate::telemetry::Telemetry;
use crate::testing::{StoreFault, StoreMethod};

const INVOCATION: &str = "invoke_agent my-agent";

#[tokio::test]
async fn everything_is_flushed_before_the_task_is_settled_and_anybody_sees_its_end() {
    within(async {
        let peer = Peer::start(executor_fn(|_, out| async move {
            out.reply("done").await?;
            Ok(())
        }))
        .await;
        peer.collector.hold();
        let (client, message) = (peer.client(), peer.message("go"));
        let mut sent = Box::pin(async move { send(&client, message).await });
        tokio::select! {
            biased;
            _ = &mut sent => panic!("answered before the flush"),
            () = peer.collector.come(1) => {}
        }
        // The collector has all of it and has not yet said so.
        let span = peer.collector.span(INVOCATION);
        assert_eq!(
            attributes(&span.attributes)["a2a.task.state"],
            "TASK_STATE_COMPLETED"
        );
        let trace = peer.kagent.trace();
        assert_eq!(trace.last().unwrap(), "Update(COMPLETED)");
        let spans = peer.collector.spans();
        let saves = spans.iter().filter(|save| save.name == "UpdateTask");
        let saves = saves.filter(|save| save.parent_span_id == span.span_id);
        let updates = trace.iter().filter(|call| call.starts_with("Update("));
        assert_eq!(saves.count(), updates.count());
        assert!((&mut sent).now_or_never().is_none());
        peer.collector.release();
        assert_eq!(sent.await.state(), TaskState::Completed);
        assert_eq!(peer.kagent.trace().last().unwrap(), "Settle");
    })
    .await;
}

#[tokio::test]
async fn a_flush_that_hangs_is_given_up_and_the_task_is_settled() {
    within(async {
        let collector = Collector::start().await;
        collector.hold();
        let telemetry = Telemetry::new().with_flush_time(Duration::from_millis(50));
        let environment =
            Environment::empty().with_var("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        telemetry.start(&environment, None, "agent").unwrap();
        let executor = executor_fn(|_, out| async move {
            out.reply("done").await?;
            Ok(())
        });
        let agent = Agent::builder(telemetry.around(executor))
            .boundary(telemetry.at_boundary(BoundaryPolicy::held()));
        let agent = loopback(agent).await;
        let client = Client::builder()
            .from_endpoint(Binding::Grpc, agent.url())
            .unwrap();
        let task = send(&client, Message::user("go")).await;
        assert_eq!(task.state(), TaskState::Completed);
        // It was begun and has no answer to this moment.
        collector.come(1).await;
    })
    .await;
}

/// Of the timers the flush's own is the first: an export has 10 seconds.
#[tokio::test(start_paused = true)]
async fn a_flush_is_given_up_after_three_seconds() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let telemetry = Telemetry::new();
    let environment = Environment::empty().with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    telemetry.start(&environment, None, "agent").unwrap();
    let running = telemetry.running().unwrap();
    let context = running.span(SpanBuilder::from_name("work"), &Context::new());
    context.span().end();
    let begun = Instant::now();
    running.flusher().flush().await;
    let took = begun.elapsed();
    assert!(
        (Duration::from_secs(3)..Duration::from_secs(4)).contains(&took),
        "{took:?}"
    );
}

#[tokio::test]
async fn a_collector_that_is_not_there_changes_nothing() {
    within(async {
        let collector = Collector::start().await;
        let peer = Peer::start_with(
            executor_fn(|_, out| async move {
                out.reply("done").await?;
                Ok(())
            }),
            collector,
            |environment, _| {
                environment.with_var("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
            },
        )
        .await;
        assert_eq!(peer.send("go").await.state(), TaskState::Completed);
        assert_eq!(peer.kagent.trace().last().unwrap(), "Settle");
    })
    .await;
}

#[tokio::test]
async fn a_save_that_fails_ends_the_invocation() {
    within(async {
        let peer = Peer::start(executor_fn(|_, out: a2a_server::EventSink| async move {
            out.working("on it").await?;
            out.reply("done").await?;
            Ok(())
        }))
        .await;
        peer.kagent.fail(
            StoreMethod::Update,
            StoreFault::Refused(Code::PermissionDenied),
        );
        peer.kagent.fail(
            StoreMethod::Update,
            StoreFault::Refused(Code::PermissionDenied),
        );
        let client = peer.client();
        client.send_message(peer.message("go")).await.unwrap_err();
        let span = peer.collector.until_span(INVOCATION).await;
        let says = attributes(&span.attributes);
        assert_eq!(says["error.type"], "persistence_failure");
        let status = span.status.unwrap();
        assert_eq!(
            (status.code, status.message.as_str()),
            (2, "persistence_failure")
        );
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_stops_sends_what_is_open_last() {
    within(async {
        let started = Arc::new(tokio::sync::Notify::new());
        let begun = Arc::clone(&started);
        let peer = Peer::start(executor_fn(
            move |cx: a2a_server::ExecutionContext, out: a2a_server::EventSink| {
                let begun = Arc::clone(&begun);
                async move {
                    out.working("on it").await?;
                    begun.notify_one();
                    cx.cancelled().await;
                    Ok(())
                }
            },
        ))
        .await;
        let (client, message) = (peer.client(), peer.message("go"));
        let sent = tokio::spawn(async move { client.send_message(message).await });
        started.notified().await;
        peer.server.shutdown().await;
        let span = peer.collector.span(INVOCATION);
        let says = attributes(&span.attributes);
        assert_eq!(says["kagent.invocation.disposition"], "interrupted");
        let _ = sent.await;
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_leaves_before_anything_is_begun_abandons_its_message() {
    within(async {
        let peer = Peer::start(executor_fn(|_, out: a2a_server::EventSink| async move {
            out.input_required("which one?").await?;
            Ok(())
        }))
        .await;
        let task = peer.send("go").await;
        let before = peer.collector.spans().len();
        let held = Signal::new();
        peer.kagent
            .fail(StoreMethod::Get, StoreFault::Held(held.clone()));
        let answer = Message {
            task_id: task.id.clone(),
            ..peer.message("the second")
        };
        let client = peer.client();
        let sent = tokio::spawn(async move { client.send_message(answer).await });
        held.reached().await;
        let exports = peer.collector.exports();
        sent.abort();
        peer.collector.come(exports + 1).await;
        let spans = peer.collector.spans();
        let [left] = &spans[before..] else {
            panic!("{spans:?}");
        };
        assert_eq!(left.name, INVOCATION);
        let says = attributes(&left.attributes);
        assert_eq!(says["kagent.invocation.disposition"], "abandoned");
        assert_eq!(says["a2a.task.id"], task.id);
        assert_eq!(says["a2a.method"], "SendMessage");
    })
    .await;
}

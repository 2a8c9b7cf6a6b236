use std::sync::{Arc, Mutex};

use a2a_proto::A2aError;
use a2a_proto::v1::{CancelTaskRequest, Message, TaskState};
use a2a_server::{AgentError, EventSink, ExecutionContext, executor_fn};
use http::HeaderMap;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use tokio::sync::Notify;

use super::collector::attributes;
use super::metrics::assert_metrics;
use super::{Peer, send, within};
use crate::caller::{Caller, HeaderPolicy};
use crate::telemetry::{ErrorType, ExecutionTelemetry as _, ModelUsage};
use crate::usage::TokenCounts;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const INVOCATION: &str = "invoke_agent my-agent";

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn get(span: &Span, name: &str) -> Option<String> {
    attributes(&span.attributes).remove(name)
}

fn status(span: &Span) -> (i32, String) {
    let status = span.status.clone().unwrap_or_default();
    (status.code, status.message)
}

const ERROR: i32 = 2;

#[tokio::test]
async fn an_execution_is_a_span_below_that_of_its_caller() {
    within(async {
        let peer = Peer::start(executor_fn(|_, out| async move {
            out.reply("done").await?;
            Ok(())
        }))
        .await;
        let client = peer.client_with([("traceparent", TRACEPARENT), ("tracestate", "vendor=1")]);
        let task = send(&client, peer.message("go")).await;
        let span = peer.collector.span(INVOCATION);
        assert_eq!(hex(&span.trace_id), TRACE);
        assert_eq!(hex(&span.parent_span_id), PARENT);
        assert_eq!(span.trace_state, "vendor=1");
        assert_eq!(span.kind(), SpanKind::Internal);
        assert_eq!(status(&span), (0, String::new()));
        let found = attributes(&span.attributes);
        let found: Vec<_> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("a2a.method", "SendMessage"),
                ("a2a.task.id", task.id.as_str()),
                ("a2a.task.state", "TASK_STATE_COMPLETED"),
                ("enduser.id", "ada"),
                ("gen_ai.agent.id", "team-a/my-agent"),
                ("gen_ai.agent.name", "my-agent"),
                ("gen_ai.conversation.id", peer.session.as_str()),
                ("gen_ai.operation.name", "invoke_agent"),
                ("kagent.invocation.segment", "initial"),
            ]
        );
        let schema = "https://opentelemetry.io/schemas/1.43.0".to_owned();
        for scope in peer.collector.scopes() {
            assert_eq!(scope, ("kagent-ext".to_owned(), schema.clone()));
        }
    })
    .await;
}

#[tokio::test]
async fn only_sends_have_spans() {
    within(async {
        let peer = Peer::start(executor_fn(|_, out| async move {
            out.reply("done").await?;
            Ok(())
        }))
        .await;
        let task = peer.send("go").await;
        let before = peer.collector.spans().len();
        let client = peer.client();
        client.get_task(task.id.clone()).await.unwrap();
        peer.look_around().await;
        peer.server.shutdown().await;
        assert_eq!(peer.collector.spans().len(), before);
    })
    .await;
}

#[tokio::test]
async fn tools_and_models_are_spans_below_and_are_counted() {
    within(async {
        let peer = Peer::start(executor_fn(
            |cx: ExecutionContext, out: EventSink| async move {
                let mut call = cx.model_call("gpt-4o");
                let tool = call.run(async { cx.tool_call("inner", "c-0") }).await;
                tool.succeeded();
                call.response_model("gpt-4o-mini");
                let counts = TokenCounts::new(300, 60).with_reasoning(40);
                call.usage(ModelUsage {
                    cache_read: Some(10),
                    cache_write: Some(5),
                    ..counts.into()
                });
                call.request_id("r-1");
                call.retries(2);
                call.usage_is_partial();
                call.succeeded();
                cx.tool_call("search", "c-1").failed();
                drop(cx.tool_call("search", "c-2"));
                out.reply("done").await?;
                Ok(())
            },
        ))
        .await;
        let task = peer.send("go").await;
        let collector = &peer.collector;
        let invocation = collector.span(INVOCATION);
        let chat = collector.span("chat gpt-4o");
        assert_eq!(chat.kind(), SpanKind::Client);
        assert_eq!(chat.parent_span_id, invocation.span_id);
        let expected = [
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", "gpt-4o"),
            ("gen_ai.response.model", "gpt-4o-mini"),
            ("gen_ai.usage.input_tokens", "300"),
            ("gen_ai.usage.output_tokens", "100"),
            ("gen_ai.usage.cache_read.input_tokens", "10"),
            ("gen_ai.usage.cache_write.input_tokens", "5"),
            ("gen_ai.usage.reasoning.output_tokens", "40"),
            ("kagent.inference.usage_partial", "true"),
            ("kagent.inference.request_id", "r-1"),
            ("kagent.inference.retry.count", "2"),
        ];
        for (name, value) in expected {
            assert_eq!(get(&chat, name).as_deref(), Some(value), "{name}");
        }
        let inner = collector.span("execute_tool inner");
        assert_eq!(inner.parent_span_id, chat.span_id);
        assert_eq!(get(&inner, "gen_ai.tool.name").as_deref(), Some("inner"));
        assert_eq!(get(&inner, "gen_ai.tool.call.id").as_deref(), Some("c-0"));
        assert_eq!(get(&inner, "error.type"), None);
        let spans = collector.spans();
        let error_of = |call: &str| {
            let mut spans = spans.iter();
            let span = spans.find(|span| get(span, "gen_ai.tool.call.id").as_deref() == Some(call));
            get(span.unwrap(), "error.type")
        };
        assert_eq!(error_of("c-1").as_deref(), Some("tool_error"));
        assert_eq!(error_of("c-2").as_deref(), Some("unfinished"));
        for span in &spans {
            let says = |name| get(span, name);
            assert_eq!(
                says("a2a.task.id").as_ref(),
                Some(&task.id),
                "{}",
                span.name
            );
            assert_eq!(says("gen_ai.conversation.id").as_ref(), Some(&peer.session));
            assert_eq!(says("enduser.id").as_deref(), Some("ada"));
        }
        assert_metrics(&peer);
    })
    .await;
}

/// Ends as its message asks.
async fn ending(cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
    match cx.message().text().as_str() {
        "panic" => panic!("as asked"),
        "private" => return Err("a secret".into()),
        "public" => return Err(AgentError::public("out of quota")),
        "params" => return Err(A2aError::invalid_params("no such city").into()),
        "fail" => out.fail("it did not work").await?,
        "reject" => out.reject("no").await?,
        "told" => {
            cx.fails_with(ErrorType::TransportError, Some("the model is away"));
            return Err("a secret".into());
        }
        _ => {}
    }
    Ok(())
}

#[tokio::test]
async fn an_invocation_says_why_it_failed() {
    within(async {
        let table = [
            ("panic", Some("runtime_panic"), "runtime_panic"),
            ("private", Some("runtime_error"), "runtime_error"),
            (
                "public",
                Some("runtime_error"),
                "runtime_error: out of quota",
            ),
            (
                "params",
                Some("invalid_request"),
                "invalid_request: no such city",
            ),
            ("fail", Some("runtime_failure"), "runtime_failure"),
            (
                "nothing",
                Some("invalid_runtime_outcome"),
                "invalid_runtime_outcome",
            ),
            (
                "told",
                Some("transport_error"),
                "transport_error: the model is away",
            ),
            ("reject", None, ""),
        ];
        for (ask, error, text) in table {
            let peer = Peer::start(executor_fn(ending)).await;
            peer.send(ask).await;
            let span = peer.collector.span(INVOCATION);
            assert_eq!(get(&span, "error.type").as_deref(), error, "{ask}");
            let code = if error.is_some() { ERROR } else { 0 };
            assert_eq!(status(&span), (code, text.to_owned()), "{ask}");
            assert_eq!(get(&span, "kagent.invocation.disposition"), None, "{ask}");
            let metrics = peer.collector.metrics();
            let Some(Data::ExponentialHistogram(taken)) =
                &metrics["gen_ai.invoke_agent.duration"].data
            else {
                panic!("no exponential histogram");
            };
            let counted = attributes(&taken.data_points[0].attributes);
            assert_eq!(
                counted.get("error.type").map(String::as_str),
                error,
                "{ask}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_canceled_execution_says_so() {
    within(async {
        let started = Arc::new(Notify::new());
        let begun = Arc::clone(&started);
        let peer = Peer::start(executor_fn(move |cx: ExecutionContext, out: EventSink| {
            let begun = Arc::clone(&begun);
            async move {
                out.working("on it").await?;
                begun.notify_one();
                cx.cancelled().await;
                Ok(())
            }
        }))
        .await;
        let (client, message) = (peer.client(), peer.message("go"));
        let sent = tokio::spawn(async move { send(&client, message).await });
        started.notified().await;
        let id = peer.stored_task();
        let request = CancelTaskRequest {
            id,
            ..CancelTaskRequest::default()
        };
        peer.client().cancel_task(request).await.unwrap();
        assert_eq!(sent.await.unwrap().state(), TaskState::Canceled);
        let span = peer.collector.span(INVOCATION);
        let says = |name| get(&span, name);
        assert_eq!(
            says("kagent.invocation.disposition").as_deref(),
            Some("canceled")
        );
        assert_eq!(
            says("a2a.task.state").as_deref(),
            Some("TASK_STATE_CANCELED")
        );
        assert_eq!((says("error.type"), status(&span).0), (None, 0));
    })
    .await;
}

impl Peer {
    /// The task that the controller was told of.
    fn stored_task(&self) -> String {
        let calls = self.kagent.calls();
        let mut tasks = calls.iter().filter_map(|call| call.task.clone());
        tasks.next().unwrap().id.clone()
    }
}

#[tokio::test]
async fn a_resumed_turn_is_linked_with_the_one_that_paused() {
    within(async {
        let peer = Peer::start(executor_fn(
            |cx: ExecutionContext, out: EventSink| async move {
                match cx.task() {
                    None => out.input_required("which one?").await?,
                    Some(_) => out.reply("that one").await?,
                }
                Ok(())
            },
        ))
        .await;
        let task = peer.send("go").await;
        assert_eq!(task.state(), TaskState::InputRequired);
        let paused = peer.collector.span(INVOCATION);
        let state = get(&paused, "a2a.task.state");
        assert_eq!(state.as_deref(), Some("TASK_STATE_INPUT_REQUIRED"));
        assert_eq!(status(&paused).0, 0);
        let answer = Message {
            task_id: task.id.clone(),
            ..peer.message("the second")
        };
        send(&peer.client(), answer).await;
        let spans = peer.collector.spans();
        let mut resumed = spans
            .iter()
            .filter(|span| span.name == INVOCATION && span.span_id != paused.span_id);
        let resumed = resumed.next().unwrap();
        let segment = get(resumed, "kagent.invocation.segment");
        assert_eq!(segment.as_deref(), Some("resumed"));
        let [link] = &resumed.links[..] else {
            panic!("{:?}", resumed.links);
        };
        assert_eq!(
            (&link.span_id, &link.trace_id),
            (&paused.span_id, &paused.trace_id)
        );
        let relationship = &attributes(&link.attributes)["kagent.invocation.relationship"];
        assert_eq!(relationship, "resume_origin");
        assert!(paused.links.is_empty());
    })
    .await;
}

#[tokio::test]
async fn calls_that_an_agent_makes_name_the_current_span() {
    within(async {
        let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
        let kept = Arc::clone(&seen);
        let peer = Peer::start(executor_fn(move |cx: ExecutionContext, out: EventSink| {
            let kept = Arc::clone(&kept);
            async move {
                let caller = Caller::of(&cx);
                let policy = HeaderPolicy::new();
                let outside = caller.outgoing_headers(&policy);
                let call = cx.tool_call("search", "c");
                let inside = call.run(async { caller.outgoing_headers(&policy) }).await;
                call.succeeded();
                let elsewhere = tokio::spawn(async move { caller.outgoing_headers(&policy) });
                let elsewhere = elsewhere.await?;
                kept.lock().unwrap().extend([outside, inside, elsewhere]);
                out.reply("done").await?;
                Ok(())
            }
        }))
        .await;
        let client = peer.client_with([("traceparent", TRACEPARENT), ("tracestate", "vendor=1")]);
        send(&client, peer.message("go")).await;
        let span = |name| hex(&peer.collector.span(name).span_id);
        let (invocation, tool) = (span(INVOCATION), span("execute_tool search"));
        let expected = [&invocation, &tool, &invocation].map(|id| format!("00-{TRACE}-{id}-01"));
        let seen = seen.lock().unwrap();
        for (headers, expected) in seen.iter().zip(expected) {
            assert_eq!(headers["traceparent"], expected);
            assert_eq!(headers["tracestate"], "vendor=1");
        }
        assert_eq!(seen.len(), 3);
    })
    .await;
}

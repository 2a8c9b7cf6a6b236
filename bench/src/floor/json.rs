//! JSON-RPC and HTTP+JSON by axum and plain derives of serde.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::{HeaderValue, Response};
use axum::routing::{get, post};
use futures::{StreamExt as _, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use super::{ID, TIME};
use crate::Result;
use crate::load::Order;

#[derive(Deserialize)]
struct Request {
    id: serde_json::Value,
    method: String,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    message: Option<Message>,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    role: String,
    parts: Vec<Part>,
}

#[derive(Clone, Deserialize, Serialize)]
struct Part {
    text: String,
}

#[derive(Serialize)]
struct Answer<'a, T> {
    jsonrpc: &'static str,
    id: &'a serde_json::Value,
    result: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Event {
    Task(Task),
    StatusUpdate(StatusUpdate),
    ArtifactUpdate(ArtifactUpdate),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    id: String,
    context_id: String,
    status: Status,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<Message>,
}

#[derive(Serialize)]
struct Status {
    state: &'static str,
    timestamp: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    artifact_id: String,
    parts: Vec<Part>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate {
    task_id: String,
    context_id: String,
    status: Status,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate {
    task_id: String,
    context_id: String,
    artifact: Artifact,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    append: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    last_chunk: bool,
}

pub(super) async fn serve() -> Result<String> {
    let router = Router::new()
        .route("/", post(rpc))
        .route("/message:send", post(send))
        .route("/message:stream", post(stream_rest))
        .route("/tasks/{id}", get(task));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(format!("http://{address}"))
}

async fn rpc(body: Bytes) -> Response<Body> {
    let Ok(request) = serde_json::from_slice::<Request>(&body) else {
        return Response::new(Body::empty());
    };
    let message = request.params.message;
    match (request.method.as_str(), message) {
        ("SendMessage", Some(message)) => {
            let result = Event::Task(done(message));
            whole(&Answer {
                jsonrpc: "2.0",
                id: &request.id,
                result,
            })
        }
        ("SendStreamingMessage" | "SubscribeToTask", Some(message)) => {
            let id = request.id;
            events(message, move |event| {
                serde_json::to_vec(&Answer {
                    jsonrpc: "2.0",
                    id: &id,
                    result: event,
                })
            })
        }
        _ => {
            let result = stored();
            whole(&Answer {
                jsonrpc: "2.0",
                id: &request.id,
                result,
            })
        }
    }
}

async fn send(body: Bytes) -> Response<Body> {
    match serde_json::from_slice::<Params>(&body) {
        Ok(Params {
            message: Some(message),
        }) => whole(&Event::Task(done(message))),
        _ => Response::new(Body::empty()),
    }
}

async fn stream_rest(body: Bytes) -> Response<Body> {
    match serde_json::from_slice::<Params>(&body) {
        Ok(Params {
            message: Some(message),
        }) => events(message, serde_json::to_vec),
        _ => Response::new(Body::empty()),
    }
}

async fn task(Path(_): Path<String>) -> Response<Body> {
    whole(stored())
}

fn whole(value: &impl Serialize) -> Response<Body> {
    let mut response = Response::new(Body::from(serde_json::to_vec(value).unwrap_or_default()));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Frames that are made one by one as they are sent.
fn events(
    message: Message,
    print: impl Fn(&Event) -> serde_json::Result<Vec<u8>> + Send + 'static,
) -> Response<Body> {
    let text = text_of(&message);
    let (count, ends) = match Order::read(&text) {
        Order::Stream(count) | Order::Gated(count) => (count, true),
        Order::Idle => (0, false),
        _ => (1, true),
    };
    let first = stream::iter([Event::Task(submitted(message))]);
    let chunks = stream::iter(0..count).map(|index| chunk("token ", index > 0, false));
    let last =
        stream::iter(ends.then(|| [chunk("", true, true), Event::StatusUpdate(completed())]))
            .flat_map(stream::iter);
    let rest = stream::iter((!ends).then_some(())).then(|()| futures::future::pending::<Event>());
    let frames = first
        .chain(chunks)
        .chain(last)
        .chain(rest)
        .map(move |event| {
            let mut frame = b"data: ".to_vec();
            frame.extend(print(&event).unwrap_or_default());
            frame.extend(b"\n\n");
            Ok::<_, Infallible>(frame)
        });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn text_of(message: &Message) -> String {
    message
        .parts
        .iter()
        .map(|part| part.text.as_str())
        .collect()
}

fn submitted(message: Message) -> Task {
    Task {
        id: ID.to_owned(),
        context_id: ID.to_owned(),
        status: status("TASK_STATE_SUBMITTED"),
        artifacts: Vec::new(),
        history: vec![filled(message)],
    }
}

fn done(message: Message) -> Task {
    let text = text_of(&message);
    let artifacts = match Order::read(&text) {
        Order::Echo(text) => vec![artifact(vec![text.to_owned()])],
        Order::Stream(count) => {
            let mut chunks = vec!["token ".to_owned(); count];
            chunks.push(String::new());
            vec![artifact(chunks)]
        }
        Order::Artifacts(count) => (0..count).map(|_| artifact(vec!["x".repeat(64)])).collect(),
        _ => Vec::new(),
    };
    Task {
        id: ID.to_owned(),
        context_id: ID.to_owned(),
        status: status("TASK_STATE_COMPLETED"),
        artifacts,
        history: vec![filled(message)],
    }
}

/// A task with a hundred artifacts, made once.
fn stored() -> &'static Task {
    static STORED: LazyLock<Task> = LazyLock::new(a_hundred);
    &STORED
}

fn a_hundred() -> Task {
    let message = Message {
        message_id: ID.to_owned(),
        context_id: None,
        task_id: None,
        role: "ROLE_USER".to_owned(),
        parts: vec![Part {
            text: "artifacts 100".to_owned(),
        }],
    };
    done(message)
}

fn filled(message: Message) -> Message {
    Message {
        context_id: Some(ID.to_owned()),
        task_id: Some(ID.to_owned()),
        ..message
    }
}

fn status(state: &'static str) -> Status {
    Status {
        state,
        timestamp: TIME.to_owned(),
    }
}

fn artifact(texts: Vec<String>) -> Artifact {
    Artifact {
        artifact_id: ID.to_owned(),
        parts: texts.into_iter().map(|text| Part { text }).collect(),
    }
}

fn chunk(text: &str, append: bool, last_chunk: bool) -> Event {
    Event::ArtifactUpdate(ArtifactUpdate {
        task_id: ID.to_owned(),
        context_id: ID.to_owned(),
        artifact: artifact(vec![text.to_owned()]),
        append,
        last_chunk,
    })
}

fn completed() -> StatusUpdate {
    StatusUpdate {
        task_id: ID.to_owned(),
        context_id: ID.to_owned(),
        status: status("TASK_STATE_COMPLETED"),
    }
}

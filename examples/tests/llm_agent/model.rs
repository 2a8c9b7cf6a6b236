//! A model that says what a test has written, by the protocol of OpenAI's chat completions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// One answer, event by event.
pub(crate) struct Reply {
    events: Vec<Value>,
    /// It never ends.
    holds: bool,
}

pub(crate) struct ScriptedModel {
    url: String,
    script: Arc<Script>,
    _server: JoinSet<()>,
}

struct Script {
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Value>>,
    let_go: Arc<Semaphore>,
}

/// What each answer says that it used.
pub(crate) const TOKENS: u64 = 15;

/// Says a text in these pieces.
pub(crate) fn says(pieces: impl IntoIterator<Item = &'static str>) -> Reply {
    let pieces = pieces
        .into_iter()
        .map(|piece| delta(json!({"content": piece})));
    Reply {
        events: pieces.chain([usage()]).collect(),
        holds: false,
    }
}

/// Says a piece and goes on for ever.
pub(crate) fn says_and_holds(piece: &'static str) -> Reply {
    Reply {
        events: vec![delta(json!({"content": piece}))],
        holds: true,
    }
}

/// A call of a tool.
pub(crate) fn call(id: &str, name: &str, arguments: Value) -> (String, String, Value) {
    (id.to_owned(), name.to_owned(), arguments)
}

/// Asks for tools, and cuts their arguments in two as models do.
pub(crate) fn calls(calls: impl IntoIterator<Item = (String, String, Value)>) -> Reply {
    let mut events = Vec::new();
    for (index, (id, name, arguments)) in calls.into_iter().enumerate() {
        let arguments = arguments.to_string();
        let (begin, end) = arguments.split_at(arguments.len() / 2);
        let function = json!({"name": name, "arguments": begin});
        events.push(delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})));
        events.push(delta(
            json!({"tool_calls": [{"index": index, "function": {"arguments": end}}]}),
        ));
    }
    events.push(usage());
    Reply {
        events,
        holds: false,
    }
}

fn delta(delta: Value) -> Value {
    json!({"model": "small-2026", "choices": [{"index": 0, "delta": delta}]})
}

fn usage() -> Value {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": TOKENS});
    json!({"model": "small-2026", "choices": [], "usage": usage})
}

impl ScriptedModel {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let script = Arc::new(Script {
            replies: Mutex::new(replies.into()),
            requests: Mutex::default(),
            let_go: Arc::new(Semaphore::new(0)),
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(Arc::clone(&script));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            script,
            _server: server,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The bodies of the requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.script.requests.lock().unwrap().clone()
    }

    /// Waits until an answer was given up by its reader.
    pub(crate) async fn let_go(&self) {
        self.script.let_go.acquire().await.unwrap().forget();
    }
}

async fn answer(
    State(script): State<Arc<Script>>,
    headers: axum::http::HeaderMap,
    body: Bytes,
) -> Response {
    assert_eq!(headers["authorization"], "Bearer not-a-real-key");
    let request: Value = serde_json::from_slice(&body).unwrap();
    let number = {
        let mut requests = script.requests.lock().unwrap();
        requests.push(request);
        requests.len()
    };
    let reply = script
        .replies
        .lock()
        .unwrap()
        .pop_front()
        .expect("the script has ended");
    let mut lines: Vec<String> = reply
        .events
        .into_iter()
        .map(|mut event| {
            event["id"] = format!("reply-{number}").into();
            format!("data: {event}\n\n")
        })
        .collect();
    if !reply.holds {
        lines.push("data: [DONE]\n\n".to_owned());
    }
    let told = TellDrop(Arc::clone(&script.let_go));
    let lines = stream::iter(lines.into_iter().map(Ok::<_, std::convert::Infallible>));
    let body = match reply.holds {
        false => Body::from_stream(lines),
        true => Body::from_stream(lines.chain(stream::once(async move {
            let _told = told;
            std::future::pending().await
        }))),
    };
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

struct TellDrop(Arc<Semaphore>);

impl Drop for TellDrop {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

//! Writes down each request of a client, a line of JSON each.

use std::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use serde_json::{Value, json};

/// No case sends more, and what is larger is not worth a line.
const MOST: usize = 64 << 20;

/// So much of a body is enough to see its form.
pub(super) const SHOWN: usize = 4096;

/// A file that requests are written to on their way to the agent.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<Mutex<File>>);

impl Recorder {
    pub(crate) fn create(path: &str) -> Result<Self, Box<dyn Error>> {
        Ok(Self(Arc::new(Mutex::new(File::create(path)?))))
    }

    /// Puts the recorder before all that the router does.
    pub(crate) fn before(self, router: axum::Router) -> axum::Router {
        router.layer(from_fn_with_state(self, note))
    }

    fn write(&self, line: &Value) {
        if let Ok(mut file) = self.0.lock() {
            let _ = writeln!(file, "{line}");
        }
    }
}

async fn note(State(recorder): State<Recorder>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let headers: Vec<[String; 2]> = head
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            [name.to_string(), value]
        })
        .collect();
    let is_grpc = headers
        .iter()
        .any(|[name, value]| name == "content-type" && value.starts_with("application/grpc"));
    let mut line = json!({
        "verb": head.method.as_str(),
        "path": head.uri.path_and_query().map(|path| path.as_str()),
        "version": format!("{:?}", head.version),
        "headers": headers,
    });
    // A gRPC call is written down without its messages, which come as a stream.
    let body = if is_grpc {
        body
    } else {
        let bytes = to_bytes(body, MOST).await.unwrap_or_default();
        let shown = bytes.get(..SHOWN).unwrap_or(&bytes);
        line["body"] = String::from_utf8_lossy(shown).into();
        line["size"] = bytes.len().into();
        Body::from(bytes)
    };
    recorder.write(&line);
    next.run(Request::from_parts(head, body)).await
}

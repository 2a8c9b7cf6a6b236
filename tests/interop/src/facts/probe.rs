//! One question to an agent, and what its answer should be.

use std::error::Error;

use serde_json::{Value, json};

use super::Finding;
use super::web::{self, Answer};

/// Where an agent is, and a task of its that has ended.
pub(super) struct Place {
    pub(super) rpc: String,
    pub(super) rest: String,
    pub(super) site: String,
    pub(super) done: String,
}

/// A question: the SDKs of which the fact tells, and whether the answer is as it tells.
pub(super) struct Probe {
    pub(super) fact: &'static str,
    pub(super) sdks: &'static [&'static str],
    pub(super) what: &'static str,
    pub(super) ask: Ask,
    pub(super) holds: fn(&Answer) -> bool,
}

pub(super) enum Ask {
    /// A JSON-RPC method with its params; `DONE` in them is the task that has ended.
    Method(&'static str, Value),
    /// A body for the JSON-RPC address.
    Body(String),
    /// Verb, path below the HTTP+JSON address and body.
    Path(&'static str, &'static str, String),
    /// Verb and path on the host of the card.
    Site(&'static str, &'static str),
    /// Any of them with more headers; an empty value takes the header out.
    With(&'static [(&'static str, &'static str)], Box<Self>),
}

pub(super) const VERSION: (&str, &str) = ("a2a-version", "1.0");
const JSON: (&str, &str) = ("content-type", "application/json");

pub(super) fn text(text: &str) -> Value {
    json!({"message": {"messageId": uuid(), "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// An id that no agent has seen.
fn uuid() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("probe-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

impl Probe {
    pub(super) async fn run(&self, place: &Place) -> Finding {
        let changed = match self.ask.send(place, &[]).await {
            Ok(answer) if (self.holds)(&answer) => None,
            Ok(answer) => Some(format!("saw {}", answer.summary())),
            Err(error) => Some(format!("no answer: {error}")),
        };
        Finding {
            fact: self.fact,
            what: self.what,
            changed,
        }
    }
}

impl Ask {
    pub(super) async fn send(
        &self,
        place: &Place,
        more: &[(&str, &str)],
    ) -> Result<Answer, Box<dyn Error>> {
        let mut headers = vec![VERSION, JSON];
        for (name, value) in more {
            headers.retain(|(known, _)| known != name);
            if !value.is_empty() {
                headers.push((name, value));
            }
        }
        let filled = |text: &str| text.replace("DONE", &place.done);
        match self {
            Self::Method(method, params) => {
                let body =
                    json!({"jsonrpc": "2.0", "id": "probe", "method": method, "params": params});
                let body = filled(&body.to_string());
                web::send("POST", &place.rpc, &headers, body.as_bytes()).await
            }
            Self::Body(body) => {
                web::send("POST", &place.rpc, &headers, filled(body).as_bytes()).await
            }
            Self::Path(verb, path, body) => {
                let url = format!("{}{}", place.rest, filled(path));
                web::send(verb, &url, &headers, body.as_bytes()).await
            }
            Self::Site(verb, path) => {
                let url = format!("{}{path}", place.site);
                web::send(verb, &url, &headers, b"").await
            }
            Self::With(given, ask) => Box::pin(ask.send(place, given)).await,
        }
    }
}

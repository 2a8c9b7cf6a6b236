//! What is known of the requests of the clients, looked up in what was written down.

use std::error::Error;

use serde_json::Value;

use super::Finding;

const PYTHON: &str = "python";
const JS: &str = "js";
const GO: &str = "go";
const ALL: &[&str] = &[PYTHON, JS, GO];

/// A request as it was written down.
struct Seen {
    verb: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// What is said of each request of a kind, of which there must be one at least.
struct Claim {
    fact: &'static str,
    sdks: &'static [&'static str],
    what: &'static str,
    concerns: fn(&Seen) -> bool,
    holds: fn(&Seen) -> bool,
}

pub(super) fn look_through(sdk: &str, record: &str) -> Result<Vec<Finding>, Box<dyn Error>> {
    let seen = record
        .lines()
        .map(Seen::read)
        .collect::<Result<Vec<_>, _>>()?;
    let claims = CLAIMS.iter().filter(|claim| claim.sdks.contains(&sdk));
    let mut findings: Vec<Finding> = claims.map(|claim| claim.check(&seen)).collect();
    if sdk == JS {
        findings.push(ids_count_up(&seen));
    }
    Ok(findings)
}

impl Claim {
    fn check(&self, seen: &[Seen]) -> Finding {
        let mut concerned = seen.iter().filter(|seen| (self.concerns)(seen)).peekable();
        let changed = match concerned.peek() {
            None => Some("no such request was sent".to_owned()),
            Some(_) => concerned
                .find(|seen| !(self.holds)(seen))
                .map(Seen::summary),
        };
        Finding {
            fact: self.fact,
            what: self.what,
            changed,
        }
    }
}

/// The client of JS counts its calls, each client from 1.
fn ids_count_up(seen: &[Seen]) -> Finding {
    let ids: Vec<Option<i64>> = seen
        .iter()
        .filter(|seen| seen.is_rpc() && !seen.is_long())
        .map(|seen| seen.rpc()["id"].as_i64())
        .collect();
    let counts = ids.contains(&Some(1)) && ids.iter().all(|id| id.is_some_and(|id| id >= 1));
    Finding {
        fact: "W13",
        what: "the client counts its calls from 1",
        changed: (!counts).then(|| format!("saw {ids:?}")),
    }
}

impl Seen {
    fn read(line: &str) -> Result<Self, Box<dyn Error>> {
        let line: Value = serde_json::from_str(line)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let headers = line["headers"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        Ok(Self {
            verb: text(&line["verb"]),
            path: text(&line["path"]),
            headers: headers
                .iter()
                .map(|header| (text(&header[0]), text(&header[1])))
                .collect(),
            body: text(&line["body"]),
        })
    }

    fn header<'a>(&'a self, name: &'a str) -> &'a str {
        self.values(name).next().unwrap_or_default()
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.headers.iter().filter(move |(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn is_card(&self) -> bool {
        self.path.contains("/.well-known/")
    }

    fn is_grpc(&self) -> bool {
        self.header("content-type").starts_with("application/grpc")
    }

    /// The case of an unknown version has its client send one.
    fn is_told_another_version(&self) -> bool {
        self.header("a2a-version") == "9.9"
    }

    /// Whether only the begin of the body was written down.
    fn is_long(&self) -> bool {
        self.body.len() >= super::record::SHOWN
    }

    fn is_rpc(&self) -> bool {
        self.verb == "POST" && self.path == "/" && !self.is_grpc()
    }

    fn is_rest(&self) -> bool {
        !self.is_card() && !self.is_grpc() && !self.is_rpc()
    }

    fn rpc(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    fn summary(&self) -> String {
        let body: String = self.body.chars().take(300).collect();
        format!(
            "saw {} {} {:?} {body:?}",
            self.verb, self.path, self.headers
        )
    }
}

const CLAIMS: &[Claim] = &[
    Claim {
        fact: "W3",
        sdks: &[GO],
        what: "the card is asked for without a version and without a condition",
        concerns: Seen::is_card,
        holds: |seen| {
            seen.header("a2a-version").is_empty() && seen.header("if-none-match").is_empty()
        },
    },
    Claim {
        fact: "W7",
        sdks: ALL,
        what: "calls over HTTP carry the version 1.0",
        concerns: |seen| (seen.is_rpc() || seen.is_rest()) && !seen.is_told_another_version(),
        holds: |seen| seen.values("a2a-version").eq(["1.0"]),
    },
    Claim {
        fact: "W11",
        sdks: ALL,
        what: "calls over gRPC carry the version 1.0 in lower-case metadata",
        concerns: |seen| seen.is_grpc() && !seen.is_told_another_version(),
        holds: |seen| seen.values("a2a-version").eq(["1.0"]),
    },
    Claim {
        fact: "W9",
        sdks: &[PYTHON],
        what: "extensions go out as one list",
        concerns: |seen| !seen.header("a2a-extensions").is_empty(),
        holds: |seen| seen.values("a2a-extensions").count() == 1,
    },
    Claim {
        fact: "W9",
        sdks: &[GO],
        what: "extensions go out one a line",
        concerns: |seen| !seen.header("a2a-extensions").is_empty(),
        holds: |seen| {
            seen.values("a2a-extensions")
                .all(|value| !value.contains(','))
        },
    },
    Claim {
        fact: "W13",
        sdks: &[PYTHON, GO],
        what: "the ids of calls are UUIDs",
        concerns: Seen::is_rpc,
        holds: |seen| seen.rpc()["id"].as_str().is_some_and(|id| id.len() == 36) || seen.is_long(),
    },
    Claim {
        fact: "W14",
        sdks: ALL,
        what: "every call has params",
        concerns: Seen::is_rpc,
        holds: |seen| {
            seen.rpc()["params"].is_object()
                || seen.is_long()
                || seen.body.contains("GetExtendedAgentCard")
        },
    },
    Claim {
        fact: "W25",
        sdks: ALL,
        what: "what has a body says application/json",
        concerns: |seen| !seen.is_grpc() && !seen.body.is_empty(),
        holds: |seen| seen.header("content-type") == "application/json",
    },
    Claim {
        fact: "W25",
        sdks: &[GO],
        what: "gzip is offered everywhere",
        concerns: |seen| !seen.is_grpc(),
        holds: |seen| seen.header("accept-encoding").contains("gzip"),
    },
    Claim {
        fact: "W29",
        sdks: ALL,
        what: "subscriptions are POSTs",
        concerns: |seen| seen.is_rest() && seen.path.contains("subscribe"),
        holds: |seen| seen.verb == "POST",
    },
    Claim {
        fact: "W29",
        sdks: &[GO],
        what: "GET, DELETE, cancel and subscribe carry the body null",
        concerns: |seen| {
            seen.is_rest()
                && (seen.verb != "POST"
                    || seen.path.ends_with(":cancel")
                    || seen.path.ends_with(":subscribe"))
        },
        holds: |seen| seen.body.trim() == "null",
    },
    Claim {
        fact: "W29",
        sdks: &[JS],
        what: "cancel and subscribe have a type and no body",
        concerns: |seen| {
            seen.is_rest() && (seen.path.ends_with(":cancel") || seen.path.ends_with(":subscribe"))
        },
        holds: |seen| {
            seen.body.is_empty()
                && seen.header("content-type") == "application/json"
                && seen.header("content-length") == "0"
        },
    },
    Claim {
        fact: "W30",
        sdks: &[JS],
        what: "the tenant stands in the path as one segment and in the body",
        concerns: |seen| seen.is_rest() && seen.verb == "POST" && seen.body.contains(r#""tenant""#),
        holds: |seen| {
            seen.path
                .trim_start_matches('/')
                .split('/')
                .next()
                .is_some_and(|first| first != "message:send")
        },
    },
    Claim {
        fact: "W30",
        sdks: &[GO],
        what: "the tenant stands in the path and in the body",
        concerns: |seen| seen.is_rest() && seen.verb == "POST" && seen.body.contains(r#""tenant""#),
        holds: |seen| !seen.path.starts_with("/message:"),
    },
    Claim {
        fact: "W31",
        sdks: &[GO],
        what: "the time of a list is called lastUpdatedAfter",
        concerns: |seen| seen.is_rest() && seen.path.contains("After="),
        holds: |seen| seen.path.contains("lastUpdatedAfter="),
    },
    Claim {
        fact: "W32",
        sdks: ALL,
        what: "the colon of a verb is not escaped",
        concerns: |seen| {
            seen.is_rest() && (seen.path.contains("cancel") || seen.path.contains("message"))
        },
        holds: |seen| !seen.path.to_lowercase().contains("%3a"),
    },
    Claim {
        fact: "W36",
        sdks: ALL,
        what: "a stream is asked for as text/event-stream",
        concerns: |seen| seen.is_rest() && seen.path.contains(":stream"),
        holds: |seen| seen.header("accept").contains("text/event-stream"),
    },
];

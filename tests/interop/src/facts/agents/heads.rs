//! The card, versions and extensions.

use serde_json::json;

use super::{ALL, GO, JS, PYTHON, path, rpc, with};
use crate::facts::probe::{Ask, Probe, text};

const CARD: &str = "/.well-known/agent-card.json";

fn site(
    fact: &'static str,
    sdks: &'static [&'static str],
    what: &'static str,
    verb: &'static str,
    holds: fn(&crate::facts::web::Answer) -> bool,
) -> Probe {
    Probe {
        fact,
        sdks,
        what,
        ask: Ask::Site(verb, CARD),
        holds,
    }
}

pub(super) fn probes() -> Vec<Probe> {
    vec![
        site("W1", ALL, "the card is application/json", "GET", |answer| {
            answer.status == 200
                && answer
                    .header("content-type")
                    .starts_with("application/json")
        }),
        site(
            "W1",
            &[PYTHON],
            "a weak ETag and no Cache-Control",
            "GET",
            |answer| answer.header("etag").starts_with("W/") && !answer.has("cache-control"),
        ),
        site(
            "W1",
            &[JS],
            "a weak ETag, max-age and a charset",
            "GET",
            |answer| {
                answer.header("etag").starts_with("W/")
                    && answer.header("cache-control").contains("max-age=3600")
                    && answer.header("content-type").contains("charset=utf-8")
            },
        ),
        site(
            "W1",
            &[GO],
            "neither ETag nor Cache-Control, and CORS for all",
            "GET",
            |answer| {
                !answer.has("etag")
                    && !answer.has("cache-control")
                    && answer.header("access-control-allow-origin") == "*"
            },
        ),
        site("W1", &[GO], "HEAD is refused with 405", "HEAD", |answer| {
            answer.status == 405
        }),
        site("W1", &[JS], "HEAD is taken", "HEAD", |answer| {
            answer.status == 200
        }),
        site("W1", &[JS, GO], "OPTIONS is taken", "OPTIONS", |answer| {
            answer.status == 200
        }),
        site("W2", &[JS], "empty members are printed", "GET", |answer| {
            answer.body.contains(r#""tenant":"""#) && answer.body.contains(r#""signatures":[]"#)
        }),
        site(
            "W2",
            &[PYTHON],
            "empty members are left out",
            "GET",
            |answer| {
                answer.json().get("signatures").is_none() && !answer.body.contains("\"tenant\"")
            },
        ),
        site(
            "W4",
            ALL,
            "the address of gRPC has no scheme",
            "GET",
            |answer| {
                let card = answer.json();
                let interfaces = card["supportedInterfaces"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                let grpc = interfaces
                    .iter()
                    .find(|interface| interface["protocolBinding"] == "GRPC");
                let url = grpc.and_then(|interface| interface["url"].as_str());
                url.is_some_and(|url| url.starts_with("127.0.0.1:"))
            },
        ),
        with(
            &[("a2a-version", "")],
            rpc(
                "W6",
                &[PYTHON, JS],
                "no version is refused with -32009 and status 200 on JSON-RPC",
                "ListTasks",
                json!({}),
                |answer| answer.code() == Some(-32009) && answer.status == 200,
            ),
        ),
        with(
            &[("a2a-version", "")],
            path(
                "W6",
                &[PYTHON, JS],
                "no version is refused with 400 on HTTP+JSON",
                ("GET", "/tasks", ""),
                |answer| answer.status == 400 && answer.body.contains("VERSION_NOT_SUPPORTED"),
            ),
        ),
        with(
            &[("a2a-version", "")],
            rpc(
                "W6",
                &[GO],
                "no version is taken",
                "GetTask",
                json!({"id": "DONE"}),
                |answer| answer.json()["result"]["id"].is_string(),
            ),
        ),
        with(
            &[("a2a-version", "1.5")],
            rpc(
                "W7",
                &[PYTHON, GO],
                "any 1.x is taken",
                "GetTask",
                json!({"id": "DONE"}),
                |answer| answer.json()["result"]["id"].is_string(),
            ),
        ),
        with(
            &[("a2a-version", "1.0.0")],
            rpc(
                "W7",
                &[JS],
                "1.0.0 is refused",
                "GetTask",
                json!({"id": "DONE"}),
                |answer| answer.code() == Some(-32009),
            ),
        ),
        with(
            &[("a2a-version", "9.0")],
            rpc(
                "W7",
                &[GO],
                "the version is not looked at",
                "GetTask",
                json!({"id": "DONE"}),
                |answer| answer.json()["result"]["id"].is_string(),
            ),
        ),
        with(
            &[(
                "a2a-extensions",
                "https://example.com/ext/echo/v1,https://example.com/other",
            )],
            rpc(
                "W9",
                &[GO],
                "a comma does not separate extensions",
                "SendMessage",
                text("meta"),
                |answer| {
                    answer
                        .body
                        .contains("https://example.com/ext/echo/v1,https://example.com/other")
                },
            ),
        ),
        with(
            &[(
                "a2a-extensions",
                "https://example.com/ext/echo/v1, https://example.com/other",
            )],
            rpc(
                "W9",
                &[PYTHON],
                "a comma separates extensions",
                "SendMessage",
                text("meta"),
                |answer| {
                    let body = answer.json().to_string();
                    body.contains(r#""https://example.com/other""#)
                        && body.contains(r#""https://example.com/ext/echo/v1""#)
                },
            ),
        ),
        with(
            &[(
                "a2a-extensions",
                "https://example.com/ext/echo/v1,https://example.com/other",
            )],
            rpc(
                "W9",
                &[JS],
                "the executor sees only those of the card",
                "SendMessage",
                text("meta"),
                |answer| {
                    let body = answer.json().to_string();
                    !body.contains("example.com/other")
                        && body.contains(r#""https://example.com/ext/echo/v1""#)
                },
            ),
        ),
        with(
            &[("a2a-extensions", "https://example.com/ext/echo/v1")],
            rpc(
                "W10",
                &[JS],
                "activated extensions are told in a header",
                "SendMessage",
                text("meta"),
                |answer| answer.header("a2a-extensions") == "https://example.com/ext/echo/v1",
            ),
        ),
        with(
            &[("a2a-extensions", "https://example.com/ext/echo/v1")],
            rpc(
                "W10",
                &[PYTHON, GO],
                "activated extensions are not told over HTTP",
                "SendMessage",
                text("meta"),
                |answer| answer.status == 200 && !answer.has("a2a-extensions"),
            ),
        ),
    ]
}

//! Values, lists and what may be done with a task.

use serde_json::json;

use super::{ALL, GO, JS, PYTHON, path, rpc};
use crate::facts::probe::{Probe, text};
use crate::facts::web::Answer;

fn timestamp(answer: &Answer) -> String {
    let answer = answer.json();
    answer["result"]["status"]["timestamp"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// An answer to a message with those parts.
fn parts(parts: serde_json::Value) -> serde_json::Value {
    json!({"message": {"messageId": format!("parts-{parts}"), "role": "ROLE_USER", "parts": parts}})
}

pub(super) fn probes() -> Vec<Probe> {
    vec![
        rpc(
            "W20",
            ALL,
            "a sent message is answered with a wrapped task",
            "SendMessage",
            text("echo x"),
            |answer| answer.json()["result"]["task"]["id"].is_string(),
        ),
        rpc(
            "W20",
            ALL,
            "a task that is asked for is bare",
            "GetTask",
            json!({"id": "DONE"}),
            |answer| answer.json()["result"]["id"].is_string(),
        ),
        rpc(
            "W43",
            &[PYTHON, JS],
            "a timestamp is of UTC",
            "GetTask",
            json!({"id": "DONE"}),
            |answer| timestamp(answer).ends_with('Z'),
        ),
        rpc(
            "W43",
            &[JS],
            "a timestamp has milliseconds",
            "GetTask",
            json!({"id": "DONE"}),
            |answer| timestamp(answer).len() == "2026-01-02T03:04:05.678Z".len(),
        ),
        rpc(
            "W43",
            &[GO],
            "a timestamp has up to nanoseconds",
            "GetTask",
            json!({"id": "DONE"}),
            |answer| timestamp(answer).len() > "2026-01-02T03:04:05.678Z".len(),
        ),
        rpc(
            "W44",
            ALL,
            "bytes come as standard base64",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {"raw": "+/8="}])),
            |answer| answer.body.contains("+/8="),
        ),
        rpc(
            "W44",
            &[JS],
            "bytes are read in the other alphabet",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {"raw": "-_8"}])),
            |answer| answer.body.contains("+/8="),
        ),
        rpc(
            "W44",
            &[GO],
            "bytes in the other alphabet fail the message",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {"raw": "-_8"}])),
            |answer| answer.json()["error"].is_object(),
        ),
        rpc(
            "W45",
            &[PYTHON],
            "an integer comes back as a fraction",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {"data": {"n": 1}}])),
            |answer| answer.body.contains("1.0"),
        ),
        rpc(
            "W45",
            &[JS, GO],
            "an integer comes back as it was",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {"data": {"n": 1}}])),
            |answer| answer.body.contains(r#""n":1}"#),
        ),
        rpc(
            "W45",
            &[GO],
            "an empty list comes back as null",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {"data": {"l": []}}])),
            |answer| answer.body.contains(r#""l":null"#),
        ),
        rpc(
            "W46",
            ALL,
            "an empty text is a part",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {"text": ""}])),
            |answer| answer.json()["result"]["task"].is_object(),
        ),
        rpc(
            "W46",
            &[GO],
            "a part with nothing in it fails the message",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {}])),
            |answer| answer.json()["error"].is_object(),
        ),
        rpc(
            "W46",
            &[JS],
            "a part with nothing in it comes back as it was",
            "SendMessage",
            parts(json!([{"text": "echo x"}, {}])),
            |answer| answer.body.contains("{}"),
        ),
        rpc(
            "W47",
            &[PYTHON],
            "a list prints what is empty",
            "ListTasks",
            json!({"contextId": "none"}),
            |answer| answer.json()["result"]["nextPageToken"] == "",
        ),
        rpc(
            "W47",
            &[GO],
            "a list of nothing is null",
            "ListTasks",
            json!({"contextId": "none"}),
            |answer| {
                answer.json()["result"]
                    .get("tasks")
                    .is_some_and(serde_json::Value::is_null)
            },
        ),
        rpc(
            "W47",
            &[JS],
            "a list prints its four members",
            "ListTasks",
            json!({"contextId": "none"}),
            |answer| {
                let result = answer.json()["result"].clone();
                ["tasks", "nextPageToken", "pageSize", "totalSize"]
                    .iter()
                    .all(|name| result.get(*name).is_some())
            },
        ),
        rpc(
            "W47",
            &[GO],
            "angle brackets are escaped",
            "SendMessage",
            text("echo <b>"),
            |answer| answer.body.contains("\\u003cb\\u003e"),
        ),
        rpc(
            "W48",
            ALL,
            "a page has 50 tasks by default",
            "ListTasks",
            json!({}),
            |answer| answer.json()["result"]["pageSize"] == 50,
        ),
        rpc(
            "W48",
            &[PYTHON, JS],
            "a page of 0 is refused with -32602",
            "ListTasks",
            json!({"pageSize": 0}),
            |answer| answer.code() == Some(-32602),
        ),
        rpc(
            "W48",
            &[GO],
            "a page of 0 is the default",
            "ListTasks",
            json!({"pageSize": 0}),
            |answer| answer.json()["result"]["pageSize"] == 50,
        ),
        rpc(
            "W48",
            &[GO],
            "a page of 101 is refused with -32600",
            "ListTasks",
            json!({"pageSize": 101}),
            |answer| answer.code() == Some(-32600),
        ),
        rpc(
            "W48",
            &[PYTHON, JS],
            "a page of 101 is refused with -32602",
            "ListTasks",
            json!({"pageSize": 101}),
            |answer| answer.code() == Some(-32602),
        ),
        rpc(
            "W49",
            ALL,
            "no history is left out or an empty list",
            "GetTask",
            json!({"id": "DONE", "historyLength": 0}),
            |answer| {
                let result = answer.json()["result"].clone();
                result.is_object() && result["history"].as_array().is_none_or(Vec::is_empty)
            },
        ),
        rpc(
            "W50",
            &[PYTHON, JS],
            "a message to a finished task is refused with -32004",
            "SendMessage",
            json!({"message": {"messageId": "w50", "taskId": "DONE", "role": "ROLE_USER", "parts": [{"text": "echo x"}]}}),
            |answer| answer.code() == Some(-32004),
        ),
        rpc(
            "W50",
            &[GO],
            "a message to a finished task is refused with -32602",
            "SendMessage",
            json!({"message": {"messageId": "w50", "taskId": "DONE", "role": "ROLE_USER", "parts": [{"text": "echo x"}]}}),
            |answer| answer.code() == Some(-32602),
        ),
        rpc(
            "W50",
            ALL,
            "a message to an unknown task is refused with -32001",
            "SendMessage",
            json!({"message": {"messageId": "w50b", "taskId": "none", "role": "ROLE_USER", "parts": [{"text": "echo x"}]}}),
            |answer| answer.code() == Some(-32001),
        ),
        rpc(
            "W50",
            ALL,
            "a cancel of a finished task is refused with -32002",
            "CancelTask",
            json!({"id": "DONE"}),
            |answer| answer.code() == Some(-32002),
        ),
        rpc(
            "W50",
            &[GO],
            "a subscription to a finished task is refused with -32001",
            "SubscribeToTask",
            json!({"id": "DONE"}),
            |answer| answer.body.contains("-32001"),
        ),
        rpc(
            "W58",
            &[PYTHON, JS],
            "a subscription to a finished task is refused with -32004",
            "SubscribeToTask",
            json!({"id": "DONE"}),
            |answer| answer.body.contains("-32004"),
        ),
        rpc(
            "W51",
            &[PYTHON],
            "an executor that raises is told with -32603 and its text",
            "SendMessage",
            text("raise boom"),
            |answer| answer.code() == Some(-32603) && answer.body.contains("boom"),
        ),
        rpc(
            "W51",
            &[JS, GO],
            "an executor that raises leaves a failed task",
            "SendMessage",
            text("raise boom"),
            |answer| answer.json()["result"]["task"]["status"]["state"] == "TASK_STATE_FAILED",
        ),
        rpc(
            "W52",
            &[PYTHON],
            "the id of a configuration is that of its task",
            "CreateTaskPushNotificationConfig",
            json!({"taskId": "DONE", "url": "https://hooks.example/1"}),
            |answer| {
                let result = answer.json()["result"].clone();
                result["id"].is_string() && result["id"] == result["taskId"]
            },
        ),
        rpc(
            "W52",
            &[JS, GO],
            "the id of a configuration is a UUID",
            "CreateTaskPushNotificationConfig",
            json!({"taskId": "DONE", "url": "https://hooks.example/1"}),
            |answer| {
                answer.json()["result"]["id"]
                    .as_str()
                    .is_some_and(|id| id.len() == 36)
            },
        ),
        rpc(
            "W52",
            &[PYTHON, JS],
            "a missing configuration is told with -32001",
            "GetTaskPushNotificationConfig",
            json!({"taskId": "DONE", "id": "missing"}),
            |answer| answer.code() == Some(-32001),
        ),
        rpc(
            "W52",
            &[GO],
            "a missing configuration is told with -32603",
            "GetTaskPushNotificationConfig",
            json!({"taskId": "DONE", "id": "missing"}),
            |answer| answer.code() == Some(-32603),
        ),
        rpc(
            "W53",
            &[JS],
            "a body over 100 kB is refused with a page",
            "SendMessage",
            text(&format!("echo {}", "x".repeat(200_000))),
            |answer| answer.status == 413 && answer.header("content-type").starts_with("text/html"),
        ),
        path(
            "W53",
            &[JS],
            "a body over 100 kB is refused with a page on HTTP+JSON",
            (
                "POST",
                "/message:send",
                &text(&format!("echo {}", "x".repeat(200_000))).to_string(),
            ),
            |answer| answer.status == 413 && answer.header("content-type").starts_with("text/html"),
        ),
        rpc(
            "W58",
            &[JS],
            "a task of another tenant does not exist",
            "GetTask",
            json!({"tenant": "another", "id": "DONE"}),
            |answer| answer.code() == Some(-32001),
        ),
    ]
}

//! JSON-RPC: ids, params, methods, codes.

use serde_json::json;

use super::{ALL, GO, JS, PYTHON, body, reason, rpc, with};
use crate::facts::probe::Probe;

pub(super) fn probes() -> Vec<Probe> {
    vec![
        rpc(
            "W12",
            ALL,
            "errors come with status 200",
            "GetTask",
            json!({"id": "none"}),
            |answer| answer.status == 200 && answer.code() == Some(-32001),
        ),
        body(
            "W12",
            &[JS],
            "bad JSON comes with status 200",
            "{",
            |answer| answer.status == 200 && answer.code() == Some(-32700),
        ),
        body(
            "W13",
            ALL,
            "a text and a number come back as they went",
            r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"DONE"}}"#,
            |answer| answer.json()["id"] == json!(7) && answer.json()["result"].is_object(),
        ),
        body(
            "W13",
            ALL,
            "null is an id",
            r#"{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{"id":"DONE"}}"#,
            |answer| answer.json()["result"].is_object() && answer.json()["id"].is_null(),
        ),
        body(
            "W13",
            &[PYTHON, JS],
            "a fraction is no id",
            r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask","params":{"id":"DONE"}}"#,
            |answer| answer.json()["error"].is_object(),
        ),
        body(
            "W13",
            &[GO],
            "a truth value is no id",
            r#"{"jsonrpc":"2.0","id":true,"method":"GetTask","params":{"id":"DONE"}}"#,
            |answer| answer.code() == Some(-32600) && answer.json()["id"].is_null(),
        ),
        body(
            "W13",
            &[GO],
            "numbers go through a double",
            r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask","params":{"id":"DONE"}}"#,
            |answer| answer.body.contains("9007199254740992"),
        ),
        body(
            "W14",
            &[PYTHON, JS],
            "the extended card needs no params",
            r#"{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}"#,
            |answer| answer.json()["result"]["name"].is_string(),
        ),
        body(
            "W14",
            &[JS],
            "another method without params is refused with -32602",
            r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#,
            |answer| answer.code() == Some(-32602),
        ),
        body(
            "W14",
            &[GO],
            "a method without params is refused with -32700",
            r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#,
            |answer| answer.code() == Some(-32700),
        ),
        rpc(
            "W15",
            ALL,
            "unknown members are ignored",
            "GetTask",
            json!({"id": "DONE", "kind": "x", "unknown": [1]}),
            |answer| answer.json()["result"]["id"].is_string(),
        ),
        rpc(
            "W15",
            &[PYTHON, JS],
            "names in snake case and numbers of enums are taken",
            "SendMessage",
            json!({"message": {"message_id": "snake", "role": 1, "parts": [{"text": "echo x"}]}}),
            |answer| answer.json()["result"]["task"].is_object(),
        ),
        rpc(
            "W15",
            &[GO],
            "numbers of enums are refused",
            "SendMessage",
            json!({"message": {"messageId": "n", "role": 1, "parts": [{"text": "echo x"}]}}),
            |answer| answer.json()["error"].is_object(),
        ),
        rpc(
            "W15",
            &[PYTHON],
            "an unknown role is a missing one",
            "SendMessage",
            json!({"message": {"messageId": "r", "role": "user", "parts": [{"text": "echo x"}]}}),
            |answer| answer.code() == Some(-32602) && answer.body.contains("message.role"),
        ),
        rpc(
            "W15",
            &[JS],
            "an unknown role comes back as UNRECOGNIZED",
            "SendMessage",
            json!({"message": {"messageId": "r", "role": "user", "parts": [{"text": "echo x"}]}}),
            |answer| answer.body.contains("UNRECOGNIZED"),
        ),
        rpc(
            "W15",
            &[GO],
            "an unknown role is kept",
            "SendMessage",
            json!({"message": {"messageId": "r", "role": "user", "parts": [{"text": "echo x"}]}}),
            |answer| answer.body.contains(r#""role":"user""#),
        ),
        with(
            &[("content-type", "text/plain")],
            rpc(
                "W16",
                &[PYTHON, GO],
                "the type of a request is not looked at",
                "GetTask",
                json!({"id": "DONE"}),
                |answer| answer.json()["result"]["id"].is_string(),
            ),
        ),
        with(
            &[("content-type", "text/plain")],
            rpc(
                "W16",
                &[JS],
                "another type is refused with -32005 and status 200",
                "GetTask",
                json!({"id": "DONE"}),
                |answer| answer.status == 200 && answer.code() == Some(-32005),
            ),
        ),
        body(
            "W17",
            &[PYTHON],
            "a batch is refused with -32600",
            "[]",
            |answer| answer.code() == Some(-32600),
        ),
        body(
            "W17",
            &[JS, GO],
            "a batch is refused with -32602",
            "[]",
            |answer| answer.code() == Some(-32602),
        ),
        rpc(
            "W19",
            &[PYTHON, JS],
            "a deletion is answered with null",
            "DeleteTaskPushNotificationConfig",
            json!({"taskId": "DONE", "id": "c"}),
            |answer| {
                answer
                    .json()
                    .get("result")
                    .is_some_and(serde_json::Value::is_null)
            },
        ),
        rpc(
            "W19",
            &[GO],
            "a deletion is answered with neither result nor error",
            "DeleteTaskPushNotificationConfig",
            json!({"taskId": "DONE", "id": "c"}),
            |answer| {
                let answer = answer.json();
                answer.is_object()
                    && answer.get("result").is_none()
                    && answer.get("error").is_none()
            },
        ),
        rpc(
            "W22",
            ALL,
            "data is a list of objects with an ErrorInfo",
            "GetTask",
            json!({"id": "none"}),
            |answer| {
                let data = answer.json()["error"]["data"].clone();
                data.as_array()
                    .is_some_and(|data| data.iter().all(serde_json::Value::is_object))
                    && reason(&data) == "TASK_NOT_FOUND"
            },
        ),
        rpc(
            "W22",
            &[GO],
            "the ErrorInfo stands last and has a time",
            "GetTask",
            json!({"id": "none"}),
            |answer| {
                let answer = answer.json();
                let data = answer["error"]["data"]
                    .as_array()
                    .and_then(|data| data.last());
                data.is_some_and(|last| last["metadata"]["timestamp"].is_string())
            },
        ),
        rpc(
            "W22",
            &[PYTHON],
            "the metadata of an ErrorInfo may hold more than text",
            "SendMessage",
            json!({"message": {"role": "ROLE_USER", "parts": []}}),
            |answer| answer.body.contains(r#""errors""#) || answer.body.contains("fieldViolations"),
        ),
        body(
            "W22",
            &[PYTHON, JS],
            "an unknown method has no data",
            r#"{"jsonrpc":"2.0","id":1,"method":"Nope","params":{}}"#,
            |answer| {
                answer.code() == Some(-32601)
                    && answer.json()["error"]
                        .get("data")
                        .is_none_or(serde_json::Value::is_null)
            },
        ),
        rpc(
            "W23",
            &[PYTHON],
            "violations name fields in snake case",
            "SendMessage",
            json!({"message": {"role": "ROLE_USER", "parts": [{"text": "x"}]}}),
            |answer| answer.body.contains("message.message_id"),
        ),
    ]
}

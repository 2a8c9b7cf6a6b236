//! The envelope, its ids and its shapes.

use a2a_proto::v1::{GetExtendedAgentCardRequest, Message, Task};
use a2a_proto::{Call, ErrorCode};
use serde_json::{Value, json};

use crate::support::{CURRENT, Peer, Response, Script, within};

async fn post(peer: &Peer, body: impl ToString) -> Response {
    peer.web().post("/", CURRENT, body.to_string()).await
}

fn get(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "GetTask", "params": {"id": "t1"}})
}

#[tokio::test]
async fn jrpc_01_04_19_an_id_comes_back_as_it_was_written() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for id in [
            "\"a\"",
            "\"\\u00e9\\\"\"",
            "1",
            "0",
            "-7",
            "9007199254740993",
            "1.50",
            "null",
        ] {
            let body = format!(
                r#"{{"params":{{"id":"t1"}},"method":"GetTask","id":{id},"jsonrpc":"2.0"}}"#
            );
            let response = post(&peer, body).await;
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"id":"t1","#);
            assert!(response.text().starts_with(&start), "{}", response.text());
            assert_eq!(response.header("content-type"), Some("application/json"));
        }
        let notification = r#"{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t1"}}"#;
        assert_eq!(post(&peer, notification).await.json()["id"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn jrpc_05_06_18_bad_envelopes_have_their_codes_and_status_200() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for (body, code, id) in [
            ("{", -32700, Value::Null),
            ("", -32700, Value::Null),
            ("\u{fffd}", -32700, Value::Null),
            ("[]", -32600, Value::Null),
            ("7", -32600, Value::Null),
            (r#"{"id":1,"method":"GetTask"}"#, -32600, json!(1)),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#,
                -32600,
                json!(1),
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#,
                -32600,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"GetTask"}"#,
                -32600,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"Nope"}"#,
                -32601,
                json!(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"gettask"}"#,
                -32601,
                json!(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}"#,
                -32602,
                json!(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":7}}"#,
                -32602,
                json!(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#,
                -32602,
                json!(1),
            ),
        ] {
            let response = post(&peer, body).await;
            let json = response.json();
            assert_eq!(
                (response.status, &json["error"]["code"]),
                (200, &json!(code)),
                "{body}"
            );
            assert_eq!(json["id"], id, "{body}");
            assert_eq!(json["jsonrpc"], "2.0");
            assert!(json["error"]["data"][0]["reason"].is_string());
        }
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn jrpc_03_v03_01_03_a_method_of_0_3_is_told_what_to_send() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}"#;
        let error = post(&peer, body).await.json()["error"].clone();
        assert_eq!(error["code"], -32601);
        assert!(
            error["message"].as_str().unwrap().contains("`SendMessage`"),
            "{error}"
        );
        let error = peer.web().post("/", &[], body).await.json()["error"].clone();
        assert_eq!(error["code"], ErrorCode::VersionNotSupported.json_rpc());
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("`SendMessage`") && message.contains("A2A-Version: 1.0"),
            "{error}"
        );
    })
    .await;
}

#[tokio::test]
async fn jrpc_06_other_verbs_and_media_types_are_refused_in_json() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for verb in ["GET", "PUT", "DELETE"] {
            let response = peer.web().send(verb, "/", CURRENT, None).await;
            assert_eq!(
                (response.status, response.header("allow")),
                (405, Some("POST"))
            );
            assert_eq!(response.json()["id"], Value::Null);
        }
        for (media_type, status) in [
            ("application/json", 200),
            ("application/json; charset=utf-8", 200),
            ("Application/JSON", 200),
            ("application/a2a+json", 200),
            ("text/plain", 415),
            ("application/x-www-form-urlencoded", 415),
        ] {
            let headers = [("a2a-version", "1.0"), ("content-type", media_type)];
            let response = peer
                .web()
                .post("/", &headers, get(json!(1)).to_string())
                .await;
            assert_eq!(response.status, status, "{media_type}");
            assert_eq!(response.json()["jsonrpc"], "2.0");
        }
    })
    .await;
}

#[tokio::test]
async fn jrpc_07_08_09_results_have_their_shapes() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
        let push = json!({"taskId": "t1", "id": "p1"});
        let create = json!({"taskId": "t1", "url": "https://hooks.test/1"});
        for (method, params, keys) in [
            ("SendMessage", json!({"message": message}), &["task"][..]),
            ("GetTask", json!({"id": "t1"}), &["id", "contextId", "status"]),
            ("CancelTask", json!({"id": "t1"}), &["id", "contextId", "status"]),
            ("ListTasks", json!({}), &["tasks", "nextPageToken", "pageSize", "totalSize"]),
            ("CreateTaskPushNotificationConfig", create, &["taskId", "url"]),
            ("GetTaskPushNotificationConfig", push.clone(), &["url"]),
        ] {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let result = post(&peer, body).await.json()["result"].clone();
            for key in keys {
                assert!(result.get(key).is_some(), "{method}: {key} in {result}");
            }
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "DeleteTaskPushNotificationConfig", "params": push});
        let response = post(&peer, body).await;
        assert_eq!(response.text(), r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    })
    .await;
}

#[tokio::test]
async fn jrpc_14_params_may_be_missing() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for params in ["", r#","params":null"#] {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"{params}}}"#);
            assert_eq!(post(&peer, body).await.json()["result"]["name"], "peer");
        }
        let (_, seen) = peer.script.calls().pop().unwrap();
        assert_eq!(
            seen,
            Call::GetExtendedAgentCard(GetExtendedAgentCardRequest::default()).into()
        );
    })
    .await;
}

#[tokio::test]
async fn dm_json_16_text_goes_through_unchanged() {
    within(async {
        let text = "é<>&\u{2028}\"\\ \u{1f600}";
        let mut task = Task::submitted("t1", "c1");
        task.history = vec![Message::agent(text)];
        let peer = Peer::start(Script::with_task(task)).await;
        let response = post(&peer, get(json!(1))).await;
        assert_eq!(
            response.json()["result"]["history"][0]["parts"][0]["text"],
            text
        );
        assert!(response.text().contains("é<>&"));
    })
    .await;
}

#[tokio::test]
async fn w18_the_path_can_be_chosen_and_a_slash_at_its_end_does_not_matter() {
    within(async {
        let peer = Peer::configured(Script::default(), crate::support::card(), |builder| {
            builder.json_rpc_path("a2a")
        })
        .await;
        for path in ["/a2a", "/a2a/"] {
            let response = peer
                .web()
                .post(path, CURRENT, get(json!(1)).to_string())
                .await;
            assert_eq!(response.json()["result"]["id"], "t1", "{path}");
        }
        let response = peer
            .web()
            .post("/", CURRENT, get(json!(1)).to_string())
            .await;
        assert_eq!(response.status, 404);
    })
    .await;
}

use serde_json::{Value, json};

use super::{agent, begin, message, result, send, web};
use crate::support::{CURRENT, Peer, Script, within};

#[tokio::test]
async fn w24_w25_successes_have_the_protocols_type_errors_plain_json_and_nothing_is_406() {
    within(async {
        let server = agent().await;
        let body = json!({"message": message("hi")}).to_string();
        for accept in [
            "",
            "*/*",
            "text/event-stream",
            "text/html",
            "application/a2a+json",
        ] {
            for media_type in ["application/json", "application/a2a+json"] {
                let headers = [
                    ("a2a-version", "1.0"),
                    ("content-type", media_type),
                    ("accept", accept),
                    ("accept-encoding", "gzip"),
                ];
                let answer = web(&server).post("/message:send", &headers, &body).await;
                assert_eq!(answer.status, 200, "{accept}");
                assert_eq!(
                    answer.header("content-type"),
                    Some("application/a2a+json"),
                    "{accept}"
                );
                assert_eq!(answer.header("content-encoding"), None);
            }
            // The Go client reads an error only of this type.
            let headers = [("a2a-version", "1.0"), ("accept", accept)];
            let missing = web(&server).get("/tasks/none", &headers).await;
            assert_eq!(
                (missing.status, missing.header("content-type")),
                (404, Some("application/json"))
            );
        }
    })
    .await;
}

#[tokio::test]
async fn w19_w26_every_success_is_a_200_and_a_deletion_has_a_body() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let config = r#"{"url":"https://hooks.test/1"}"#;
        let path = "/tasks/t1/pushNotificationConfigs";
        let created = peer.web().post(path, CURRENT, config).await;
        assert_eq!(created.status, 200);
        let deleted = peer.web().send("DELETE", &format!("{path}/c"), CURRENT, None).await;
        assert_eq!((deleted.status, deleted.text().as_str()), (200, "{}"));
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"DeleteTaskPushNotificationConfig","params":{"taskId":"t","id":"c"}}"#;
        let deleted = peer.web().post("/", CURRENT, body).await;
        assert_eq!(deleted.text(), r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    })
    .await;
}

#[tokio::test]
async fn w28_the_task_in_the_path_wins_over_that_in_the_body() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let config = r#"{"taskId":"other","url":"https://hooks.test/1"}"#;
        peer.web()
            .post("/tasks/t1/pushNotificationConfigs", CURRENT, config)
            .await;
        let (_, operation) = peer.script.call();
        assert!(
            format!("{operation:?}").contains(r#"task_id: "t1""#),
            "{operation:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn w29_cancel_and_subscribe_are_taken_as_each_client_sends_them() {
    within(async {
        let server = agent().await;
        let json_type = ("content-type", "application/json");
        let version = ("a2a-version", "1.0");
        for (headers, body) in [
            // Go 2.3.1, JS, and newer Go.
            (vec![version, json_type], Some("null")),
            (vec![version, json_type, ("content-length", "0")], Some("")),
            (vec![version], None),
            (vec![version, json_type], Some("{}")),
        ] {
            let body = body.map(str::as_bytes);
            let task = begin(&server, "hang").await;
            let id = task["id"].as_str().unwrap();
            for verb in ["GET", "POST"] {
                let path = format!("/tasks/{id}:subscribe");
                let mut stream = web(&server).open(verb, &path, &headers, body).await;
                let first: Value = serde_json::from_str(&stream.event().await).unwrap();
                assert_eq!(first["task"]["id"], id, "{verb} {body:?}");
            }
            let path = format!("/tasks/{id}:cancel");
            let canceled = web(&server).send("POST", &path, &headers, body).await;
            assert_eq!(
                canceled.json()["status"]["state"],
                "TASK_STATE_CANCELED",
                "{body:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn w30_the_tenant_may_have_segments_and_stand_in_the_body_as_well() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for (path, tenant) in [
            ("/acme/message:send", "acme"),
            ("/acme/eu/message:send", "acme/eu"),
            ("/acme%2Feu/message:send", "acme/eu"),
        ] {
            // Go and JS send it in both places; two that differ are a mistake and not a choice (TEN-03).
            for (in_body, status) in [(tenant, 200), ("", 200), ("other", 400)] {
                let body = json!({"tenant": in_body, "message": message("hi")}).to_string();
                let answer = peer.web().post(path, CURRENT, &body).await;
                assert_eq!(answer.status, status, "{path} {in_body}");
            }
            for (_, operation) in peer.script.calls().split_off(peer.script.calls().len() - 2) {
                let seen = format!("{operation:?}");
                assert!(seen.contains(&format!("tenant: {tenant:?}")), "{seen}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn w31_queries_are_read_as_each_client_writes_them() {
    within(async {
        let server = agent().await;
        let context = send(&server, "hi").await["contextId"].clone();
        let context = context.as_str().unwrap();
        for (query, found) in [
            // Java pads small numbers, Go has another name for the time, and some write numbers for names.
            (
                format!("contextId={context}&historyLength=%205&pageSize=+1"),
                1,
            ),
            (
                format!("contextId={context}&status=3&includeArtifacts=true"),
                1,
            ),
            (
                format!("contextId={context}&status=TASK_STATE_COMPLETED&unknown=x"),
                1,
            ),
            (
                format!("contextId={context}&lastUpdatedAfter=2020-01-02T03:04:05Z"),
                1,
            ),
            (
                format!("contextId={context}&lastUpdatedAfter=2100-01-02T03:04:05Z"),
                0,
            ),
            (
                format!(
                    "contextId={context}&statusTimestampAfter=2100-01-02T03%3A04%3A05%2B02%3A00"
                ),
                0,
            ),
            (format!("contextId={context}&status=TASK_STATE_WORKING"), 0),
        ] {
            let answer = web(&server).get(&format!("/tasks?{query}"), CURRENT).await;
            assert_eq!(answer.status, 200, "{query}: {answer:?}");
            assert_eq!(
                answer.json()["tasks"].as_array().unwrap().len(),
                found,
                "{query}"
            );
        }
        for query in [
            "pageSize=abc",
            "pageSize=0",
            "historyLength=-1",
            "statusTimestampAfter=yesterday",
        ] {
            let answer = web(&server).get(&format!("/tasks?{query}"), CURRENT).await;
            assert_eq!(answer.status, 400, "{query}");
        }
        let peer = Peer::start(Script::default()).await;
        let slash = peer
            .web()
            .get("/tasks/t1/pushNotificationConfigs/", CURRENT)
            .await;
        assert_eq!(slash.status, 200);
    })
    .await;
}

#[tokio::test]
async fn w32_an_escaped_colon_is_one_before_a_verb_and_part_of_an_id() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let body = json!({"message": message("hi")}).to_string();
        for path in ["/message:send", "/message%3Asend", "/message%3asend"] {
            assert_eq!(
                peer.web().post(path, CURRENT, &body).await.status,
                200,
                "{path}"
            );
        }
        for (path, id) in [
            ("/tasks/a%2Fb%3Fc%23d", "a/b?c#d"),
            ("/tasks/%C3%A9", "\u{e9}"),
            ("/tasks/a%3Acancel", "a:cancel"),
        ] {
            assert_eq!(peer.web().get(path, CURRENT).await.status, 200);
            let (_, operation) = peer.script.calls().pop().unwrap();
            let seen = format!("{operation:?}");
            assert!(seen.contains(&format!("id: {id:?}")), "{seen}");
        }
    })
    .await;
}

#[tokio::test]
async fn w49_a_history_of_length_0_is_absent_and_a_status_message_moves_into_it() {
    within(async {
        let server = agent().await;
        let asked = send(&server, "ask").await;
        assert_eq!(asked["status"]["message"]["parts"][0]["text"], "what?");
        let mut answer = message("yes");
        answer["taskId"] = asked["id"].clone();
        answer["messageId"] = json!("m2");
        result(&server, "SendMessage", &json!({"message": answer})).await;
        let path = format!("/tasks/{}", asked["id"].as_str().unwrap());
        let whole = web(&server).get(&path, CURRENT).await.json();
        let history = whole["history"].as_array().unwrap().iter();
        let texts: Vec<&str> = history
            .map(|message| message["parts"][0]["text"].as_str().unwrap())
            .collect();
        assert_eq!(texts, ["ask", "what?", "yes"]);
        let none = web(&server)
            .get(&format!("{path}?historyLength=0"), CURRENT)
            .await
            .json();
        assert_eq!(none.get("history"), None);
        let last = web(&server)
            .get(&format!("{path}?historyLength=1"), CURRENT)
            .await
            .json();
        assert_eq!(last["history"].as_array().unwrap().len(), 1);
    })
    .await;
}

//! Paths, media types and bodies.

use a2a_proto::v1::{CancelTaskRequest, GetTaskRequest, ListTasksRequest, SubscribeToTaskRequest};
use a2a_proto::{Call, StreamCall};
use serde_json::{Value, json};

use crate::support::{CURRENT, OPTIONAL_EXTENSION, Peer, Script, within};

const MESSAGE: &str = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;

#[tokio::test]
async fn rest_02_03_09_10_paths_and_queries_reach_the_handler() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let get = |tenant: &str, id: &str, history_length| {
            Call::GetTask(GetTaskRequest {
                tenant: tenant.to_owned(),
                id: id.to_owned(),
                history_length,
            })
            .into()
        };
        for (path, expected) in [
            ("/tasks/t1", get("", "t1", None)),
            (
                "/tasks/a%2Fb%3Ac?historyLength=2",
                get("", "a/b:c", Some(2)),
            ),
            ("/acme/tasks/t1", get("acme", "t1", None)),
            ("/acme/eu/tasks/t1", get("acme/eu", "t1", None)),
            ("/tasks/t1?tenant=acme&unknown=1", get("acme", "t1", None)),
            (
                "/tasks?pageSize=2&includeArtifacts=true&contextId=c%201",
                Call::ListTasks(ListTasksRequest {
                    page_size: Some(2),
                    include_artifacts: Some(true),
                    context_id: "c 1".to_owned(),
                    ..ListTasksRequest::default()
                })
                .into(),
            ),
        ] {
            let response = peer.web().get(path, CURRENT).await;
            assert_eq!(response.status, 200, "{path}: {response:?}");
            let (_, seen) = peer.script.calls().pop().unwrap();
            assert_eq!(seen, expected, "{path}");
        }
    })
    .await;
}

#[tokio::test]
async fn rest_17_amb_01_subscriptions_are_taken_with_both_verbs_and_any_body() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for (verb, body) in [
            ("GET", None),
            ("POST", None),
            ("POST", Some("{}")),
            ("POST", Some("null")),
            ("POST", Some("")),
        ] {
            let body = body.map(str::as_bytes);
            let response = peer
                .web()
                .send(verb, "/tasks/t1:subscribe", CURRENT, body)
                .await;
            assert!(response.is_event_stream(), "{verb} {body:?}: {response:?}");
            let (_, seen) = peer.script.calls().pop().unwrap();
            let request = SubscribeToTaskRequest {
                id: "t1".to_owned(),
                ..Default::default()
            };
            assert_eq!(seen, StreamCall::SubscribeToTask(request).into());
        }
    })
    .await;
}

#[tokio::test]
async fn rest_05_w29_posts_without_a_body_pass_and_foreign_bodies_do_not() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for body in [
            None,
            Some(""),
            Some("{}"),
            Some("null"),
            Some(r#"{"metadata":{"why":"x"}}"#),
        ] {
            let body = body.map(str::as_bytes);
            let response = peer
                .web()
                .send("POST", "/tasks/t1:cancel", CURRENT, body)
                .await;
            assert_eq!(response.status, 200, "{body:?}: {response:?}");
        }
        let (_, seen) = peer.script.calls().pop().unwrap();
        let metadata = a2a_proto::Struct::from_iter([("why".to_owned(), json!("x"))]);
        let request = CancelTaskRequest {
            id: "t1".to_owned(),
            metadata: Some(metadata),
            ..Default::default()
        };
        assert_eq!(seen, Call::CancelTask(request).into());

        let text = [("a2a-version", "1.0"), ("content-type", "text/plain")];
        let response = peer.web().post("/message:send", &text, MESSAGE).await;
        assert_eq!(response.status, 400);
        let reason = &response.json()["error"]["details"][0]["reason"];
        assert_eq!(reason, "CONTENT_TYPE_NOT_SUPPORTED");
        // The Go client sends this with every request.
        let null = [("a2a-version", "1.0"), ("content-type", "application/json")];
        let response = peer
            .web()
            .send("GET", "/tasks/t1", &null, Some(b"null"))
            .await;
        assert_eq!(response.status, 200);
        let empty = peer
            .web()
            .send("POST", "/tasks/t1:cancel", &text, None)
            .await;
        assert_eq!(empty.status, 200);
    })
    .await;
}

#[tokio::test]
async fn rest_04_the_media_type_is_the_one_that_is_asked_for() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for (accept, expected) in [
            (None, "application/a2a+json"),
            (Some("*/*"), "application/a2a+json"),
            (Some("application/json"), "application/json"),
            (
                Some("application/json;q=0.9, text/plain"),
                "application/json",
            ),
            (
                Some("application/json, application/a2a+json"),
                "application/a2a+json",
            ),
            (Some("text/html"), "application/a2a+json"),
        ] {
            let mut headers = CURRENT.to_vec();
            headers.extend(accept.map(|value| ("accept", value)));
            for media_type in ["application/json", "application/a2a+json"] {
                let mut headers = headers.clone();
                headers.push(("content-type", media_type));
                let response = peer.web().post("/message:send", &headers, MESSAGE).await;
                assert_eq!(response.status, 200);
                assert_eq!(
                    response.header("content-type"),
                    Some(expected),
                    "{accept:?}"
                );
            }
        }
    })
    .await;
}

#[tokio::test]
async fn rest_06_07_ext_card_05_answers_have_their_shapes_and_a_deletion_has_a_body() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let sent = peer
            .web()
            .post("/message:send", CURRENT, MESSAGE)
            .await
            .json();
        assert_eq!(sent["task"]["id"], "t1");
        assert_eq!(
            peer.web().get("/tasks/t1", CURRENT).await.json()["id"],
            "t1"
        );
        let list = peer.web().get("/tasks", CURRENT).await.json();
        assert_eq!(
            list,
            json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0})
        );
        let path = "/tasks/t1/pushNotificationConfigs";
        let created = peer
            .web()
            .post(path, CURRENT, r#"{"url":"https://hooks.test/1"}"#)
            .await;
        assert_eq!(
            (created.status, &created.json()["taskId"]),
            (200, &json!("t1"))
        );
        let path = "/tasks/t1/pushNotificationConfigs/p1";
        let deleted = peer.web().send("DELETE", path, CURRENT, None).await;
        assert_eq!((deleted.status, deleted.text().as_str()), (200, "{}"));
        let extended = peer.web().get("/extendedAgentCard", CURRENT).await;
        assert_eq!(extended.json()["name"], "peer");
        assert_eq!(extended.header("cache-control"), Some("private, no-cache"));
    })
    .await;
}

#[tokio::test]
async fn rest_18_what_leads_nowhere_is_said_in_json() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for (verb, path, status, allow) in [
            ("GET", "/nope", 404, None),
            ("POST", "/tasks/t1/nope", 404, None),
            ("PUT", "/tasks", 405, Some("GET")),
            ("GET", "/message:send", 405, Some("POST")),
            ("DELETE", "/tasks/t1:cancel", 405, Some("POST")),
        ] {
            let response = peer.web().send(verb, path, CURRENT, None).await;
            assert_eq!(
                (response.status, response.header("allow")),
                (status, allow),
                "{verb} {path}"
            );
            let error = response.json()["error"].clone();
            assert_ne!(
                error["details"][0]["reason"], "TASK_NOT_FOUND",
                "{verb} {path}"
            );
            assert!(error["message"].is_string());
        }
    })
    .await;
}

#[tokio::test]
async fn rest_11_ten_03_bad_bodies_and_queries_are_named() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let field = |json: Value| json["error"]["details"][1]["fieldViolations"][0]["field"].clone();
        let response = peer.web().get("/tasks?pageSize=abc", CURRENT).await;
        assert_eq!((response.status, field(response.json())), (400, json!("page_size")));
        let body = r#"{"tenant":"b","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}"#;
        let response = peer.web().post("/a/message:send", CURRENT, body).await;
        assert_eq!((response.status, field(response.json())), (400, json!("tenant")));
        let response = peer.web().post("/message:send", CURRENT, "{").await;
        assert_eq!(response.status, 400);
        assert_eq!(response.json()["error"]["details"][0]["reason"], "PARSE_ERROR");
    })
    .await;
}

#[tokio::test]
async fn ext_05_active_extensions_are_echoed_on_answers_and_streams() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let headers = [
            ("a2a-version", "1.0"),
            ("a2a-extensions", OPTIONAL_EXTENSION),
        ];
        let rpc = |method: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"id":"t1"}}}}"#)
        };
        let responses = [
            peer.web().get("/tasks/t1", &headers).await,
            peer.web().get("/tasks/t1:subscribe", &headers).await,
            peer.web().post("/", &headers, rpc("GetTask")).await,
            peer.web().post("/", &headers, rpc("SubscribeToTask")).await,
        ];
        for response in responses {
            assert_eq!(
                response.header("a2a-extensions"),
                Some(OPTIONAL_EXTENSION),
                "{response:?}"
            );
        }
        let unknown = [
            ("a2a-version", "1.0"),
            ("a2a-extensions", "https://unknown.test/x"),
        ];
        assert_eq!(
            peer.web()
                .get("/tasks/t1", &unknown)
                .await
                .header("a2a-extensions"),
            None
        );
    })
    .await;
}

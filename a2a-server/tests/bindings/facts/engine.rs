use serde_json::{Value, json};

use super::{agent, agent_with, begin, error, message, result, send, web};
use crate::support::{CURRENT, within};

/// A message to a task.
fn to(task: &Value, text: &str) -> Value {
    let mut message = message(text);
    message["taskId"] = task["id"].clone();
    message["messageId"] = json!("m2");
    json!({"message": message})
}

#[tokio::test]
async fn w1_w3_the_card_is_given_as_each_client_asks_for_it() {
    within(async {
        let server = agent().await;
        let path = "/.well-known/agent-card.json";
        // Go sends no version, and takes a 200 only.
        let plain = web(&server).get(path, &[]).await;
        assert_eq!(
            (plain.status, plain.header("content-type")),
            (200, Some("application/json"))
        );
        let tag = plain.header("etag").unwrap().to_owned();
        let known = web(&server)
            .get(path, &[("if-none-match", &tag), ("a2a-version", "1.0")])
            .await;
        assert_eq!((known.status, known.body.len()), (304, 0));
        let head = web(&server).send("HEAD", path, &[], None).await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        // Nothing of 0.3 stands in it, which would make a client of both choose the older.
        for key in [
            "url",
            "preferredTransport",
            "protocolVersion",
            "additionalInterfaces",
            "security",
        ] {
            assert_eq!(plain.json().get(key), None, "{key}");
        }
    })
    .await;
}

#[tokio::test]
async fn w2_w4_w5_the_card_has_no_nulls_and_names_what_every_client_understands() {
    within(async {
        let server = agent().await;
        let card = web(&server).get("/.well-known/agent-card.json", &[]).await;
        assert!(!card.text().contains("null"), "{}", card.text());
        let interfaces = card.json()["supportedInterfaces"]
            .as_array()
            .unwrap()
            .clone();
        for interface in &interfaces {
            assert_eq!(interface["protocolVersion"], "1.0");
            let binding = interface["protocolBinding"].as_str().unwrap();
            // Names are compared by letter case in Go, and JS hands the address to gRPC as it is.
            assert!(
                ["JSONRPC", "HTTP+JSON", "GRPC"].contains(&binding),
                "{binding}"
            );
            let url = interface["url"].as_str().unwrap();
            assert_eq!(url.contains("://"), binding != "GRPC", "{url}");
        }
        assert_eq!(interfaces.len(), 3);
        // A card without schemes has no requirement, which the Go client would fail the card for.
        assert_eq!(card.json().get("securityRequirements"), None);
    })
    .await;
}

#[tokio::test]
async fn w6_w7_w8_a_version_is_asked_for_in_the_header_or_the_query_and_patches_do_not_matter() {
    within(async {
        let server = agent().await;
        for (headers, path, status) in [
            (&[][..], "/tasks", 400),
            (&[("a2a-version", "0.3")], "/tasks", 400),
            (&[("a2a-version", "2.0")], "/tasks", 400),
            (&[("a2a-version", "1.0")], "/tasks", 200),
            (&[("a2a-version", "1.0.7")], "/tasks", 200),
            (&[("a2a-version", "1.1")], "/tasks", 400),
            (&[], "/tasks?A2A-Version=1.0", 200),
        ] {
            let answer = web(&server).get(path, headers).await;
            assert_eq!(answer.status, status, "{headers:?} {path}");
            if status == 400 {
                assert!(answer.text().contains("VERSION_NOT_SUPPORTED"));
            }
        }
    })
    .await;
}

#[tokio::test]
async fn w18_a_slash_at_the_end_of_the_address_does_not_matter() {
    within(async {
        let server = agent_with(|builder| builder.json_rpc_path("/rpc")).await;
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}"#;
        for path in ["/rpc", "/rpc/"] {
            assert_eq!(
                web(&server).post(path, CURRENT, body).await.status,
                200,
                "{path}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn w50_what_is_asked_of_a_finished_unknown_or_running_task_is_told_by_its_code() {
    within(async {
        let server = agent().await;
        let done = send(&server, "hi").await;
        let id = json!({"id": done["id"]});
        assert_eq!(
            error(&server, "SendMessage", &to(&done, "more")).await["code"],
            -32004
        );
        assert_eq!(error(&server, "CancelTask", &id).await["code"], -32002);
        let running = begin(&server, "hang").await;
        let id = json!({"id": running["id"]});
        let canceled = result(&server, "CancelTask", &id).await;
        assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
        // A second cancel comes to the same.
        let again = result(&server, "CancelTask", &id).await;
        assert_eq!(again["status"], canceled["status"]);
        let none = json!({"id": "none"});
        assert_eq!(
            error(&server, "SendMessage", &to(&none, "hi")).await["code"],
            -32001
        );
        assert_eq!(error(&server, "CancelTask", &none).await["code"], -32001);
        // A task that is parked can be joined.
        let parked = send(&server, "ask").await;
        let path = format!("/tasks/{}:subscribe", parked["id"].as_str().unwrap());
        let mut stream = web(&server).open("GET", &path, CURRENT, None).await;
        assert_eq!(stream.status, 200);
        assert!(stream.event().await.contains("INPUT_REQUIRED"));
    })
    .await;
}

#[tokio::test]
async fn w51_an_executor_that_fails_leaves_a_failed_task_and_no_call_that_hangs() {
    within(async {
        let server = agent().await;
        let task = send(&server, "raise").await;
        assert_eq!(task["status"]["state"], "TASK_STATE_FAILED");
        assert!(!task.to_string().contains("boom"), "{task}");
        let params = json!({"message": message("raise")}).to_string();
        let stream = web(&server).post("/message:stream", CURRENT, params).await;
        let last = stream.frames().pop().unwrap();
        assert!(
            last.name.is_empty() && last.data.contains("TASK_STATE_FAILED"),
            "{last:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn w55_a_reader_of_a_parked_task_sees_the_answer_of_another_caller() {
    within(async {
        let server = agent().await;
        let parked = send(&server, "ask").await;
        let path = format!("/tasks/{}:subscribe", parked["id"].as_str().unwrap());
        let mut reader = web(&server).open("GET", &path, CURRENT, None).await;
        assert!(reader.event().await.contains("INPUT_REQUIRED"));
        result(&server, "SendMessage", &to(&parked, "yes")).await;
        let rest = reader.read().await;
        assert!(
            rest.frames()
                .last()
                .unwrap()
                .data
                .contains("TASK_STATE_COMPLETED"),
            "{rest:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn w58_a_task_of_another_tenant_does_not_exist() {
    within(async {
        let server = agent().await;
        let task = send(&server, "ask").await;
        for method in ["GetTask", "CancelTask"] {
            let foreign = error(
                &server,
                method,
                &json!({"tenant": "acme", "id": task["id"]}),
            )
            .await;
            let none = error(&server, method, &json!({"tenant": "acme", "id": "none"})).await;
            assert_eq!(
                (&foreign["code"], &foreign),
                (&json!(-32001), &none),
                "{method}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn w60_ids_that_the_agent_makes_fit_into_a_column_of_a_uuid() {
    within(async {
        let server = agent().await;
        let task = send(&server, "hi").await;
        for id in [
            &task["id"],
            &task["contextId"],
            &task["artifacts"][0]["artifactId"],
        ] {
            assert!(id.as_str().unwrap().len() <= 36, "{id}");
        }
    })
    .await;
}

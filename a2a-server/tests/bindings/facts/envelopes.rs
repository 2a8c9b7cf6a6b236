use serde_json::{Value, json};

use super::{agent, error, message, result, rpc, send, web};
use crate::support::{CURRENT, within};

/// The ids that the clients of the SDKs send.
const IDS: [&str; 5] = [
    r#""8d7f1c5e-5a1e-4b8f-9d65-6b3f6f0c8e11""#,
    "1",
    "9007199254740993",
    "0",
    r#""1""#,
];

#[tokio::test]
async fn w13_an_answer_an_error_and_every_frame_carry_the_id_as_it_was_sent() {
    within(async {
        let server = agent().await;
        for id in IDS {
            let request = |method: &str, params: Value| {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
            };
            let send = json!({"message": message("hi")});
            let good = web(&server)
                .post("/", CURRENT, request("SendMessage", send.clone()))
                .await;
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            let text = good.text();
            assert!(text.starts_with(&start), "{text}");
            assert!(
                good.json().get("error").is_none(),
                "not even as null: {text}"
            );
            let bad = web(&server)
                .post("/", CURRENT, request("GetTask", json!({"id": "none"})))
                .await;
            let text = bad.text();
            assert!(text.starts_with(&start), "{text}");
            assert!(
                bad.json().get("result").is_none(),
                "not even as null: {text}"
            );
            let stream = web(&server)
                .post("/", CURRENT, request("SendStreamingMessage", send))
                .await;
            let missing = request("SubscribeToTask", json!({"id": "none"}));
            let early = web(&server).post("/", CURRENT, missing).await;
            let frames = [stream.frames(), early.frames()].concat();
            assert!(frames.len() >= 3, "{frames:?}");
            for frame in frames {
                assert!(frame.data.starts_with(&start), "{}", frame.data);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn w14_a_call_without_params_is_one_with_none() {
    within(async {
        let server = agent().await;
        for params in ["", r#","params":{}"#, r#","params":null"#] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ListTasks"{params}}}"#);
            let answer = web(&server).post("/", CURRENT, body).await.json();
            assert_eq!(answer["result"]["totalSize"], 0, "{answer}");
        }
    })
    .await;
}

#[tokio::test]
async fn w15_names_in_snake_case_numbers_of_enums_and_unknown_members_are_taken() {
    within(async {
        let server = agent().await;
        let message = json!({"message_id": "m", "role": 1, "parts": [{"text": "hi", "media_type": "text/plain", "kind": "text"}],
            "kind": "message", "unknown": {"deep": [1]}});
        let params = json!({"message": message, "configuration": {"accepted_output_modes": ["text/plain"], "blocking": true}});
        let task = result(&server, "SendMessage", &params).await["task"].clone();
        assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(task["history"][0]["messageId"], "m");
        // A role that nobody knows is none, and the error says which there are.
        for role in ["user", "UNRECOGNIZED"] {
            let params = json!({"message": {"messageId": "m", "role": role, "parts": [{"text": "hi"}]}});
            let error = error(&server, "SendMessage", &params).await;
            assert_eq!(error["code"], -32602);
            let said = error["message"].as_str().unwrap();
            assert!(said.contains("message.role") && said.contains("ROLE_USER"), "{said}");
        }
        // What an untyped JS client sends where it leaves the status out.
        let params = json!({"status": "UNRECOGNIZED"});
        let listed = rpc(&server, &json!(1), "ListTasks", &params).await.json();
        assert!(listed["error"]["code"] == -32602 || listed["result"]["tasks"].is_array(), "{listed}");
    })
    .await;
}

#[tokio::test]
async fn w12_w16_w17_everything_is_answered_in_json_and_errors_with_status_200() {
    within(async {
        let server = agent().await;
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}"#;
        for (headers, body, code) in [
            (&[("a2a-version", "1.0")][..], "[]", -32600),
            (&[("a2a-version", "1.0")], &format!("[{list}]"), -32600),
            (&[("a2a-version", "1.0")], "{", -32700),
            (&[("a2a-version", "9.0")], list, -32009),
            (&[], list, -32009),
        ] {
            let answer = web(&server).post("/", headers, body).await;
            assert_eq!(answer.status, 200, "{body}: {answer:?}");
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!(answer.json()["error"]["code"], code, "{body}");
        }
        let get = web(&server).get("/", CURRENT).await;
        assert_eq!(
            (get.status, get.json()["error"]["code"].as_i64()),
            (405, Some(-32600))
        );
        for media_type in ["application/json", "application/json; charset=utf-8"] {
            let headers = [("a2a-version", "1.0"), ("content-type", media_type)];
            assert_eq!(web(&server).post("/", &headers, list).await.status, 200);
        }
    })
    .await;
}

#[tokio::test]
async fn w20_a_sent_message_is_answered_with_a_wrapper_and_a_task_that_is_asked_for_is_bare() {
    within(async {
        let server = agent().await;
        let sent = result(&server, "SendMessage", &json!({"message": message("hi")})).await;
        assert_eq!(
            sent.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["task"]
        );
        let id = &sent["task"]["id"];
        let bare = result(&server, "GetTask", &json!({"id": id})).await;
        assert_eq!((&bare["id"], bare.get("task")), (id, None));
    })
    .await;
}

#[tokio::test]
async fn w45_w47_w48_a_list_has_its_four_members_and_the_size_that_was_asked_for() {
    within(async {
        let server = agent().await;
        let empty = result(&server, "ListTasks", &json!({})).await;
        let expected = json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0});
        assert_eq!(empty, expected);
        for text in ["one", "two", "three"] {
            send(&server, text).await;
        }
        let first = result(&server, "ListTasks", &json!({"pageSize": 2})).await;
        assert_eq!(
            (&first["pageSize"], &first["totalSize"]),
            (&json!(2), &json!(3))
        );
        let token = first["nextPageToken"].as_str().unwrap();
        // Go and Python put it into a query as it is.
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        assert!(!token.is_empty() && token.bytes().all(safe), "{token}");
        let rest = web(&server)
            .get(&format!("/tasks?pageSize=2&pageToken={token}"), CURRENT)
            .await;
        assert_eq!(rest.json()["tasks"].as_array().unwrap().len(), 1);
        assert_eq!(rest.json()["nextPageToken"], "");
        for size in [0, 101, -1] {
            let error = error(&server, "ListTasks", &json!({"pageSize": size})).await;
            assert_eq!(error["code"], -32602, "{size}");
        }
        let bad = error(&server, "ListTasks", &json!({"pageToken": "?"})).await;
        assert_eq!(bad["code"], -32602, "{bad}");
    })
    .await;
}

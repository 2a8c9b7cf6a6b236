use serde_json::{Value, json};

use super::{agent, begin, message, send, web};
use crate::support::{CURRENT, Peer, Response, Script, within};

fn request(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": "s", "method": method, "params": params}).to_string()
}

/// The answers to the same call over JSON-RPC and over HTTP+JSON.
async fn both(server: &a2a_server::Server, text: &str) -> [Response; 2] {
    let params = json!({"message": message(text)});
    let rpc = request("SendStreamingMessage", &params);
    [
        web(server).post("/", CURRENT, rpc).await,
        web(server)
            .post("/message:stream", CURRENT, params.to_string())
            .await,
    ]
}

#[tokio::test]
async fn w34_w35_each_event_is_one_line_ended_by_lf_under_a_head_that_proxies_understand() {
    within(async {
        let server = agent().await;
        for answer in both(&server, "two\nlines\r\nand \u{2028} more").await {
            assert_eq!(answer.header("content-type"), Some("text/event-stream"));
            assert_eq!(answer.header("cache-control"), Some("no-cache"));
            assert_eq!(answer.header("x-accel-buffering"), Some("no"));
            let text = answer.text();
            assert!(!text.contains('\r') && text.ends_with("\n\n"), "{text}");
            for event in text.trim_end().split("\n\n") {
                let lines: Vec<&str> = event.lines().collect();
                assert_eq!(lines.len(), 1, "{event}");
                let data = lines[0].strip_prefix("data: ").unwrap();
                assert!(serde_json::from_str::<Value>(data).is_ok(), "{data}");
            }
            assert!(!text.contains("[DONE]"));
        }
    })
    .await;
}

#[tokio::test]
async fn w36_an_early_error_is_one_frame_on_json_rpc_and_a_status_on_http_json() {
    within(async {
        let server = agent().await;
        let params = json!({"id": "none"});
        let rpc = web(&server)
            .post("/", CURRENT, request("SubscribeToTask", &params))
            .await;
        assert_eq!((rpc.status, rpc.is_event_stream()), (200, true));
        let frames = rpc.frames();
        let error: Value = serde_json::from_str(&frames[0].data).unwrap();
        assert_eq!(
            (frames.len(), &error["id"], &error["error"]["code"]),
            (1, &json!("s"), &json!(-32001))
        );
        let rest = web(&server)
            .send("POST", "/tasks/none:subscribe", CURRENT, None)
            .await;
        assert_eq!(
            (rest.status, rest.header("content-type")),
            (404, Some("application/json"))
        );
        assert_eq!(rest.json()["error"]["status"], "NOT_FOUND");
    })
    .await;
}

#[tokio::test]
async fn w37_an_error_in_the_middle_is_named_as_one() {
    within(async {
        let error = a2a_proto::A2aError::internal("gone");
        let peer = Peer::start(Script::holding(Some(error))).await;
        let params = json!({"id": "t1"});
        let rpc = request("SubscribeToTask", &params);
        for (verb, path, body) in [
            ("POST", "/", Some(rpc.as_bytes())),
            ("GET", "/tasks/t1:subscribe", None),
        ] {
            let mut stream = peer.web().open(verb, path, CURRENT, body).await;
            stream.event().await;
            if verb == "POST" {
                peer.script.release();
            }
            let rest = stream.read().await;
            let frames = rest.frames();
            assert_eq!(frames[0].name, "error", "{rest:?}");
            let data: Value = serde_json::from_str(&frames[0].data).unwrap();
            assert_eq!(data["error"]["message"], "gone");
            assert_eq!(data.get("id"), (verb == "POST").then(|| &data["id"]));
        }
    })
    .await;
}

#[tokio::test]
async fn w10_activated_extensions_are_told_in_the_head_of_answers_and_streams() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let uri = crate::support::OPTIONAL_EXTENSION;
        let headers = [
            ("a2a-version", "1.0"),
            ("a2a-extensions", uri),
            ("a2a-extensions", "https://e.test/unknown"),
        ];
        for path in ["/tasks/t1", "/tasks/t1:subscribe"] {
            let answer = peer.web().get(path, &headers).await;
            assert_eq!(answer.header("a2a-extensions"), Some(uri), "{path}");
        }
        // Python joins them, Go writes a line each, and both may repeat themselves.
        let joined = format!("https://e.test/unknown, {uri},{uri}");
        let headers = [("a2a-version", "1.0"), ("a2a-extensions", joined.as_str())];
        let answer = peer.web().get("/tasks/t1", &headers).await;
        assert_eq!(answer.header("a2a-extensions"), Some(uri));
    })
    .await;
}

#[tokio::test]
async fn w39_w54_w55_a_stream_starts_with_the_task_and_ends_at_its_closing_event() {
    within(async {
        let server = agent().await;
        let parked = send(&server, "ask").await;
        let mut answer = message("yes");
        answer["taskId"] = parked["id"].clone();
        answer["messageId"] = json!("m2");
        let params = json!({"message": answer}).to_string();
        let stream = web(&server).post("/message:stream", CURRENT, params).await;
        let events: Vec<Value> = stream
            .frames()
            .iter()
            .map(|frame| serde_json::from_str(&frame.data).unwrap())
            .collect();
        assert_eq!(events[0]["task"]["id"], parked["id"]);
        // Only the first event is a whole task.
        assert!(
            events[1..].iter().all(|event| event.get("task").is_none()),
            "{events:?}"
        );
        let last = events.last().unwrap();
        assert_eq!(
            last["statusUpdate"]["status"]["state"],
            "TASK_STATE_COMPLETED"
        );
    })
    .await;
}

#[tokio::test]
async fn w57_w61_a_caller_that_drops_its_stream_stops_nothing_and_joins_again_without_a_gap() {
    within(async {
        let server = agent().await;
        let params = json!({"message": message("hang")}).to_string();
        let mut stream = web(&server)
            .open("POST", "/message:stream", CURRENT, Some(params.as_bytes()))
            .await;
        let first: Value = serde_json::from_str(&stream.event().await).unwrap();
        let id = first["task"]["id"].as_str().unwrap().to_owned();
        drop(stream);
        let mut again = web(&server)
            .open("GET", &format!("/tasks/{id}:subscribe"), CURRENT, None)
            .await;
        let mut event: Value = serde_json::from_str(&again.event().await).unwrap();
        assert_eq!(event["task"]["id"], id);
        let mut state = event["task"]["status"]["state"].clone();
        if state == "TASK_STATE_SUBMITTED" {
            event = serde_json::from_str(&again.event().await).unwrap();
            state = event["statusUpdate"]["status"]["state"].clone();
        }
        assert_eq!(state, "TASK_STATE_WORKING");
        let path = format!("/tasks/{id}:cancel");
        web(&server).send("POST", &path, CURRENT, None).await;
        let rest = again.read().await;
        let last = rest.frames().pop().unwrap();
        assert!(last.data.contains("TASK_STATE_CANCELED"), "{rest:?}");
    })
    .await;
}

#[tokio::test]
async fn w38_a_stream_that_a_client_ends_is_taken_up_again() {
    within(async {
        let server = agent().await;
        let task = begin(&server, "hang").await;
        let path = format!("/tasks/{}:subscribe", task["id"].as_str().unwrap());
        // Go's client ends every stream after three minutes and asks again.
        for _ in 0..3 {
            let mut stream = web(&server).open("POST", &path, CURRENT, None).await;
            let first: Value = serde_json::from_str(&stream.event().await).unwrap();
            assert_eq!(first["task"]["id"], task["id"]);
        }
    })
    .await;
}

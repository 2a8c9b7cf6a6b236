//! Events as they travel, and what happens when nobody reads them.

use a2a_proto::wire::read_event;
use http_body_util::BodyExt as _;
use serde_json::json;
use tower_service::Service as _;

use crate::support::grpc::{channel, encode, open};
use crate::support::{CURRENT, Peer, Script, operations, within};

const SUBSCRIBE: &str =
    r#"{"jsonrpc":"2.0","id":"s\"1","method":"SubscribeToTask","params":{"id":"t1"}}"#;

#[tokio::test]
async fn jrpc_11_rest_14_sse_01_events_are_one_line_each_and_headers_keep_proxies_from_waiting() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let rpc = peer.web().post("/", CURRENT, SUBSCRIBE).await;
        let rest = peer.web().get("/tasks/t1:subscribe", CURRENT).await;
        for response in [&rpc, &rest] {
            assert_eq!(response.status, 200);
            assert_eq!(response.header("content-type"), Some("text/event-stream"));
            assert_eq!(response.header("cache-control"), Some("no-cache"));
            assert_eq!(response.header("x-accel-buffering"), Some("no"));
        }
        let events = [
            json!({"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_SUBMITTED"}}}),
            json!({"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}}),
        ];
        assert_eq!(rpc.frames().len(), 2);
        for (index, expected) in events.iter().enumerate() {
            let bare: serde_json::Value = serde_json::from_str(&rest.frames()[index].data).unwrap();
            let state = &bare["task"]["status"]["state"];
            assert_eq!(state, &expected["task"]["status"]["state"]);
            read_event(rest.frames()[index].data.as_bytes()).unwrap();
            let wrapped = format!(r#"{{"jsonrpc":"2.0","id":"s\"1","result":{}}}"#, rest.frames()[index].data);
            assert_eq!(keys(&rpc.frames()[index].data), keys(&wrapped));
            assert!(rpc.frames()[index].data.starts_with(r#"{"jsonrpc":"2.0","id":"s\"1","result":{"#));
        }
        for line in rest.text().lines() {
            assert!(line.is_empty() || line.starts_with("data: {"), "{line}");
        }
        assert!(rest.text().ends_with("\n\n"));
    })
    .await;
}

fn keys(json: &str) -> Vec<String> {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn an_event_is_sent_before_the_next_one_exists() {
    within(async {
        let peer = Peer::start(Script::holding(None)).await;
        let mut stream = peer
            .web()
            .open("GET", "/tasks/t1:subscribe", CURRENT, None)
            .await;
        assert!(stream.event().await.contains("SUBMITTED"));
        peer.script.release();
        assert!(stream.event().await.contains("COMPLETED"));
        assert!(stream.read().await.body.iter().all(u8::is_ascii_whitespace));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn sse_02_a_silent_stream_gets_a_comment_every_15_seconds() {
    within(async {
        let peer = Peer::start(Script::holding(None)).await;
        for (verb, path, body) in [
            ("GET", "/tasks/t1:subscribe", None),
            ("POST", "/", Some(SUBSCRIBE)),
        ] {
            let start = tokio::time::Instant::now();
            let mut stream = peer
                .web()
                .open(verb, path, CURRENT, body.map(str::as_bytes))
                .await;
            stream.event().await;
            assert_eq!(stream.line().await, "");
            for seconds in [15, 30, 45] {
                assert!(stream.line().await.starts_with(':'));
                assert_eq!(stream.line().await, "");
                assert_eq!(start.elapsed().as_secs(), seconds);
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_start_takes_long_gets_comments_too() {
    within(async {
        let peer = Peer::start(Script::hanging()).await;
        for (verb, path, body) in [
            ("GET", "/tasks/t1:subscribe", None),
            ("POST", "/", Some(SUBSCRIBE)),
        ] {
            let mut stream = peer
                .web()
                .open(verb, path, CURRENT, body.map(str::as_bytes))
                .await;
            assert_eq!(stream.status, 200);
            assert!(stream.line().await.starts_with(':'));
            drop(stream);
            peer.script.dropped().await;
        }
    })
    .await;
}

#[tokio::test]
async fn sse_06_str_10_a_client_that_leaves_ends_its_subscription() {
    within(async {
        let peer = Peer::start(Script::holding(None)).await;
        for (verb, path, body) in [
            ("GET", "/tasks/t1:subscribe", None),
            ("POST", "/", Some(SUBSCRIBE)),
        ] {
            let mut stream = peer
                .web()
                .open(verb, path, CURRENT, body.map(str::as_bytes))
                .await;
            stream.event().await;
            drop(stream);
            peer.script.dropped().await;
        }
        let subscribe = operations()
            .into_iter()
            .find(|operation| operation.method().name() == "SubscribeToTask");
        let subscribe = subscribe.unwrap();
        let path = subscribe.method().grpc_path();
        let channel = channel(peer.server.local_addr()).await;
        let mut events = open(channel, path, CURRENT, encode(&subscribe))
            .await
            .unwrap()
            .into_inner();
        events.message().await.unwrap().unwrap();
        drop(events);
        peer.script.dropped().await;
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_leaves_ends_its_call() {
    within(async {
        let peer = Peer::start(Script::hanging()).await;
        let address = peer.server.local_addr();
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let request =
            format!("GET /tasks/t1 HTTP/1.1\r\nhost: {address}\r\na2a-version: 1.0\r\n\r\n");
        tokio::io::AsyncWriteExt::write_all(&mut socket, request.as_bytes())
            .await
            .unwrap();
        peer.script.called().await;
        drop(socket);
        peer.script.dropped().await;
    })
    .await;
}

#[tokio::test]
async fn the_http_bindings_are_spoken_over_http2_too() {
    within(async {
        let peer = Peer::start(Script::holding(None)).await;
        let mut channel = channel(peer.server.local_addr()).await;
        for (verb, path, body) in [("GET", "/tasks/t1:subscribe", ""), ("POST", "/", SUBSCRIBE)] {
            let request = http::Request::builder()
                .method(verb)
                .uri(path)
                .header("a2a-version", "1.0")
                .body(tonic::body::Body::new(body.to_owned()))
                .unwrap();
            std::future::poll_fn(|cx| channel.poll_ready(cx))
                .await
                .unwrap();
            let response = channel.call(request).await.unwrap();
            assert_eq!(response.version(), http::Version::HTTP_2);
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            let mut body = response.into_body();
            let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(frame.starts_with(b"data: {"), "{frame:?}");
            drop(body);
            peer.script.dropped().await;
        }
    })
    .await;
}

//! The listener: connections that are silent, large, or still open at the end.

use std::error::Error as _;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_server::{Agent, AgentRouter, Limits, executor_fn};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::support::{CURRENT, Peer, Script, card, grpc, operations, within};

/// How long the server leaves a connection open on which these bytes come at first.
async fn lives(bytes: &[u8]) -> Duration {
    let peer = Peer::start(Script::default()).await;
    let mut socket = TcpStream::connect(peer.server.local_addr()).await.unwrap();
    let start = Instant::now();
    socket.write_all(bytes).await.unwrap();
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest).await;
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_sends_no_whole_head_is_closed_after_10_seconds() {
    within(async {
        for bytes in [
            &b""[..],
            b"PRI * HTTP/2.0\r\n",
            b"GET / HT",
            b"GET / HTTP/1.1\r\nhost: x\r\n",
        ] {
            assert_eq!(lives(bytes).await.as_secs(), 10, "{bytes:?}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_http2_connection_is_pinged_and_closed_when_it_does_not_answer() {
    within(async {
        let mut preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // An empty SETTINGS frame.
        preface.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
        assert_eq!(lives(&preface).await.as_secs(), 40);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_http1_connection_may_wait_for_its_next_request() {
    within(async {
        let request = b"GET /tasks/t1 HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\n\r\n";
        assert_eq!(lives(request).await.as_secs(), 75);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_coming_is_refused_after_75_seconds() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let echo = executor_fn(|cx, out| async move { Ok(out.reply(cx.message().text()).await?) });
        let agent = Agent::builder(echo).build().unwrap();
        let router = AgentRouter::new().agent("one", agent);
        let router = router.bind("127.0.0.1:0").await.unwrap();
        for (address, path) in [
            (peer.server.local_addr(), "/"),
            (peer.server.local_addr(), "/message:send"),
            (router.local_addr(), "/"),
        ] {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\na2a-version: 1.0\r\ncontent-type: application/json\r\n\
                 content-length: 100\r\n\r\n{{"
            );
            let start = Instant::now();
            socket.write_all(head.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            let _ = socket.read_to_end(&mut answer).await;
            let answer = String::from_utf8(answer).unwrap();
            assert!(start.elapsed().as_secs() >= 75, "{path}");
            assert!(answer.contains("INVALID_REQUEST"), "{path}: {answer}");
        }
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn sec_07_headers_over_the_limit_are_refused() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.limits(Limits::default().header_bytes(16 * 1024))
        })
        .await;
        let large = "x".repeat(20 * 1024);
        let headers = [("a2a-version", "1.0"), ("x-large", large.as_str())];
        assert_eq!(peer.web().get("/tasks/t1", &headers).await.status, 431);
        let headers = [("a2a-version", "1.0"), ("x-large", &large[..10_000])];
        assert_eq!(peer.web().get("/tasks/t1", &headers).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn shutdown_ends_open_streams_with_what_the_handler_says_and_refuses_new_connections() {
    within(async {
        let last_words =
            A2aError::unavailable("shutting down").with_retry_after(Duration::from_secs(1));
        let peer = Peer::start(Script::holding(Some(last_words))).await;
        let address = peer.server.local_addr();
        let mut stream = peer
            .web()
            .open("GET", "/tasks/t1:subscribe", CURRENT, None)
            .await;
        stream.event().await;
        let (rest, ()) = tokio::join!(stream.read(), peer.server.shutdown());
        assert!(
            rest.text().contains("event: error") && rest.text().contains("UNAVAILABLE"),
            "{rest:?}"
        );
        assert!(TcpStream::connect(address).await.is_err());
        peer.server.wait().await;
    })
    .await;
}

#[tokio::test]
async fn shutdown_ends_grpc_streams_with_a_status_and_not_with_a_broken_connection() {
    within(async {
        let last_words =
            A2aError::unavailable("shutting down").with_retry_after(Duration::from_secs(1));
        let peer = Peer::start(Script::holding(Some(last_words))).await;
        let subscribe = operations().remove(5);
        let channel = grpc::channel(peer.server.local_addr()).await;
        let path = subscribe.method().grpc_path();
        let message = grpc::encode(&subscribe);
        let opened = grpc::open(channel, path, CURRENT, message).await;
        let mut events = opened.unwrap().into_inner();
        events.message().await.unwrap().unwrap();
        let (end, ()) = tokio::join!(events.message(), peer.server.shutdown());
        let error = A2aError::from(&end.unwrap_err());
        assert_eq!(error.message(), "shutting down");
        assert!(error.is_retryable());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_cuts_off_after_the_grace_what_does_not_end() {
    within(async {
        let peer = Peer::start(Script::holding(None)).await;
        let mut stream = peer
            .web()
            .open("GET", "/tasks/t1:subscribe", CURRENT, None)
            .await;
        stream.event().await;
        let start = Instant::now();
        peer.server.shutdown().await;
        assert_eq!(start.elapsed().as_secs(), 5);
        peer.script.dropped().await;
        assert!(!stream.read().await.text().contains("data"));
    })
    .await;
}

#[tokio::test]
async fn a_dropped_server_cuts_everything_off() {
    within(async {
        let peer = Peer::start(Script::holding(None)).await;
        let mut stream = peer
            .web()
            .open("GET", "/tasks/t1:subscribe", CURRENT, None)
            .await;
        stream.event().await;
        drop(peer.server);
        peer.script.dropped().await;
        assert!(!stream.read().await.text().contains("data"));
    })
    .await;
}

#[tokio::test]
async fn an_address_that_cannot_be_listened_on_is_named_with_a_remedy() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let taken = peer.server.local_addr();
        let error = peer.endpoint.bind(taken).await.unwrap_err();
        assert!(error.to_string().contains(&taken.to_string()), "{error}");
        assert!(error.to_string().contains("taken"), "{error}");
        let error = peer.endpoint.bind("nonsense").await.unwrap_err();
        assert!(error.to_string().contains("127.0.0.1:8080"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_cannot_be_put_together_says_what_is_missing() {
    within(async {
        let agent = Agent::builder(executor_fn(async |_, _| Ok(()))).extended_card(|_| None);
        let error = agent.bind("127.0.0.1:0").await.unwrap_err();
        let cause = error.source().unwrap().to_string();
        assert!(cause.contains("authenticator"), "{error}: {cause}");
    })
    .await;
}

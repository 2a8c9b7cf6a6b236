use std::sync::Arc;
use std::time::Duration;

use a2a_client::proto::header::Version;
use a2a_client::proto::v1::AgentInterface;
use a2a_client::{Binding, CardCache, Client, ErrorCode, reqwest};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::peer::{Peer, Step, json_body, result, task, whole};
use crate::run;

fn card(url: &str) -> Value {
    json!({
        "name": "scripted", "capabilities": {}, "skills": null,
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "securityRequirements": [{"schemes": {"key": ["scope"]}}], "url": "https://old.test",
    })
}

#[test]
fn card_16_ver_01_a_base_url_leads_to_the_card_and_to_the_interface() {
    run(async {
        // The card names another peer, which answers the call.
        let mut agent = Peer::start([json_body(200, &result(1, &task("COMPLETED")))]).await;
        let mut site = Peer::start([json_body(200, &card(&agent.url("/rpc")))]).await;
        let builder = Client::builder()
            .header("x-user-id", "ann")
            .extension("https://e.test/x");
        let client = builder.connect(site.url("/agents/a/")).await.unwrap();
        let request = site.request().await;
        assert_eq!(request.line, "GET /agents/a/.well-known/agent-card.json");
        assert_eq!(request.header("a2a-version"), "1.0");
        assert_eq!(request.header("x-user-id"), "ann");
        assert_eq!(client.card().unwrap().name, "scripted");
        assert_eq!(client.binding(), Some(Binding::JsonRpc));
        client.send_text("hi").await.unwrap();
        let request = agent.request().await;
        assert_eq!(request.line, "POST /rpc");
        assert_eq!(request.header("a2a-version"), "1.0");
        assert_eq!(request.header("a2a-extensions"), "https://e.test/x");
        assert_eq!(request.header("x-user-id"), "ann");
    });
}

#[test]
fn card_16_a_full_card_url_is_used_as_it_is() {
    run(async {
        let mut site = Peer::start([whole(200, "", card("http://h.test/rpc").to_string())]).await;
        let client = Client::connect(site.url("/cards/mine.json")).await.unwrap();
        assert_eq!(site.request().await.line, "GET /cards/mine.json");
        assert_eq!(client.interface().url, "http://h.test/rpc");
    });
}

#[test]
fn a_card_of_0_3_is_told_as_such() {
    run(async {
        let old = json!({"name": "old", "url": "http://h.test", "protocolVersion": "0.3.0"});
        let site = Peer::start([json_body(200, &old)]).await;
        let error = Client::connect(site.url("")).await.unwrap_err();
        assert_eq!(error.peer_speaks(), Some(Version::V0_3), "{error}");
        assert!(error.to_string().contains("0.3"), "{error}");
    });
}

#[test]
fn what_is_no_card_is_a_typed_error() {
    run(async {
        let fetch = async |answer| {
            let site = Peer::start([answer]).await;
            Client::connect(site.url("")).await.unwrap_err()
        };
        let html = "<html>welcome</html>";
        assert!(fetch(whole(200, "text/html", html)).await.is_decode());
        let missing = fetch(whole(404, "text/plain", "no")).await;
        assert_eq!(missing.http_status().unwrap(), 404);
        assert_eq!((missing.code(), missing.is_decode()), (None, false));
        let refused = fetch(whole(401, "", "")).await;
        assert_eq!(refused.code(), Some(ErrorCode::Unauthenticated));
        let huge = format!("{{\"name\":\"{}\"}}", "x".repeat(1024 * 1024));
        assert!(
            fetch(whole(200, "application/json", huge))
                .await
                .is_decode()
        );
        assert!(
            fetch(json_body(200, &json!({"name": "empty"})))
                .await
                .is_builder()
        );
    });
}

#[test]
fn a_peer_that_is_not_there_is_a_connect_error() {
    run(async {
        let url = {
            let gone = Peer::start([]).await;
            gone.url("")
        };
        let error = Client::connect(&url).await.unwrap_err();
        assert!(error.is_connect() && error.is_retryable(), "{error:?}");
        for binding in [Binding::Grpc, Binding::HttpJson, Binding::JsonRpc] {
            let client = Client::builder().from_endpoint(binding, &url).unwrap();
            let error = client.send_text("hi").await.unwrap_err();
            assert!(
                error.is_connect() && error.is_retryable(),
                "{binding}: {error:?}"
            );
            let error = client.stream_text("hi").await.unwrap_err();
            assert!(error.is_connect(), "{binding}: {error:?}");
        }
    });
}

#[test]
fn the_callers_own_http_client_is_used() {
    run(async {
        let mut agent = Peer::start([json_body(200, &result(1, &task("COMPLETED")))]).await;
        let mut site = Peer::start([json_body(200, &card(&agent.url("/rpc")))]).await;
        let own = reqwest::Client::builder()
            .user_agent("mine/1")
            .tls_backend_preconfigured(tls())
            .build()
            .unwrap();
        let client = Client::builder()
            .http_client(own)
            .connect(site.url(""))
            .await
            .unwrap();
        assert_eq!(site.request().await.header("user-agent"), "mine/1");
        client.send_text("hi").await.unwrap();
        assert_eq!(agent.request().await.header("user-agent"), "mine/1");
    });
}

fn tls() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

/// Accepts one connection and says what it begins with; says nothing itself.
async fn first_bytes(listener: TcpListener) -> (TcpStream, Vec<u8>) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::with_capacity(4096);
    stream.read_buf(&mut bytes).await.unwrap();
    (stream, bytes)
}

#[test]
fn grpc_12_tls_needs_no_default_provider_and_a_silent_peer_is_given_up() {
    run(async {
        for (binding, scheme) in [
            (Binding::Grpc, "https"),
            (Binding::Grpc, "grpcs"),
            (Binding::JsonRpc, "https"),
            (Binding::HttpJson, "https"),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("{scheme}://{}/", listener.local_addr().unwrap());
            let peer = tokio::spawn(async move {
                let _open = first_bytes(listener).await;
                std::future::pending::<()>().await;
            });
            let builder = Client::builder().connect_timeout(Duration::from_millis(200));
            let client = builder.from_endpoint(binding, url).unwrap();
            let error = client.send_text("hi").await.unwrap_err();
            assert!(
                error.is_connect() && error.is_timeout(),
                "{binding}: {error:?}"
            );
            peer.abort();
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let hello = tokio::spawn(async { first_bytes(listener).await.1 });
        let client = Client::builder()
            .grpc_tls(true)
            .from_endpoint(Binding::Grpc, address)
            .unwrap();
        assert!(client.send_text("hi").await.unwrap_err().is_connect());
        let hello = hello.await.unwrap();
        assert_eq!(hello[0], 22, "a TLS handshake");
        assert!(
            hello.windows(2).any(|window| window == b"h2"),
            "offers HTTP/2"
        );
    });
}

#[test]
fn card_10_an_interface_that_can_not_be_reached_gives_way_to_the_next() {
    run(async {
        let gone = {
            let gone = Peer::start([]).await;
            gone.card(Binding::Grpc)
        };
        let reply = |id| json_body(200, &result(id, &task("COMPLETED")));
        let mut agent = Peer::start([reply(1), reply(2)]).await;
        let mut card = agent.card(Binding::JsonRpc);
        card.supported_interfaces[0].tenant = "second".to_owned();
        card.supported_interfaces
            .splice(0..0, gone.supported_interfaces);
        let client = Client::from_card(card).unwrap();
        assert_eq!(client.binding(), Some(Binding::Grpc));
        for _ in 0..2 {
            client.send_text("hi").await.unwrap();
            let request = agent.request().await;
            assert_eq!(request.json()["params"]["tenant"], "second");
            assert_eq!(client.binding(), Some(Binding::JsonRpc));
        }
        drop(agent);
        let error = client.send_text("hi").await.unwrap_err();
        assert!(error.is_connect());
        assert_eq!(
            client.binding(),
            Some(Binding::JsonRpc),
            "it stays with what it has reached"
        );
    });
}

#[test]
fn card_10_when_none_can_be_reached_it_is_said_and_tried_anew() {
    run(async {
        let cards = [
            Peer::start([]).await.card(Binding::HttpJson),
            Peer::start([]).await.card(Binding::Grpc),
        ];
        let [mut card, other] = cards;
        card.supported_interfaces.extend(other.supported_interfaces);
        let client = Client::from_card(card).unwrap();
        for _ in 0..2 {
            assert!(client.stream_text("hi").await.unwrap_err().is_connect());
            assert_eq!(client.binding(), Some(Binding::HttpJson));
        }
    });
}

#[test]
fn card_10_tls_gives_way_to_tls_only() {
    run(async {
        let agent = Peer::start([json_body(200, &result(1, &task("COMPLETED")))]).await;
        let mut card = agent.card(Binding::JsonRpc);
        for url in [
            agent.url("/").replace("http:", "https:"),
            agent.url("/").replace("http:", "grpcs:"),
        ] {
            let binding = if url.starts_with("grpcs") {
                Binding::Grpc
            } else {
                Binding::JsonRpc
            };
            card.supported_interfaces
                .insert(0, AgentInterface::new(url, binding));
        }
        let builder = Client::builder().connect_timeout(Duration::from_millis(200));
        let client = builder.from_card(card).unwrap();
        assert!(client.send_text("secret").await.unwrap_err().is_connect());
        assert_eq!(agent.waiting(), 0);
    });
}

#[test]
fn credentials_stay_with_the_host_that_they_are_for() {
    run(async {
        let other = Peer::start([]).await;
        let redirect = format!(
            "HTTP/1.1 302 X\r\nlocation: {}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            other.url("/x")
        );
        let site = Peer::start([vec![Step::Write(redirect.into_bytes())]]).await;
        let builder = Client::builder().header("x-api-key", "secret");
        let error = builder.connect(site.url("")).await.unwrap_err();
        assert_eq!(error.http_status().unwrap(), 302);
        assert_eq!(other.waiting(), 0);
    });
}

#[test]
fn settings_that_can_not_be_are_told_when_the_client_is_made() {
    let error = Client::builder()
        .header("bad name", "x")
        .from_endpoint(Binding::Grpc, "h.test:1")
        .unwrap_err();
    assert!(error.is_builder());
    let error = Client::builder()
        .header("x", "a\nb")
        .from_endpoint(Binding::Grpc, "h.test:1")
        .unwrap_err();
    assert!(error.is_builder() && error.to_string().contains('x'));
    let error = Client::builder()
        .from_endpoint(Binding::JsonRpc, "not a url")
        .unwrap_err();
    assert!(
        error.is_builder() && error.to_string().contains("not a url"),
        "{error}"
    );
}

/// A card with such a header.
fn with_header(header: &str, card: &Value) -> Vec<Step> {
    let body = card.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{header}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    vec![Step::Write((head + &body).into_bytes())]
}

#[test]
fn card_13_a_card_is_kept_and_asked_for_with_a_condition() {
    run(async {
        let old = card("http://h.test/old");
        let same = vec![Step::Write(
            b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n".to_vec(),
        )];
        let new = with_header("cache-control: max-age=60", &card("http://h.test/new"));
        let first = with_header("etag: \"1\"\r\ncache-control: no-cache", &old);
        let mut site = Peer::start([first, same, new]).await;
        let cards = CardCache::new().with_lifetime(Duration::ZERO);
        let mut urls = Vec::new();
        for _ in 0..5 {
            let builder = Client::builder().card_cache(&cards);
            let client = builder.connect(site.url("")).await.unwrap();
            urls.push(client.interface().url.clone());
        }
        let [old, new] = ["http://h.test/old", "http://h.test/new"];
        assert_eq!(urls, [old, old, new, new, new]);
        let asked = [
            site.request().await,
            site.request().await,
            site.request().await,
        ];
        assert_eq!(
            asked.map(|one| one.header("if-none-match").to_owned()),
            ["", "\"1\"", "\"1\""]
        );
        assert_eq!(site.waiting(), 0);
    });
}

#[test]
fn card_13_what_must_not_be_kept_is_fetched_each_time() {
    run(async {
        let secret = || with_header("cache-control: private, no-store", &card("http://h.test/"));
        let mut site = Peer::start([secret(), secret()]).await;
        let cards = CardCache::new();
        for _ in 0..2 {
            let builder = Client::builder().card_cache(&cards);
            builder.connect(site.url("")).await.unwrap();
            assert_eq!(site.request().await.header("if-none-match"), "");
        }
        let broken = Peer::start([whole(200, "application/json", "{"), secret()]).await;
        let builder = || Client::builder().card_cache(&cards);
        assert!(
            builder()
                .connect(broken.url(""))
                .await
                .unwrap_err()
                .is_decode()
        );
        builder().connect(broken.url("")).await.unwrap();
    });
}

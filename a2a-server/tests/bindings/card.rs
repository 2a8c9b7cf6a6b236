//! The card at its well-known path.

use a2a_proto::Binding;
use a2a_proto::v1::AgentInterface;
use serde_json::json;

use crate::support::{Peer, Script, card, within};

const PATH: &str = "/.well-known/agent-card.json";

#[tokio::test]
async fn card_01_02_03_05_06_07_the_card_lists_what_is_served() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let response = peer.web().get(PATH, &[]).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("application/json"));
        let address = peer.server.local_addr();
        let card = response.json();
        assert_eq!(
            card["supportedInterfaces"],
            json!([
                {"url": format!("http://{address}/"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
                {"url": format!("http://{address}"), "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
                {"url": address.to_string(), "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            ])
        );
        assert_eq!(card["skills"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn card_05_06_the_bindings_and_the_public_url_can_be_chosen() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder
                .bindings([Binding::Grpc, Binding::JsonRpc])
                .public_url("https://agents.test/one/")
                .json_rpc_path("/rpc")
        })
        .await;
        let card = peer.web().get(PATH, &[]).await.json();
        assert_eq!(
            card["supportedInterfaces"],
            json!([
                {"url": "agents.test:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
                {"url": "https://agents.test/one/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            ])
        );
        // What is not listed is not served.
        let response = peer.web().get("/tasks/t1", &[("a2a-version", "1.0")]).await;
        assert_eq!(response.status, 404);
        assert!(response.json()["error"]["message"].is_string());
    })
    .await;
}

#[tokio::test]
async fn interfaces_that_are_given_stay() {
    within(async {
        let mut card = card();
        card.supported_interfaces = vec![AgentInterface {
            url: "https://elsewhere.test/x".to_owned(),
            protocol_binding: "https://bindings.test/own".to_owned(),
            protocol_version: "1.0".to_owned(),
            tenant: "acme".to_owned(),
        }];
        let peer = Peer::configured(Script::default(), card, |builder| builder).await;
        let served = peer.web().get(PATH, &[]).await.json();
        assert_eq!(served["supportedInterfaces"].as_array().unwrap().len(), 1);
        assert_eq!(served["supportedInterfaces"][0]["tenant"], "acme");
    })
    .await;
}

#[tokio::test]
async fn card_12_a_card_that_is_known_is_not_sent_again() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let first = peer.web().get(PATH, &[]).await;
        let etag = first.header("etag").unwrap();
        assert!(first.header("cache-control").unwrap().contains("max-age="));
        assert!(etag.starts_with('"'), "a strong tag: {etag}");
        for known in [etag, "*", &format!("\"x\", W/{etag}")] {
            let second = peer.web().get(PATH, &[("if-none-match", known)]).await;
            assert_eq!(
                (second.status, second.header("etag")),
                (304, Some(etag)),
                "{known}"
            );
            assert!(second.body.is_empty());
        }
        let other = peer.web().get(PATH, &[("if-none-match", "\"x\"")]).await;
        assert_eq!(other.status, 200);
    })
    .await;
}

#[tokio::test]
async fn the_card_is_read_and_nothing_else() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let head = peer.web().send("HEAD", PATH, &[], None).await;
        assert_eq!(head.status, 200);
        assert!(head.header("etag").is_some());
        assert!(head.body.is_empty());
        let post = peer.web().post(PATH, &[], "{}").await;
        assert_eq!(
            (post.status, post.header("allow")),
            (405, Some("GET, HEAD"))
        );
        assert!(post.json()["error"]["message"].is_string());
    })
    .await;
}

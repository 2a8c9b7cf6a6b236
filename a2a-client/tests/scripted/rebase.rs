//! Cards that name hosts the caller can't reach.

use a2a_client::proto::json;
use a2a_client::proto::v1::{AgentCard, AgentInterface};
use a2a_client::{Binding, Client};

use crate::peer::{Peer, json_body, task, whole};
use crate::run;

/// A card as kagent's gateway serves it to who comes through a port-forward.
fn card() -> AgentCard {
    let json_rpc = "http://kagent-controller.invalid:8083/agents/kagent/notes";
    let mut grpc = AgentInterface::new("http://kagent-controller.invalid:8083", Binding::Grpc);
    grpc.tenant = "kagent/notes".to_owned();
    let rest = "http://kagent-controller.invalid:8083/rest?x=1";
    AgentCard {
        name: "notes".to_owned(),
        supported_interfaces: vec![
            AgentInterface::new(rest, Binding::HttpJson),
            AgentInterface::new(json_rpc, Binding::JsonRpc),
            grpc,
        ],
        ..AgentCard::default()
    }
}

#[test]
fn calls_go_to_the_given_origin_with_the_cards_path_and_tenant() {
    run(async {
        let card_answer = whole(200, "application/json", json::to_string(&card()));
        let read = json_body(200, &task("WORKING")["task"]);
        let mut peer = Peer::start([card_answer, read]).await;
        let client = Client::builder().rebase(peer.url(""));
        let client = client
            .connect(peer.url("/agents/kagent/notes"))
            .await
            .unwrap();
        client.get_task("t").await.unwrap();
        assert_eq!(
            peer.request().await.line,
            "GET /agents/kagent/notes/.well-known/agent-card.json"
        );
        let line = peer.request().await.line;
        assert!(line.starts_with("GET /rest/tasks/t"), "{line}");

        let origin = peer.url("");
        let by = |binding| {
            let builder = Client::builder().rebase(&origin).prefer([binding]);
            builder.from_card(card()).unwrap()
        };
        let json_rpc = by(Binding::JsonRpc);
        assert_eq!(json_rpc.interface().url, peer.url("/agents/kagent/notes"));
        let grpc = by(Binding::Grpc);
        assert_eq!(grpc.interface().url, peer.url("/"));
        assert_eq!(grpc.interface().tenant, "kagent/notes");
    });
}

#[test]
fn an_address_that_cannot_be_reached_says_who_named_it_and_what_helps() {
    run(async {
        let card_answer = whole(200, "application/json", json::to_string(&card()));
        let peer = Peer::start([card_answer]).await;
        let client = Client::builder()
            .prefer([Binding::Grpc])
            .connect(peer.url("/"))
            .await
            .unwrap();
        let error = client.get_task("t").await.unwrap_err();
        assert!(error.is_connect(), "{error:?}");
        let text = error.to_string();
        for part in [
            "kagent-controller.invalid:8083",
            &peer.url("/"),
            "ClientBuilder::rebase",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(!error.without_endpoint().to_string().contains("invalid"));
    });
}

#[test]
fn what_is_no_origin_is_refused() {
    for wrong in [
        "localhost:8083",
        "http://h.test/path",
        "ftp://h.test",
        "http://u@h.test",
        "",
    ] {
        let error = Client::builder()
            .rebase(wrong)
            .from_card(card())
            .unwrap_err();
        assert!(
            error.is_builder() && error.to_string().contains("rebase"),
            "{wrong}: {error}"
        );
    }
}

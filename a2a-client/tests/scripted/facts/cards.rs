use a2a_client::proto::header::Version;
use a2a_client::{Binding, Client};
use serde_json::{Value, json};

use crate::peer::{Answer, Peer, json_body, result, task, text, whole};
use crate::run;

/// Connects to a card, calls the agent that it names, and gives the client.
async fn connect(card: impl FnOnce(&str) -> String, media_type: &str) -> Client {
    let agent = Peer::start([json_body(200, &result(1, &task("COMPLETED")))]).await;
    let card = card(&agent.url("/a2a"));
    let site = Peer::start([whole(200, media_type, card)]).await;
    let client = Client::connect(site.url("")).await.expect("a client");
    client.send_text("hi").await.expect("a reply");
    client
}

fn interfaces(url: &str) -> Value {
    json!([{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}])
}

#[test]
fn w1_cards_come_with_and_without_cache_headers_and_are_asked_for_by_get() {
    let with = |headers: &str| -> Answer {
        let card = json!({"name": "a", "supportedInterfaces": interfaces("http://h.test/a2a")})
            .to_string();
        let length = card.len();
        vec![text(&format!(
            "HTTP/1.1 200 OK\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{card}"
        ))]
    };
    run(async {
        for headers in [
            "content-type: application/json\r\netag: W/\"0123456789abcdef\"\r\n",
            "Content-Type: application/json; charset=utf-8\r\nETag: W/\"0123456789abcdef\"\r\n\
             Cache-Control: public, max-age=3600\r\n",
            "Content-Type: application/json\r\nAccess-Control-Allow-Origin: *\r\nVary: Origin\r\n",
        ] {
            let mut site = Peer::start([with(headers)]).await;
            // A base without a slash at its end keeps its last segment.
            let client = Client::connect(site.url("/agents/echo")).await.unwrap();
            assert_eq!(client.card().unwrap().name, "a");
            let request = site.request().await;
            assert_eq!(request.line, "GET /agents/echo/.well-known/agent-card.json");
            assert_eq!(site.waiting(), 0);
        }
    });
}

#[test]
fn w2_a_raw_card_of_the_js_sdk_is_read_with_its_oneof_objects() {
    run(async {
        let card = |url: &str| {
            json!({
                "name": "js", "description": "", "version": "1.0.0", "documentationUrl": "", "iconUrl": "",
                "supportedInterfaces": [
                    {"url": url, "protocolBinding": "JSONRPC", "tenant": "", "protocolVersion": "1.0"},
                ],
                "capabilities": {"streaming": true, "pushNotifications": false, "extensions": [], "extendedAgentCard": false},
                "securitySchemes": {"k": {"scheme": {"$case": "apiKeySecurityScheme",
                    "value": {"description": "", "location": "header", "name": "x-api-key"}}}},
                "securityRequirements": [{"schemes": {"k": {"list": []}}}],
                "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
                "skills": [{"id": "s", "name": "s", "description": "", "tags": [], "examples": [], "inputModes": [],
                    "outputModes": [], "securityRequirements": []}],
                "signatures": [],
            })
            .to_string()
        };
        let client = connect(card, "application/json; charset=utf-8").await;
        let card = client.card().unwrap();
        assert_eq!((card.name.as_str(), card.skills.len()), ("js", 1));
        assert_eq!(card.provider, None);
        assert_eq!(client.interface().tenant, "");
        assert!(card.security_requirements[0].schemes.contains_key("k"));
    });
}

#[test]
fn w2_a_card_of_the_go_sdk_is_read_with_its_nulls_and_bare_scopes() {
    run(async {
        for (scopes, expected) in [(r#"["a","b"]"#, vec!["a", "b"]), ("null", vec![])] {
            let card = |url: &str| {
                format!(
                    r#"{{"supportedInterfaces":[{{"url":"{url}","protocolBinding":"JSONRPC","protocolVersion":"1.0"}}],
                    "capabilities":{{}},"defaultInputModes":null,"defaultOutputModes":null,"description":"","name":"go",
                    "securityRequirements":[{{"schemes":{{"k":{scopes}}}}}],
                    "securitySchemes":{{"k":{{}},"new":{{"biometricSecurityScheme":{{"finger":1}}}}}},
                    "skills":[{{"description":"","id":"s","name":"s","tags":null}}],"version":""}}"#
                )
            };
            let card = connect(card, "application/json").await.card().unwrap();
            assert_eq!(card.security_requirements[0].schemes["k"].list, expected);
            assert!(card.skills[0].tags.is_empty() && card.default_input_modes.is_empty());
        }
        let nothing = r#"{"name":"go","supportedInterfaces":null,"skills":null}"#;
        let site = Peer::start([whole(200, "application/json", nothing)]).await;
        let error = Client::connect(site.url("")).await.unwrap_err();
        assert!(error.is_builder(), "{error:?}");
    });
}

#[test]
fn w2_a_card_of_the_python_sdk_is_read_without_what_is_empty() {
    run(async {
        for scopes in [json!({"list": ["a"]}), json!({})] {
            let card = |url: &str| {
                json!({"name": "python", "supportedInterfaces": interfaces(url), "capabilities": {"streaming": true},
                    "securitySchemes": {"k": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
                    "securityRequirements": [{"schemes": {"k": scopes}}]})
                .to_string()
            };
            let card = connect(card, "application/json").await.card().unwrap();
            assert!(card.security_schemes.contains_key("k") && card.skills.is_empty());
            let listed = &card.security_requirements[0].schemes["k"].list;
            assert_eq!(listed.is_empty(), scopes == json!({}));
        }
    });
}

#[test]
fn w3_of_a_card_for_both_versions_the_newer_interface_is_called() {
    run(async {
        let mut agent = Peer::start([json_body(200, &result(1, &task("COMPLETED")))]).await;
        let card = json!({
            "name": "both", "url": agent.url("/old"), "preferredTransport": "JSONRPC", "protocolVersion": "0.3.0",
            "additionalInterfaces": [{"url": agent.url("/old-rest"), "transport": "HTTP+JSON"}],
            "security": [{"k": []}],
            "supportedInterfaces": interfaces(&agent.url("/new")),
        });
        let mut site = Peer::start([json_body(200, &card)]).await;
        let client = Client::connect(site.url("")).await.unwrap();
        assert_eq!(site.request().await.header("a2a-version"), "1.0");
        client.send_text("hi").await.unwrap();
        assert_eq!(agent.request().await.line, "POST /new");
    });
}

#[test]
fn w5_interfaces_of_one_url_differ_by_version_and_one_without_a_version_is_taken() {
    run(async {
        let listed = |versions: &[Option<&str>]| {
            let interface = |version: Option<&str>| match version {
                Some(version) => {
                    json!({"url": "http://h.test/a2a", "protocolBinding": "JSONRPC", "protocolVersion": version})
                }
                None => json!({"url": "http://h.test/a2a", "protocolBinding": "JSONRPC"}),
            };
            let interfaces: Vec<Value> = versions.iter().copied().map(interface).collect();
            json!({"name": "a", "supportedInterfaces": interfaces})
        };
        for versions in [
            &[Some("0.3"), Some("1.0")][..],
            &[None],
            &[Some("1.0.0")],
            &[Some("")],
        ] {
            let site = Peer::start([json_body(200, &listed(versions))]).await;
            let client = Client::connect(site.url("")).await.unwrap();
            assert_eq!(client.binding(), Some(Binding::JsonRpc));
            assert_ne!(client.interface().protocol_version, "0.3");
        }
        let site = Peer::start([json_body(200, &listed(&[Some("0.3")]))]).await;
        let error = Client::connect(site.url("")).await.unwrap_err();
        assert_eq!(error.peer_speaks(), Some(Version::V0_3));
    });
}

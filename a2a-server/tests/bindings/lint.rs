//! The card against what is served.

use std::sync::Arc;

use a2a_proto::Binding;
use a2a_proto::v1::{
    AgentCard, AgentExtension, AgentInterface, AgentSkill, SecurityRequirement, SecurityScheme,
};
use a2a_server::auth::BearerTokens;
use a2a_server::{Agent, Endpoint, Principal, executor_fn};

use crate::support::{Peer, Script, card, within};

/// The fields that are found at fault.
fn faults(change: impl FnOnce(&mut AgentCard)) -> Vec<String> {
    let mut card = card();
    change(&mut card);
    let endpoint = Endpoint::builder(Arc::new(Script::default()), card).build();
    let faults = endpoint.card_faults().into_iter();
    faults.map(|fault| fault.field).collect()
}

fn interface(url: &str, binding: &str, version: &str) -> AgentInterface {
    AgentInterface {
        url: url.to_owned(),
        protocol_binding: binding.to_owned(),
        protocol_version: version.to_owned(),
        ..AgentInterface::default()
    }
}

fn all(first: AgentInterface) -> Vec<AgentInterface> {
    vec![
        first,
        interface("https://h.test", "HTTP+JSON", "1.0"),
        interface("h.test:443", "GRPC", "1.0"),
    ]
}

#[test]
fn a_card_that_is_right_has_no_fault() {
    assert_eq!(faults(|_| {}), [""; 0]);
    let good = all(interface("https://h.test/", "JSONRPC", "1.0"));
    assert_eq!(faults(|card| card.supported_interfaces = good), [""; 0]);
}

#[test]
fn each_fault_names_its_field() {
    let own = |binding: &str, version: &str, url: &str| all(interface(url, binding, version));
    let cases: Vec<(Vec<String>, &str)> = vec![
        (faults(|card| card.name.clear()), "name"),
        (
            faults(|card| card.supported_interfaces = own("JSONRPC", "0.3", "http://h.test")),
            "supported_interfaces[0].protocol_version",
        ),
        (
            faults(|card| card.supported_interfaces = own("jsonrpc", "1.0", "http://h.test")),
            "supported_interfaces[0].protocol_binding",
        ),
        (
            faults(|card| card.supported_interfaces = own("JSONRPC", "1.0", "h.test")),
            "supported_interfaces[0].url",
        ),
        (
            faults(|card| {
                card.supported_interfaces = own("JSONRPC", "1.0", "http://h.test");
                card.supported_interfaces[2].url = "grpc://h.test:1".to_owned();
            }),
            "supported_interfaces[2].url",
        ),
        (
            faults(|card| {
                card.supported_interfaces = own("JSONRPC", "1.0", "http://h.test");
                card.supported_interfaces.pop();
            }),
            "supported_interfaces",
        ),
        (
            faults(|card| {
                let extensions = &mut card.capabilities.as_mut().unwrap().extensions;
                extensions.push(extensions[0].clone());
            }),
            "capabilities.extensions[1].uri",
        ),
        (
            faults(|card| {
                card.capabilities.as_mut().unwrap().extensions = vec![AgentExtension::default()];
            }),
            "capabilities.extensions[0].uri",
        ),
        (
            faults(|card| {
                card.skills = vec![
                    AgentSkill::new("s", "S", "does"),
                    AgentSkill::new("s", "T", "does"),
                ];
            }),
            "skills[1].id",
        ),
        (
            faults(|card| card.default_input_modes = vec!["text".to_owned()]),
            "default_input_modes[0]",
        ),
        (
            faults(|card| card.default_output_modes = vec!["text/".to_owned()]),
            "default_output_modes[0]",
        ),
        (
            faults(|card| {
                card.security_schemes
                    .insert("key".to_owned(), SecurityScheme::bearer());
                card.security_requirements = vec![SecurityRequirement::new("key", [""; 0])];
            }),
            "security_requirements",
        ),
    ];
    for (found, field) in cases {
        assert!(
            found.iter().any(|name| name == field),
            "{field} is not in {found:?}"
        );
    }
}

#[test]
fn what_is_not_served_is_told() {
    let mut given = card();
    given.supported_interfaces = all(interface("https://h.test/", "JSONRPC", "1.0"));
    let builder = Endpoint::builder(Arc::new(Script::default()), given);
    let endpoint = builder
        .bindings([Binding::JsonRpc, Binding::HttpJson])
        .build();
    let faults = endpoint.card_faults();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(
        faults[0].to_string(),
        "supported_interfaces[2].protocol_binding: GRPC is not served here"
    );
}

#[test]
fn callers_that_are_checked_are_announced() {
    let tokens = || Arc::new(BearerTokens::new([("secret", Principal::named("ann"))]));
    let silent = Endpoint::builder(Arc::new(Script::default()), card()).authenticator(tokens());
    assert_eq!(
        silent.build().card_faults()[0].field,
        "security_requirements"
    );
    // An agent's authenticator announces itself.
    let echo = executor_fn(|cx, out| async move { Ok(out.reply(cx.message().text()).await?) });
    let tokens = BearerTokens::new([("secret", Principal::named("ann"))]);
    let agent = Agent::builder(echo).authenticator(tokens).build().unwrap();
    assert_eq!(agent.endpoint().card_faults(), []);
}

#[tokio::test]
async fn forwarded_headers_count_only_where_they_are_trusted() {
    let headers: &[(&str, &str)] = &[
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "agents.test"),
        ("x-forwarded-prefix", "/echo"),
    ];
    let path = "/.well-known/agent-card.json";
    within(async {
        let urls = |card: serde_json::Value| {
            let interfaces = card["supportedInterfaces"].as_array().unwrap().clone();
            let urls = interfaces
                .iter()
                .map(|interface| interface["url"].as_str().unwrap().to_owned());
            urls.collect::<Vec<_>>()
        };
        let trusting = Peer::configured(Script::default(), card(), |builder| {
            builder.trust_forwarded_headers(true)
        })
        .await;
        let own = format!("http://{}", trusting.server.local_addr());
        let answer = trusting.web().get(path, headers).await;
        let forwarded = [
            "https://agents.test/echo",
            "https://agents.test/echo",
            "agents.test:443",
        ];
        assert_eq!(urls(answer.json()), forwarded);
        assert!(answer.header("vary").unwrap().contains("x-forwarded-host"));
        // Without the headers, and with ones that make no URL, the card is that of the bound address.
        for odd in [&[][..], &[("x-forwarded-host", "a b/c")]] {
            assert_eq!(urls(trusting.web().get(path, odd).await.json())[1], own);
        }
        let wary = Peer::start(Script::default()).await;
        let own = format!("http://{}", wary.server.local_addr());
        assert_eq!(urls(wary.web().get(path, headers).await.json())[1], own);
        let public = Peer::configured(Script::default(), card(), |builder| {
            builder
                .trust_forwarded_headers(true)
                .public_url("https://public.test")
        })
        .await;
        assert_eq!(
            urls(public.web().get(path, headers).await.json())[1],
            "https://public.test"
        );
    })
    .await;
}

//! Which of an agent's interfaces to use: pure, so that the choice can be tested without a peer.

use a2a_proto::Binding;
use a2a_proto::header::Version;
use a2a_proto::v1::{AgentInterface, DecodedCard};

use crate::error::{Error, Kind, Result};

/// The interfaces that this client can speak to, best first.
///
/// That is the card's order, for the agent's preference comes first (A2A 1.0 §8.3.2); bindings that the caller prefers
/// move to the front. Patch numbers do not count, and an interface that names no version is taken for one of 1.0.
///
/// # Errors
///
/// When there is none: with the version that the agent speaks, if that is why.
pub(crate) fn candidates(
    card: &DecodedCard,
    preferred: &[Binding],
) -> Result<Vec<(Binding, AgentInterface)>> {
    let mut found: Vec<_> = card
        .supported_interfaces
        .iter()
        .filter(|interface| speaks_1_0(interface))
        .filter_map(|interface| Some((interface.binding()?, interface.clone())))
        .filter(|(binding, _)| AVAILABLE.contains(binding))
        .collect();
    if found.is_empty() {
        return Err(none_usable(card));
    }
    let rank = |binding| preferred.iter().position(|known| *known == binding);
    found.sort_by_key(|(binding, _)| rank(*binding).unwrap_or(usize::MAX));
    Ok(found)
}

/// The card of a service in this process: of its interfaces those over HTTP, and both of them at its URL where it names
/// none.
#[cfg(feature = "in-process")]
pub(crate) fn in_process(card: DecodedCard, url: &str) -> DecodedCard {
    let mut card = card.into_card();
    let interfaces = &mut card.supported_interfaces;
    if interfaces.is_empty() {
        let both = [Binding::JsonRpc, Binding::HttpJson];
        interfaces.extend(both.map(|binding| AgentInterface::new(url, binding)));
    }
    interfaces.retain(|interface| interface.binding() != Some(Binding::Grpc));
    card.into()
}

/// The bindings that this build has.
pub(crate) const AVAILABLE: &[Binding] = &[
    #[cfg(feature = "grpc")]
    Binding::Grpc,
    #[cfg(feature = "jsonrpc")]
    Binding::JsonRpc,
    #[cfg(feature = "rest")]
    Binding::HttpJson,
];

fn speaks_1_0(interface: &AgentInterface) -> bool {
    match interface.version() {
        Some(version) => version == Version::V1_0,
        None => interface.protocol_version.is_empty(),
    }
}

fn none_usable(card: &DecodedCard) -> Error {
    if !card.supported_interfaces.iter().any(speaks_1_0) {
        let named = card.legacy_url().is_some() || !card.supported_interfaces.is_empty();
        return match named {
            true => Error::new(Kind::PeerSpeaks(card.peer_version())),
            false => Error::builder("the card names no interface"),
        };
    }
    let names = |bindings: &mut dyn Iterator<Item = &str>| bindings.collect::<Vec<_>>().join(", ");
    let offered = names(
        &mut card
            .supported_interfaces
            .iter()
            .map(|i| i.protocol_binding.as_str()),
    );
    let spoken = names(&mut AVAILABLE.iter().map(|binding| binding.name()));
    Error::builder(format!(
        "the card offers {offered}; this client has {spoken}"
    ))
}

#[cfg(test)]
#[cfg(all(feature = "grpc", feature = "jsonrpc", feature = "rest"))]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn choose(interfaces: Value, preferred: &[Binding]) -> Result<Vec<String>> {
        let card = json!({"name": "a", "supportedInterfaces": interfaces}).to_string();
        let card = DecodedCard::from_slice(card.as_bytes()).unwrap();
        let found = candidates(&card, preferred)?;
        Ok(found
            .into_iter()
            .map(|(_, interface)| interface.url)
            .collect())
    }

    fn interface(url: &str, binding: &str, version: &str) -> Value {
        json!({"url": url, "protocolBinding": binding, "protocolVersion": version})
    }

    #[test]
    fn card_09_the_cards_order_decides() {
        let card = json!([
            interface("1", "https://custom.test/x", "1.0"),
            interface("2", "jsonrpc", "0.3"),
            interface("3", "HTTP+JSON", "1.0.2"),
            interface("4", "GRPC", "1.0"),
            interface("5", "JSONRPC", "2.0"),
            interface("6", "jsonrpc", ""),
            interface("7", "JSONRPC", "1.1"),
        ]);
        assert_eq!(choose(card.clone(), &[]).unwrap(), ["3", "4", "6"]);
        let preferred = [Binding::JsonRpc, Binding::Grpc];
        assert_eq!(choose(card, &preferred).unwrap(), ["6", "4", "3"]);
    }

    #[test]
    fn a_peer_of_another_version_is_named() {
        let error = choose(json!([interface("1", "JSONRPC", "0.3.0")]), &[]).unwrap_err();
        assert_eq!(error.peer_speaks(), Some(Version::V0_3));
        let old = br#"{"name":"a","url":"http://h.test","preferredTransport":"JSONRPC"}"#;
        let old = DecodedCard::from_slice(old).unwrap();
        let error = candidates(&old, &[]).unwrap_err();
        assert_eq!(error.peer_speaks(), Some(Version::V0_3));
    }

    #[test]
    fn a_card_without_a_usable_interface_says_what_it_offers() {
        let error =
            choose(json!([interface("1", "https://custom.test/x", "1.0")]), &[]).unwrap_err();
        assert!(error.is_builder());
        assert!(
            error.to_string().contains("https://custom.test/x"),
            "{error}"
        );
        assert!(choose(json!([]), &[]).unwrap_err().is_builder());
    }
}

//! The three ways in which an operation travels.

use std::fmt;
use std::str::FromStr;

/// Where an agent's card is, below its URL (A2A 1.0 §8.2).
pub const CARD_PATH: &str = "/.well-known/agent-card.json";

/// A protocol binding of the specification (A2A 1.0 §5). Cards may name others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has these three; others are text in a card"
)]
pub enum Binding {
    /// gRPC.
    Grpc,
    /// Verbs, paths and JSON bodies.
    HttpJson,
    /// JSON-RPC 2.0.
    JsonRpc,
}

impl Binding {
    /// The name in an agent card, such as `HTTP+JSON`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grpc => "GRPC",
            Self::HttpJson => "HTTP+JSON",
            Self::JsonRpc => "JSONRPC",
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not that of a binding of the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownBinding(());

impl fmt::Display for UnknownBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a binding of A2A 1.0")
    }
}

impl std::error::Error for UnknownBinding {}

/// Reads the name in any case: some cards write it in lower case.
impl FromStr for Binding {
    type Err = UnknownBinding;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        [Self::Grpc, Self::HttpJson, Self::JsonRpc]
            .into_iter()
            .find(|binding| binding.name().eq_ignore_ascii_case(name))
            .ok_or(UnknownBinding(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_printed_and_in_any_case() {
        for binding in [Binding::Grpc, Binding::HttpJson, Binding::JsonRpc] {
            assert_eq!(binding.to_string().parse(), Ok(binding));
            assert_eq!(binding.name().to_lowercase().parse(), Ok(binding));
        }
        assert!("https://custom.test/binding".parse::<Binding>().is_err());
    }
}

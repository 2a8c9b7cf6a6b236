//! Who meets whom.

/// A peer of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Rust,
    Python,
    Js,
    Go,
}

impl Peer {
    pub const ALL: [Self; 4] = [Self::Rust, Self::Python, Self::Js, Self::Go];

    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Js => "js",
            Self::Go => "go",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|peer| peer.name() == name)
    }
}

//! The faults of the peers that are known, each shown with the peer's own client or with the bytes that it sends.

use super::peer::Peer;

/// Cases that fail for the same reason.
pub struct Fault {
    pub client: Peer,
    pub agent: Peer,
    /// The SDK that has the fault, as its agent calls it: in another version the entry does not count.
    pub sdk: &'static str,
    /// Where it fails; empty for all.
    pub bindings: &'static [&'static str],
    pub cases: &'static [&'static str],
    pub reason: &'static str,
}

pub const FAULTS: &[Fault] = &[];

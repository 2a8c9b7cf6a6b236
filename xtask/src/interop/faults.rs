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
    /// A race in the peer: the case may hold as well.
    pub sometimes: bool,
    pub reason: &'static str,
}

const PYTHON: &str = "a2a-sdk 1.3.0";
const JS: &str = "@a2a-js/sdk 1.3.0";
const GO: &str = "a2a-go 2.3.1";

/// The bindings that are JSON over HTTP.
const HTTP: &[&str] = &["JSONRPC", "HTTP+JSON"];

pub const FAULTS: &[Fault] = &[
    Fault {
        client: Peer::Rust,
        agent: Peer::Python,
        sdk: PYTHON,
        bindings: &["HTTP+JSON"],
        cases: &["meta.tenant"],
        sometimes: false,
        reason: "the server has no route for a tenant with a slash, percent-encoded or not: HTTP 404 without an error",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Python,
        sdk: PYTHON,
        bindings: &[],
        cases: &["meta.extensions"],
        sometimes: false,
        reason: "the server never says which extensions it has activated",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Js,
        sdk: JS,
        bindings: &[],
        cases: &["error.no_parts"],
        sometimes: false,
        reason: "the server takes a message without parts and runs the agent on it",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Js,
        sdk: JS,
        bindings: HTTP,
        cases: &["parts.big_request"],
        sometimes: false,
        reason: "the server keeps the 100 kB body limit of Express and has no option for it: HTTP 413 with a page of HTML",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Js,
        sdk: JS,
        bindings: &["JSONRPC", "GRPC"],
        cases: &["meta.extensions"],
        sometimes: false,
        reason: "the server names the activated extensions of unary calls and of HTTP+JSON streams, not of other streams",
    },
    Fault {
        client: Peer::Js,
        agent: Peer::Rust,
        sdk: JS,
        bindings: HTTP,
        cases: &["parts.big_stream"],
        sometimes: false,
        reason: "the client ends a stream at an event of more than 4 MiB, and its transports take no option for that",
    },
    Fault {
        client: Peer::Js,
        agent: Peer::Rust,
        sdk: JS,
        bindings: &["GRPC"],
        cases: &["parts.big_reply", "parts.big_request", "parts.big_stream"],
        sometimes: false,
        reason: "the client leaves the limit of gRPC at 4 MiB a message, and its transport takes no option for that",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: &[],
        cases: &["subscribe.finished"],
        sometimes: false,
        reason: "the server answers TaskNotFound for every task that it does not execute just now",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: &[],
        cases: &["list.page_size"],
        sometimes: false,
        reason: "the server answers InvalidRequest (-32600) to a page size above 100",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: &[],
        cases: &["auth.unary"],
        sometimes: false,
        reason: "to the server a task in AUTH_REQUIRED still runs: it refuses the answer",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: &[],
        cases: &["error.finished"],
        sometimes: false,
        reason: "the server answers InvalidParams to a message for a task that has ended",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: HTTP,
        cases: &["parts.data", "parts.echo"],
        sometimes: false,
        reason: "the store of the server turns an empty list in data into null",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: HTTP,
        cases: &["meta.extensions"],
        sometimes: false,
        reason: "the server does not say over HTTP which extensions it has activated",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: &[],
        cases: &["push"],
        sometimes: false,
        reason: "the server answers an internal error for a configuration that does not exist",
    },
    Fault {
        client: Peer::Rust,
        agent: Peer::Go,
        sdk: GO,
        bindings: &[],
        cases: &["ending.raise"],
        sometimes: true,
        reason: "a panic that comes before the first event was handled answers the call with an error and leaves no task behind",
    },
];

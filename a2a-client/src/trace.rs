//! The span around a call, and the names of its fields.

use a2a_proto::{Binding, Method};
use tracing::Span;

pub(crate) fn call(method: Method, binding: Option<Binding>) -> Span {
    let system = match binding {
        Some(Binding::Grpc) => Some("grpc"),
        Some(Binding::JsonRpc) => Some("jsonrpc"),
        Some(Binding::HttpJson) | None => None,
    };
    tracing::debug_span!(
        "a2a.client",
        otel.kind = "client",
        rpc.system.name = system,
        rpc.method = method.name(),
        a2a.method = method.name(),
    )
}

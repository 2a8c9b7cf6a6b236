//! The span around a call, and the names of its fields.

use a2a_proto::{Binding, Method};
use tracing::Span;
use tracing::field::Empty;

use crate::Error;

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
        "error.type" = Empty,
    )
}

/// Notes in the span of a call that it failed.
pub(crate) fn failed(span: &Span, error: &Error) {
    span.record("error.type", error.type_name());
}

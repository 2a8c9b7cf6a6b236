//! The span around a call, and the names of its fields.

use a2a_proto::{A2aError, Binding, Method};
use tracing::Span;
use tracing::field::Empty;

/// The span of a call, to be closed with [`failed`] where it fails.
pub(crate) fn call(binding: Binding, method: Method) -> Span {
    let system = match binding {
        Binding::Grpc => Some("grpc"),
        Binding::JsonRpc => Some("jsonrpc"),
        Binding::HttpJson => None,
    };
    tracing::debug_span!(
        "a2a.server",
        otel.kind = "server",
        otel.status_code = Empty,
        rpc.system.name = system,
        rpc.method = method.grpc_path().trim_start_matches('/'),
        rpc.response.status_code = Empty,
        a2a.method = method.name(),
        error.r#type = Empty,
    )
}

/// Notes how a call failed, as its binding says it.
pub(crate) fn failed(span: &Span, binding: Binding, error: &A2aError) {
    let code = error.code();
    span.record("otel.status_code", "ERROR");
    span.record("error.type", error.reason());
    match binding {
        Binding::Grpc => span.record("rpc.response.status_code", code.rpc().name()),
        Binding::JsonRpc => span.record("rpc.response.status_code", code.json_rpc()),
        Binding::HttpJson => span.record("rpc.response.status_code", code.http_status()),
    };
}

//! The spans around a call and an execution, and the names of their fields.

use a2a_proto::v1::TaskState;
use a2a_proto::{A2aError, Binding, Method};
use tracing::field::Empty;
use tracing::{Id, Span};

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

/// The span of an execution. It outlives the call that started it and so is no part of that call's span; it follows from
/// it.
pub(crate) fn execution(agent: &str, task_id: &str, context_id: &str, cause: Option<Id>) -> Span {
    let span = tracing::info_span!(
        parent: None,
        "a2a.execute",
        otel.kind = "internal",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = agent,
        gen_ai.conversation.id = context_id,
        a2a.task.id = task_id,
        a2a.task.state = Empty,
    );
    span.follows_from(cause);
    span
}

/// Notes the state in which an execution left its task.
pub(crate) fn left_in(span: &Span, state: TaskState) {
    span.record("a2a.task.state", state.as_str_name());
}

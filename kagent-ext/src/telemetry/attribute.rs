//! The names that kagent and OpenTelemetry give to what is recorded (kagent contract 8).

use opentelemetry::InstrumentationScope;

pub(super) const METHOD: &str = "a2a.method";
pub(super) const TASK_ID: &str = "a2a.task.id";
pub(super) const TASK_STATE: &str = "a2a.task.state";
pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const AGENT_ID: &str = "gen_ai.agent.id";
pub(super) const USER_ID: &str = "enduser.id";
pub(super) const SEGMENT: &str = "kagent.invocation.segment";
pub(super) const DISPOSITION: &str = "kagent.invocation.disposition";
pub(super) const RELATIONSHIP: &str = "kagent.invocation.relationship";
pub(super) const ERROR_TYPE: &str = "error.type";

pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_write.input_tokens";
pub(super) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
pub(super) const USAGE_PARTIAL: &str = "kagent.inference.usage_partial";
pub(super) const REQUEST_ID: &str = "kagent.inference.request_id";
pub(super) const RETRY_COUNT: &str = "kagent.inference.retry.count";

/// What says who talks about what: on spans alone, never on a resource or a metric.
pub(super) const PRIVATE: [&str; 3] = [TASK_ID, CONVERSATION_ID, USER_ID];

/// The scope of everything that is recorded here.
pub(super) fn scope() -> InstrumentationScope {
    InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_schema_url("https://opentelemetry.io/schemas/1.43.0")
        .build()
}

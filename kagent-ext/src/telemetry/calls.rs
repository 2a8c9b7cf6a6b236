//! What an executor does on the way: tools and models.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use a2a_server::ExecutionContext;
use opentelemetry::context::FutureExt as _;
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context, KeyValue};

use super::attribute;
use super::invocation::{ErrorType, Invocation};
use crate::usage::TokenCounts;

/// The telemetry of an execution, for its executor. Without a collector, and outside of [`byo`](crate::byo), all of it
/// does nothing.
///
/// ```
/// use kagent_ext::a2a_server::{AgentError, EventSink, ExecutionContext};
/// use kagent_ext::telemetry::{ExecutionTelemetry as _, ModelUsage};
/// use kagent_ext::usage::TokenCounts;
/// # async fn ask(_: &str) -> Result<(String, TokenCounts), std::io::Error> { Ok(Default::default()) }
///
/// async fn execute(cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
///     let text = cx.message().text();
///     let mut call = cx.model_call("gpt-4o");
///     let asked = call.run(ask(&text)).await;
///     match &asked {
///         Ok((_, counts)) => {
///             call.usage(ModelUsage::from(*counts));
///             call.succeeded();
///         }
///         Err(_) => call.failed("model_error"),
///     }
///     out.reply(asked?.0).await?;
///     Ok(())
/// }
/// ```
pub trait ExecutionTelemetry {
    /// A tool is about to be called: the span `execute_tool <tool>`.
    fn tool_call(&self, tool: &str, call_id: &str) -> ToolCall;

    /// A model is about to be called: the span `chat <model>`.
    fn model_call(&self, model: &str) -> ModelCall;

    /// Says why the invocation fails, where the executor knows better than what it returns. The detail is written
    /// behind the type in the status of the span: no secrets.
    fn fails_with(&self, error: ErrorType, detail: Option<&str>);

    /// The context of the invocation, to be made the parent of spans on tasks that the executor spawns; on its own task
    /// it is the current one.
    fn telemetry_context(&self) -> Context;

    /// Whether whoever runs the agent wants the content of messages on spans.
    fn captures_content(&self) -> bool;
}

impl ExecutionTelemetry for ExecutionContext {
    fn tool_call(&self, tool: &str, call_id: &str) -> ToolCall {
        let attributes = vec![
            KeyValue::new(attribute::OPERATION, "execute_tool"),
            KeyValue::new(attribute::TOOL_NAME, tool.to_owned()),
            KeyValue::new(attribute::TOOL_CALL_ID, call_id.to_owned()),
        ];
        let invocation = Invocation::of(self);
        if let Some(invocation) = &invocation {
            invocation.count_tool_call();
        }
        ToolCall(Call::begin(
            invocation,
            Kind::Tool,
            tool,
            SpanBuilder::from_name(format!("execute_tool {tool}"))
                .with_kind(SpanKind::Internal)
                .with_attributes(attributes),
        ))
    }

    fn model_call(&self, model: &str) -> ModelCall {
        let attributes = vec![
            KeyValue::new(attribute::OPERATION, "chat"),
            KeyValue::new(attribute::REQUEST_MODEL, model.to_owned()),
        ];
        let invocation = Invocation::of(self);
        if let Some(invocation) = &invocation {
            invocation.count_model_call();
        }
        ModelCall(Call::begin(
            invocation,
            Kind::Model,
            model,
            SpanBuilder::from_name(format!("chat {model}"))
                .with_kind(SpanKind::Client)
                .with_attributes(attributes),
        ))
    }

    fn fails_with(&self, error: ErrorType, detail: Option<&str>) {
        if let Some(invocation) = Invocation::of(self) {
            invocation.fails_with(error, detail.map(str::to_owned));
        }
    }

    fn telemetry_context(&self) -> Context {
        Invocation::of(self)
            .map_or_else(Context::current, |invocation| invocation.context().clone())
    }

    fn captures_content(&self) -> bool {
        Invocation::of(self).is_some_and(|invocation| invocation.captures_content())
    }
}

/// A tool that is being called. Dropped without an end, it counts as unfinished.
#[derive(Debug)]
#[must_use = "it is over when it is dropped"]
pub struct ToolCall(Call);

impl ToolCall {
    /// Runs what calls the tool, as a part of this call: spans that are made there are its children, and the headers
    /// of [`Caller::outgoing_headers`](crate::caller::Caller::outgoing_headers) name it.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> T {
        work.with_context(self.0.context.clone()).await
    }

    /// The tool has answered.
    pub fn succeeded(mut self) {
        self.0.end(None);
    }

    /// The tool has failed.
    pub fn failed(mut self) {
        self.0.end(Some("tool_error"));
    }
}

/// A model that is being called. Dropped without an end, it counts as unfinished.
#[derive(Debug)]
#[must_use = "it is over when it is dropped"]
pub struct ModelCall(Call);

impl ModelCall {
    /// Runs what calls the model, as a part of this call: spans that are made there are its children, and the headers
    /// of [`Caller::outgoing_headers`](crate::caller::Caller::outgoing_headers) name it.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> T {
        work.with_context(self.0.context.clone()).await
    }

    /// The model that answered, which may be another than the one that was asked.
    pub fn response_model(&mut self, model: &str) {
        self.0.set(attribute::RESPONSE_MODEL, model.to_owned());
    }

    /// What the call used. To be told once: it is counted each time.
    pub fn usage(&mut self, usage: ModelUsage) {
        let counts = [
            (attribute::INPUT_TOKENS, usage.input),
            (attribute::OUTPUT_TOKENS, usage.output),
            (attribute::CACHE_READ_TOKENS, usage.cache_read),
            (attribute::CACHE_WRITE_TOKENS, usage.cache_write),
            (attribute::REASONING_TOKENS, usage.reasoning),
        ];
        for (name, count) in counts {
            if let Some(count) = count {
                self.0.set(name, i64::try_from(count).unwrap_or(i64::MAX));
            }
        }
        if let Some(invocation) = &self.0.invocation {
            invocation.record(|instruments| instruments.tokens(&self.0.name, &usage));
        }
    }

    /// The usage is not the whole: the call broke off.
    pub fn usage_is_partial(&mut self) {
        self.0.set(attribute::USAGE_PARTIAL, true);
    }

    /// The id that the provider gave the call.
    pub fn request_id(&mut self, id: &str) {
        self.0.set(attribute::REQUEST_ID, id.to_owned());
    }

    /// How often the call was sent again.
    pub fn retries(&mut self, count: u32) {
        self.0.set(attribute::RETRY_COUNT, i64::from(count));
    }

    /// The model has answered.
    pub fn succeeded(mut self) {
        self.0.end(None);
    }

    /// The model has failed, with an error of this kind: one of a few names, no text.
    pub fn failed(mut self, error: &'static str) {
        self.0.end(Some(error));
    }
}

/// What one call of a model used; `None` is what the provider does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is filled in by its field names"
)]
pub struct ModelUsage {
    /// What the model read, cached tokens included.
    pub input: Option<u64>,
    /// What it wrote, reasoning included.
    pub output: Option<u64>,
    /// The part of `input` that came from a cache.
    pub cache_read: Option<u64>,
    /// The part of `input` that was put into a cache.
    pub cache_write: Option<u64>,
    /// The part of `output` that it thought.
    pub reasoning: Option<u64>,
}

impl From<TokenCounts> for ModelUsage {
    fn from(counts: TokenCounts) -> Self {
        let told = |count: u64| (count > 0).then_some(count);
        Self {
            input: Some(counts.input),
            output: Some(counts.output.saturating_add(counts.reasoning)),
            cache_read: told(counts.cached_input),
            cache_write: None,
            reasoning: told(counts.reasoning),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Tool,
    Model,
}

/// A call with its span.
struct Call {
    invocation: Option<Arc<Invocation>>,
    context: Context,
    kind: Kind,
    name: String,
    begun: Instant,
}

impl Call {
    fn begin(
        invocation: Option<Arc<Invocation>>,
        kind: Kind,
        name: &str,
        span: SpanBuilder,
    ) -> Self {
        let context = match &invocation {
            Some(invocation) => invocation.child(span),
            None => Context::current(),
        };
        Self {
            invocation,
            context,
            kind,
            name: name.to_owned(),
            begun: Instant::now(),
        }
    }

    fn set(&self, name: &'static str, value: impl Into<opentelemetry::Value>) {
        // Without traces the span of the context is somebody else's.
        if self
            .invocation
            .as_ref()
            .is_some_and(|invocation| invocation.traces())
        {
            self.context
                .span()
                .set_attribute(KeyValue::new(name, value));
        }
    }

    fn end(&mut self, error: Option<&'static str>) {
        let Some(invocation) = self.invocation.take() else {
            return;
        };
        if invocation.traces() {
            let span = self.context.span();
            if let Some(error) = error {
                span.set_attribute(KeyValue::new(attribute::ERROR_TYPE, error));
                span.set_status(Status::error(error));
            }
            span.end();
        }
        let took = self.begun.elapsed();
        invocation.record(|instruments| match self.kind {
            Kind::Tool => instruments.tool(took, &self.name, error),
            Kind::Model => instruments.inference(took, &self.name, error),
        });
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.end(Some("unfinished"));
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("kind", &self.kind)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

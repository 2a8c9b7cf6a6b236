//! One call of an executor: its span, and how it came to its end.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use a2a_proto::ErrorCode;
use a2a_proto::v1::TaskState;
use a2a_server::{AgentError, CancelReason, ExecutionContext};
use http::HeaderMap;
use opentelemetry::trace::{Link, SpanBuilder, SpanContext, Status, TraceContextExt as _};
use opentelemetry::{Context, KeyValue};

use super::attribute as name;
use super::ids::InvocationIds;
use super::metrics::Instruments;
use super::running::Running;
use crate::caller::Caller;

/// Why an invocation failed: all values that `error.type` may have (kagent contract 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorType {
    /// The executor panicked.
    RuntimePanic,
    /// The message can't be worked on.
    InvalidRequest,
    /// What a pause left is gone.
    ContinuationUnavailable,
    /// What runs the session is gone.
    ActorUnavailable,
    /// The executor returned an error.
    RuntimeError,
    /// The executor ended without a result, or with one that the protocol does not allow.
    InvalidRuntimeOutcome,
    /// The executor asked for input in a way that nobody can answer.
    InvalidInputRequest,
    /// The executor said that its task failed.
    RuntimeFailure,
    /// What the executor needs can't be reached.
    TransportError,
    /// The task could not be stored.
    PersistenceFailure,
}

impl ErrorType {
    /// The value of `error.type`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RuntimePanic => "runtime_panic",
            Self::InvalidRequest => "invalid_request",
            Self::ContinuationUnavailable => "continuation_unavailable",
            Self::ActorUnavailable => "actor_unavailable",
            Self::RuntimeError => "runtime_error",
            Self::InvalidRuntimeOutcome => "invalid_runtime_outcome",
            Self::InvalidInputRequest => "invalid_input_request",
            Self::RuntimeFailure => "runtime_failure",
            Self::TransportError => "transport_error",
            Self::PersistenceFailure => "persistence_failure",
        }
    }
}

/// An execution as its telemetry sees it.
pub(crate) struct Invocation {
    running: Arc<Running>,
    /// As the engine knows it: without this invocation in its extensions, of which it would be a part.
    cx: ExecutionContext,
    context: Context,
    begun: Instant,
    model_calls: AtomicU64,
    tool_calls: AtomicU64,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    outcome: Outcome,
    /// What somebody said, who knows better than the outcome.
    failure: Option<Failure>,
    ended: bool,
}

/// What became of the executor.
#[derive(Clone, Default)]
pub(super) enum Outcome {
    #[default]
    Running,
    Returned,
    Failed(Failure),
    Dropped,
}

#[derive(Clone)]
pub(super) struct Failure {
    kind: ErrorType,
    detail: Option<String>,
}

impl Invocation {
    /// What the executor was given with its context.
    pub(crate) fn of(cx: &ExecutionContext) -> Option<Arc<Self>> {
        cx.extensions().get::<Arc<Self>>().cloned()
    }

    pub(super) fn begin(running: Arc<Running>, cx: &ExecutionContext) -> Arc<Self> {
        let parent = running.caller_context(cx.headers());
        let ids = vec![
            KeyValue::new(name::CONVERSATION_ID, cx.context_id().to_owned()),
            KeyValue::new(name::TASK_ID, cx.task_id().to_owned()),
            KeyValue::new(name::USER_ID, Caller::of(cx).user()),
        ];
        let parent = parent.with_value(InvocationIds(ids));
        let is_resumed = cx.task().is_some_and(|task| task.state().is_interrupted());
        let segment = if is_resumed { "resumed" } else { "initial" };
        let mut attributes = running.invoked(cx.call());
        attributes.push(KeyValue::new(name::SEGMENT, segment));
        let mut span = running.invocation_span(attributes);
        let origin = running.take_origin(cx.task_id());
        if let Some(origin) = origin.filter(|_| is_resumed) {
            let relationship = KeyValue::new(name::RELATIONSHIP, "resume_origin");
            span = span.with_links(vec![Link::new(origin, vec![relationship], 0)]);
        }
        let context = running.span(span, &parent);
        Arc::new(Self {
            running,
            cx: cx.clone(),
            context,
            begun: Instant::now(),
            model_calls: AtomicU64::new(0),
            tool_calls: AtomicU64::new(0),
            progress: Mutex::default(),
        })
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn span_context(&self) -> SpanContext {
        self.context.span().span_context().clone()
    }

    pub(super) fn captures_content(&self) -> bool {
        self.running.captures_content()
    }

    /// Whether spans are made at all.
    pub(super) fn traces(&self) -> bool {
        self.running.traces()
    }

    /// The context with a span below the current one, or below this invocation's on other tasks.
    pub(super) fn child(&self, span: SpanBuilder) -> Context {
        self.running.span(span, &self.current())
    }

    /// Puts the current span into headers, in place of the caller's that may stand there.
    pub(crate) fn inject(&self, headers: &mut HeaderMap) {
        if self.traces() {
            self.running.inject(&self.current(), headers);
        }
    }

    fn current(&self) -> Context {
        let current = Context::current();
        match current.get::<InvocationIds>() {
            Some(_) => current,
            None => self.context.clone(),
        }
    }

    pub(super) fn count_model_call(&self) {
        self.model_calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_tool_call(&self) {
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn record(&self, record: impl FnOnce(&Instruments)) {
        self.running.record(record);
    }

    /// Says why it fails. The first word counts: what comes after follows from it.
    pub(super) fn fails_with(&self, kind: ErrorType, detail: Option<String>) {
        self.lock().failure.get_or_insert(Failure { kind, detail });
    }

    pub(super) fn executor_ended(&self, outcome: Outcome) {
        self.lock().outcome = outcome;
    }

    /// Whether this is the execution of that message. One task may have several, one behind the other.
    pub(super) fn is_of(&self, cx: &ExecutionContext) -> bool {
        self.cx.message().message_id == cx.message().message_id
    }

    /// Ends the span and counts. Only the first call does anything.
    pub(super) fn end(&self, state: Option<TaskState>) {
        let Some((failure, disposition)) = self.verdict(state) else {
            return;
        };
        if self.traces() {
            let span = self.context.span();
            if let Some(state) = state {
                span.set_attribute(KeyValue::new(name::TASK_STATE, state.as_str_name()));
            }
            if let Some(disposition) = disposition {
                span.set_attribute(KeyValue::new(name::DISPOSITION, disposition));
            }
            if let Some(failure) = &failure {
                span.set_attribute(KeyValue::new(name::ERROR_TYPE, failure.kind.as_str()));
                span.set_status(Status::error(failure.text()));
            }
            span.end();
        }
        self.record(|instruments| {
            instruments.invocation(
                self.begun.elapsed(),
                failure.map(|failure| failure.kind),
                self.model_calls.load(Ordering::Relaxed),
                self.tool_calls.load(Ordering::Relaxed),
            );
        });
    }

    /// Why it failed and how it was cut short; `None` when it has ended already.
    fn verdict(&self, state: Option<TaskState>) -> Option<(Option<Failure>, Option<&'static str>)> {
        let mut progress = self.lock();
        if std::mem::replace(&mut progress.ended, true) {
            return None;
        }
        let reason = self.cx.cancel_reason();
        let canceled = state == Some(TaskState::Canceled)
            || (state.is_none() && matches!(reason, Some(CancelReason::Request { .. })));
        if canceled {
            return Some((progress.failure.take(), Some("canceled")));
        }
        let stopped = reason.is_some() || matches!(progress.outcome, Outcome::Dropped);
        let failed = state == Some(TaskState::Failed);
        let failure = match (progress.failure.take(), progress.outcome.clone()) {
            (Some(failure), _) | (None, Outcome::Failed(failure)) => Some(failure),
            (None, _) => failed.then_some(Failure {
                kind: ErrorType::RuntimeFailure,
                detail: None,
            }),
        };
        Some((failure, stopped.then_some("interrupted")))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation").finish_non_exhaustive()
    }
}

impl Outcome {
    pub(super) fn of(outcome: &Result<(), AgentError>) -> Self {
        let Err(error) = outcome else {
            return Self::Returned;
        };
        // What the caller is told anyway; other errors may say what nobody else is to read.
        let public = error.protocol();
        let kind = match public.map(|error| error.code()) {
            Some(ErrorCode::InvalidParams) => ErrorType::InvalidRequest,
            Some(ErrorCode::InvalidAgentResponse) => ErrorType::InvalidRuntimeOutcome,
            _ => ErrorType::RuntimeError,
        };
        Self::Failed(Failure {
            kind,
            detail: public.map(|error| error.message().to_owned()),
        })
    }

    pub(super) fn panicked() -> Self {
        Self::Failed(Failure {
            kind: ErrorType::RuntimePanic,
            detail: None,
        })
    }
}

impl Failure {
    fn text(&self) -> Cow<'static, str> {
        match &self.detail {
            Some(detail) => format!("{}: {detail}", self.kind.as_str()).into(),
            None => self.kind.as_str().into(),
        }
    }
}

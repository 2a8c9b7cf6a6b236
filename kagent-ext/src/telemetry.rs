//! Traces, metrics and logs of a byo agent over OTLP, as kagent's own runtimes send them (kagent contract 8).
//!
//! [`byo::run`](crate::byo::run) sets them up by itself when this feature is on; where they go stands in kagent's
//! configuration (`runtime.telemetry`) and in the `OTEL_*` variables, which win; outside of a cluster the variables count
//! alone. Where no endpoint is named, nothing is made that exports. Until something is exported no connection is opened,
//! no id is minted and no certificate is read, so that a snapshot of the fresh process holds none of it; connections are
//! let go of at each boundary.
//!
//! - Each execution is a span `invoke_agent <agent>`, below the span of the caller's `traceparent`. It ends, and
//!   everything is flushed, before the task is settled and anybody sees that it ended; that takes at most 3 seconds and
//!   its failure changes nothing.
//! - What an executor does on the way it tells by [`ExecutionTelemetry`]: tools, models, why it failed.
//! - Every span made within an execution says which task, conversation and user it belongs to; metrics and the resource
//!   never do.
//! - Health, readiness and the card are not traced.
//!
//! # Settings
//!
//! | variable | | otherwise |
//! |---|---|---|
//! | `OTEL_EXPORTER_OTLP_[TRACES_\|METRICS_\|LOGS_]ENDPOINT` | where to | `endpoint` of the configuration, else nowhere |
//! | `OTEL_EXPORTER_OTLP_[…]PROTOCOL` | `grpc` or `http/protobuf` | `protocol` of the configuration, else `grpc` |
//! | `OTEL_EXPORTER_OTLP_[…]TIMEOUT` | milliseconds of an export | `timeout` of the configuration, else 10 seconds |
//! | `OTEL_EXPORTER_OTLP_[…]COMPRESSION` | `gzip` or `none` | `gzip` |
//! | `OTEL_EXPORTER_OTLP_[…]CERTIFICATE` | whom to trust | `SSL_CERT_FILE`, `SSL_CERT_DIR`, the platform |
//! | `OTEL_[TRACES\|METRICS\|LOGS]_EXPORTER` | `otlp` or `none` | `otlp` where there is an endpoint |
//! | `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` | `cumulative`, `delta` or `lowmemory` | `cumulative` |
//! | `OTEL_PROPAGATORS` | `tracecontext`, `baggage`, `none` | `tracecontext` |
//! | `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME` | the resource | `resource_attributes` of the configuration |
//! | `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` | [`ExecutionTelemetry::captures_content`] | `capture_content` |
//! | `OTEL_SDK_DISABLED` | `true` for nothing at all | |
//!
//! An endpoint or a protocol in the environment replaces both of the configuration. Variables that are not listed, such
//! as `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER` and `OTEL_BSP_*`, are read by the OpenTelemetry SDK itself, from
//! the process.
//!
//! # Logs
//!
//! [`Byo::serve`](crate::byo::Byo::serve) writes `tracing` events to standard error, one JSON object a line with the ids
//! of the span that they belong to, and sends them to the collector of logs if there is one: from the first execution on,
//! together with up to 256 of what came before it. Where the application has set a subscriber of its own before, that one
//! stays and neither happens.

mod attribute;
mod calls;
mod clock;
mod export;
mod flush;
mod ids;
mod invocation;
mod log;
mod metrics;
mod running;
mod settings;
mod store;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use a2a_proto::Method;
use a2a_proto::v1::Task;
use a2a_server::{
    AgentError, AgentExecutor, BoundaryHook, BoundaryPolicy, EventSink, ExecutionContext,
    ReplyMode, TaskStore, async_trait,
};
use opentelemetry::context::FutureExt as _;
use tokio::runtime::Handle;

use crate::config::{Environment, RuntimeConfig};

pub use calls::{ExecutionTelemetry, ModelCall, ModelUsage, ToolCall};
pub use invocation::ErrorType;

pub(crate) use invocation::Invocation;

use invocation::Outcome;
use running::Running;
use settings::{Identity, Settings};

/// Why telemetry can't be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// A variable or a member of the configuration holds something that can't be used.
    #[error("{name} {reason}")]
    Setting {
        /// The variable, or the path of the member.
        name: String,
        /// What is wrong.
        reason: &'static str,
    },
}

/// The telemetry of one agent: nothing until it is started. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Telemetry {
    running: Arc<OnceLock<Arc<Running>>>,
    flush_time: Duration,
    /// It is that of the whole process.
    is_global: bool,
}

impl Telemetry {
    pub(crate) fn new() -> Self {
        Self {
            running: Arc::default(),
            flush_time: FLUSH_TIME,
            is_global: false,
        }
    }

    #[cfg(all(test, feature = "testing"))]
    fn with_flush_time(mut self, time: Duration) -> Self {
        self.flush_time = time;
        self
    }

    /// The executor, with a span around each of its executions.
    pub(crate) fn around<E: AgentExecutor>(&self, executor: E) -> impl AgentExecutor {
        Traced {
            executor,
            telemetry: self.clone(),
        }
    }

    /// The store, with a span around what it does for an execution.
    pub(crate) fn around_store(&self, store: impl TaskStore) -> impl TaskStore {
        store::Traced::new(store, self.clone())
    }

    /// The policy, with a flush at each boundary.
    pub(crate) fn at_boundary(&self, policy: BoundaryPolicy) -> BoundaryPolicy {
        policy.with_hook(Arc::new(self.clone()))
    }

    /// Begins. The agent has this name where kagent says none.
    ///
    /// Must be called in the runtime that serves the agent.
    pub(crate) fn start(
        &self,
        environment: &Environment,
        runtime: Option<&RuntimeConfig>,
        name: &str,
    ) -> Result<(), TelemetryError> {
        let identity = Identity {
            name: runtime.map_or(name, |runtime| &runtime.name).to_owned(),
            namespace: runtime.map(|runtime| runtime.namespace.clone()),
        };
        let settings = Settings::read(environment, runtime, &identity)?;
        let running = Running::start(settings, identity, &Handle::current(), self.flush_time);
        if self.is_global {
            running.install();
        }
        // A second start changes nothing.
        let _ = self.running.set(Arc::new(running));
        Ok(())
    }

    /// Makes this the telemetry of the process once it starts: its log, and the providers for libraries that ask for the
    /// global ones.
    pub(crate) fn globally(mut self) -> Self {
        self.is_global = true;
        self
    }

    /// Ends what is open, sends what is left, and closes connections; takes at most 3 seconds.
    pub(crate) async fn shut_down(&self) {
        if let Some(running) = self.running.get() {
            running.end_all();
            running.flusher().shut_down().await;
        }
    }

    fn running(&self) -> Option<&Arc<Running>> {
        self.running.get()
    }
}

#[async_trait]
impl BoundaryHook for Telemetry {
    async fn before_settle(&self, task: &Task) {
        if let Some(running) = self.running() {
            running.at_boundary(task);
            running.flusher().flush().await;
        }
    }

    fn execution_ended(&self, cx: &ExecutionContext) {
        if let Some(running) = self.running() {
            running.execution_ended(cx);
            running.flusher().flush_soon();
        }
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry")
            .field("running", &self.running.get())
            .finish_non_exhaustive()
    }
}

/// See [`Telemetry::around`].
struct Traced<E> {
    executor: E,
    telemetry: Telemetry,
}

impl<E: AgentExecutor> AgentExecutor for Traced<E> {
    async fn execute(&self, mut cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let running = self.telemetry.running();
        let Some(running) = running.filter(|_| is_send(cx.call().method())) else {
            return self.executor.execute(cx, out).await;
        };
        let invocation = running.begin(&cx);
        cx.extensions_mut().insert(Arc::clone(&invocation));
        let context = invocation.context().clone();
        let mut adopted = Adopted {
            invocation,
            outcome: None,
        };
        let outcome = self.executor.execute(cx, out).with_context(context).await;
        adopted.outcome = Some(Outcome::of(&outcome));
        outcome
    }

    async fn cancel(&self, cx: ExecutionContext) -> Result<(), AgentError> {
        self.executor.cancel(cx).await
    }

    fn reply_mode(&self) -> ReplyMode {
        self.executor.reply_mode()
    }
}

/// The invocation while its executor runs. Whoever called it has nothing to do with it any more: it ends with the
/// executor, however that ends.
struct Adopted {
    invocation: Arc<Invocation>,
    outcome: Option<Outcome>,
}

impl Drop for Adopted {
    fn drop(&mut self) {
        let outcome = self.outcome.take();
        self.invocation
            .executor_ended(outcome.unwrap_or_else(|| match std::thread::panicking() {
                true => Outcome::panicked(),
                false => Outcome::Dropped,
            }));
    }
}

fn is_send(method: Method) -> bool {
    matches!(method, Method::SendMessage | Method::SendStreamingMessage)
}

/// How long a flush holds up a boundary (kagent contract 8).
const FLUSH_TIME: Duration = Duration::from_secs(3);

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;

//! What telemetry is made of once the agent has started.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use a2a_proto::v1::Task;
use a2a_server::{CallContext, ExecutionContext, NO_RESULT};
use http::HeaderMap;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{
    SpanBuilder, SpanContext, SpanKind, TraceContextExt as _, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_otlp::{LogExporter, MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use opentelemetry_sdk::resource::{ResourceDetector as _, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;
use tracing_subscriber::filter::LevelFilter;

use super::attribute;
use super::export::{Deferred, Exporter, LetGo};
use super::flush::Flusher;
use super::ids::{FreshIds, IdsOnSpans};
use super::invocation::{ErrorType, Invocation};
use super::log::{self, Records};
use super::metrics::{Instruments, exponential};
use super::settings::{Collector, Identity, Propagation, Settings};

pub(crate) struct Running {
    identity: Identity,
    propagation: Propagation,
    captures_content: bool,
    level: LevelFilter,
    tracer: Option<SdkTracer>,
    instruments: Option<Instruments>,
    records: Option<Arc<Records>>,
    flusher: Flusher,
    /// The invocations that have not ended, by their tasks.
    live: Mutex<HashMap<String, Arc<Invocation>>>,
    /// The spans that paused a task, oldest first.
    origins: Mutex<VecDeque<(String, SpanContext)>>,
}

/// Whatever exports; nothing where no collector is named.
#[derive(Clone, Default)]
pub(super) struct Providers {
    pub(super) traces: Option<SdkTracerProvider>,
    pub(super) metrics: Option<SdkMeterProvider>,
    pub(super) logs: Option<SdkLoggerProvider>,
    pub(super) let_go: Vec<LetGo>,
}

impl Running {
    pub(super) fn start(
        settings: Settings,
        identity: Identity,
        runtime: &Handle,
        flush_time: Duration,
    ) -> Self {
        let providers = Providers::new(&settings, runtime);
        let scope = attribute::scope();
        let traces = providers.traces.as_ref();
        let metrics = providers.metrics.as_ref();
        Self {
            tracer: traces.map(|provider| provider.tracer_with_scope(scope.clone())),
            instruments: metrics.map(|provider| {
                Instruments::new(&provider.meter_with_scope(scope), &identity.name)
            }),
            identity,
            propagation: settings.propagation,
            captures_content: settings.captures_content,
            records: providers.logs.as_ref().map(Records::new).map(Arc::new),
            level: settings.level,
            flusher: Flusher::new(providers, flush_time),
            live: Mutex::default(),
            origins: Mutex::default(),
        }
    }

    /// Makes this what the process logs and records with.
    pub(super) fn install(&self) {
        log::install(self);
        if let Some(traces) = &self.providers().traces {
            opentelemetry::global::set_tracer_provider(traces.clone());
        }
        if let Some(metrics) = &self.providers().metrics {
            opentelemetry::global::set_meter_provider(metrics.clone());
        }
    }

    pub(super) fn captures_content(&self) -> bool {
        self.captures_content
    }

    pub(super) fn level(&self) -> LevelFilter {
        self.level
    }

    pub(super) fn providers(&self) -> &Providers {
        self.flusher.providers()
    }

    pub(super) fn flusher(&self) -> &Flusher {
        &self.flusher
    }

    pub(super) fn traces(&self) -> bool {
        self.tracer.is_some()
    }

    /// A context with that span; without traces, the one above.
    pub(super) fn span(&self, span: SpanBuilder, parent: &Context) -> Context {
        match &self.tracer {
            Some(tracer) => parent.with_span(tracer.build_with_context(span, parent)),
            None => parent.clone(),
        }
    }

    pub(super) fn record(&self, record: impl FnOnce(&Instruments)) {
        if let Some(instruments) = &self.instruments {
            record(instruments);
        }
    }

    /// The context that the headers of a call name.
    pub(super) fn caller_context(&self, headers: &HeaderMap) -> Context {
        let headers = HeaderExtractor(headers);
        let mut context = Context::new();
        if self.propagation.trace_context {
            context = TraceContextPropagator::new().extract_with_context(&context, &headers);
        }
        if self.propagation.baggage {
            context = BaggagePropagator::new().extract_with_context(&context, &headers);
        }
        context
    }

    pub(super) fn inject(&self, context: &Context, headers: &mut HeaderMap) {
        if self.propagation.trace_context && context.span().span_context().is_valid() {
            headers.remove("traceparent");
            headers.remove("tracestate");
            TraceContextPropagator::new().inject_context(context, &mut HeaderInjector(headers));
        }
        if self.propagation.baggage {
            BaggagePropagator::new().inject_context(context, &mut HeaderInjector(headers));
        }
    }

    pub(super) fn records(&self) -> Option<&Arc<Records>> {
        self.records.as_ref()
    }

    pub(super) fn begin(self: &Arc<Self>, cx: &ExecutionContext) -> Arc<Invocation> {
        if let Some(records) = &self.records {
            records.begin();
        }
        let invocation = Invocation::begin(Arc::clone(self), cx);
        let earlier = lock(&self.live).insert(cx.task_id().to_owned(), Arc::clone(&invocation));
        if let Some(earlier) = earlier {
            earlier.end(None);
        }
        invocation
    }

    pub(super) fn live(&self, task_id: &str) -> Option<Arc<Invocation>> {
        lock(&self.live).get(task_id).cloned()
    }

    /// A message came that nobody works on: its caller left before there was anything to work on.
    pub(super) fn abandoned(&self, call: &CallContext, task_id: &str, came: SystemTime) {
        let parent = self.caller_context(call.headers());
        let mut attributes = self.invoked(call);
        attributes.push(KeyValue::new(attribute::TASK_ID, task_id.to_owned()));
        attributes.push(KeyValue::new(attribute::DISPOSITION, "abandoned"));
        let span = self.invocation_span(attributes).with_start_time(came);
        if self.traces() {
            self.span(span, &parent).span().end();
        }
        self.flusher.flush_soon();
    }

    /// The span of an invocation.
    pub(super) fn invocation_span(&self, attributes: Vec<KeyValue>) -> SpanBuilder {
        SpanBuilder::from_name(format!("invoke_agent {}", self.identity.name))
            .with_kind(SpanKind::Internal)
            .with_attributes(attributes)
    }

    /// What every invocation says.
    pub(super) fn invoked(&self, call: &CallContext) -> Vec<KeyValue> {
        vec![
            KeyValue::new(attribute::OPERATION, "invoke_agent"),
            KeyValue::new(attribute::METHOD, call.method().name()),
            KeyValue::new(attribute::AGENT_NAME, self.identity.name.clone()),
            KeyValue::new(attribute::AGENT_ID, self.identity.id()),
        ]
    }

    /// The task is at a boundary: its invocation is over.
    pub(super) fn at_boundary(&self, task: &Task) {
        let Some(invocation) = lock(&self.live).remove(&task.id) else {
            return;
        };
        if self.traces() && task.state().is_interrupted() {
            let mut origins = lock(&self.origins);
            origins.retain(|(paused, _)| *paused != task.id);
            origins.push_back((task.id.clone(), invocation.span_context()));
            if origins.len() > MOST_ORIGINS {
                origins.pop_front();
            }
        }
        let says = task
            .status
            .as_ref()
            .and_then(|status| status.message.as_ref());
        if says.is_some_and(|message| message.text() == NO_RESULT) {
            invocation.fails_with(ErrorType::InvalidRuntimeOutcome, None);
        }
        invocation.end(Some(task.state()));
    }

    /// An execution is over, with or without a boundary.
    pub(super) fn execution_ended(&self, cx: &ExecutionContext) {
        let mut live = lock(&self.live);
        let ended = live.get(cx.task_id()).filter(|found| found.is_of(cx));
        if ended.is_none() {
            return;
        }
        if let Some(invocation) = live.remove(cx.task_id()) {
            drop(live);
            invocation.end(None);
        }
    }

    pub(super) fn take_origin(&self, task_id: &str) -> Option<SpanContext> {
        let mut origins = lock(&self.origins);
        let index = origins.iter().position(|(paused, _)| paused == task_id)?;
        origins.remove(index).map(|(_, origin)| origin)
    }

    /// Ends what has not ended.
    pub(super) fn end_all(&self) {
        let live: Vec<_> = lock(&self.live).drain().collect();
        for (_, invocation) in live {
            invocation.end(None);
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("identity", &self.identity)
            .field("providers", self.providers())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers")
            .field("traces", &self.traces.is_some())
            .field("metrics", &self.metrics.is_some())
            .field("logs", &self.logs.is_some())
            .finish_non_exhaustive()
    }
}

impl Providers {
    fn new(settings: &Settings, runtime: &Handle) -> Self {
        let resource = resource(settings);
        let mut let_go = Vec::new();
        let traces = settings.traces.as_ref().map(|collector| {
            let exporter = made::<SpanExporter>(collector, runtime, &mut let_go);
            SdkTracerProvider::builder()
                .with_resource(resource.clone())
                .with_id_generator(FreshIds)
                .with_span_processor(IdsOnSpans)
                .with_batch_exporter(exporter)
                .build()
        });
        let metrics = settings.metrics.as_ref().map(|collector| {
            let exporter = made::<MetricExporter>(collector, runtime, &mut let_go)
                .with_temporality(settings.temporality);
            SdkMeterProvider::builder()
                .with_resource(resource.clone())
                .with_view(exponential)
                .with_periodic_exporter(exporter)
                .build()
        });
        let logs = settings.logs.as_ref().map(|collector| {
            let exporter = made::<LogExporter>(collector, runtime, &mut let_go);
            SdkLoggerProvider::builder()
                .with_resource(resource.clone())
                .with_batch_exporter(exporter)
                .build()
        });
        Self {
            traces,
            metrics,
            logs,
            let_go,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.traces.is_none() && self.metrics.is_none() && self.logs.is_none()
    }
}

fn made<E: Exporter + Send + Sync + 'static>(
    collector: &Collector,
    runtime: &Handle,
    let_go: &mut Vec<LetGo>,
) -> Deferred<E> {
    let (exporter, lets_go) = Deferred::new(collector.clone(), runtime.clone());
    let_go.push(lets_go);
    exporter
}

/// No id of this process: it may have been restored from a snapshot that others came from as well.
fn resource(settings: &Settings) -> Resource {
    let attributes = settings.resource.iter();
    let attributes = attributes.map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    let sdk = TelemetryResourceDetector.detect();
    let sdk = sdk
        .iter()
        .map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    Resource::builder_empty()
        .with_attributes(sdk)
        .with_attributes(attributes)
        .build()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The paused tasks whose spans are remembered. A session has one or a few.
const MOST_ORIGINS: usize = 64;

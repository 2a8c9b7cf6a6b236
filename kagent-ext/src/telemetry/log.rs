//! `tracing` events as lines of JSON, and as records for the collector (kagent contract 8).

use std::error::Error;
use std::fmt::Debug;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use a2a_proto::Timestamp;
use a2a_proto::error::WithCauses;
use opentelemetry::Context;
use opentelemetry::logs::{AnyValue, LogRecord as _, Logger as _, LoggerProvider as _, Severity};
use opentelemetry::trace::{SpanContext, TraceContextExt as _};
use opentelemetry_sdk::logs::{SdkLogRecord, SdkLogger, SdkLoggerProvider};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context as LayerContext, Layer, SubscriberExt as _};
use tracing_subscriber::registry::Registry;

use super::running::Running;
use super::{attribute, clock};

/// Makes this the log of the process, unless it has one.
pub(super) fn install(running: &Running) {
    let subscriber = subscriber(running, Box::new(std::io::stderr()));
    let _ = tracing::subscriber::set_global_default(subscriber);
}

pub(super) fn subscriber(
    running: &Running,
    out: Box<dyn Write + Send>,
) -> impl Subscriber + Send + Sync + 'static {
    let lines = JsonLines {
        out: Mutex::new(out),
    };
    let records = running.records().cloned().map(ToCollector);
    Registry::default()
        .with(running.level())
        .with(lines)
        .with(records)
}

/// Writes each event as one line.
struct JsonLines {
    out: Mutex<Box<dyn Write + Send>>,
}

impl<S: Subscriber> Layer<S> for JsonLines {
    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let mut line = Value::Object(line(event, clock::now(), &current_span())).to_string();
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // There is nowhere to say that the log can't be written.
        let _ = out.write_all(line.as_bytes());
    }
}

/// Records on their way to the collector. Until the first execution they are kept back: nothing is dialled before it.
pub(super) struct Records {
    logger: SdkLogger,
    early: Mutex<Option<Vec<SdkLogRecord>>>,
}

impl Records {
    pub(super) fn new(provider: &SdkLoggerProvider) -> Self {
        Self {
            logger: provider.logger_with_scope(attribute::scope()),
            early: Mutex::new(Some(Vec::new())),
        }
    }

    /// Sends what was kept back, and from now on everything.
    pub(super) fn begin(&self) {
        let early = self.early().take();
        for record in early.into_iter().flatten() {
            self.logger.emit(record);
        }
    }

    fn emit(&self, record: SdkLogRecord) {
        if let Some(early) = &mut *self.early() {
            // The lines have all of them.
            if early.len() < MOST_EARLY {
                early.push(record);
            }
            return;
        }
        self.logger.emit(record);
    }

    fn early(&self) -> MutexGuard<'_, Option<Vec<SdkLogRecord>>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends each event to the collector.
struct ToCollector(Arc<Records>);

impl<S: Subscriber> Layer<S> for ToCollector {
    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let metadata = event.metadata();
        // What exporting itself says would be exported, and so on.
        if EXPORT
            .iter()
            .any(|target| metadata.target().starts_with(target))
        {
            return;
        }
        let fields = Fields::of(event);
        let mut record = self.0.logger.create_log_record();
        record.set_timestamp(clock::now());
        record.set_severity_number(severity(metadata.level()));
        record.set_severity_text(metadata.level().as_str());
        record.set_target(metadata.target());
        record.set_body(AnyValue::from(fields.message));
        record.add_attributes(
            fields
                .others
                .into_iter()
                .map(|(name, value)| (name, any_value(value))),
        );
        let span = current_span();
        if span.is_valid() {
            record.set_trace_context(span.trace_id(), span.span_id(), Some(span.trace_flags()));
        }
        self.0.emit(record);
    }
}

fn line(event: &Event<'_>, time: SystemTime, span: &SpanContext) -> Map<String, Value> {
    let metadata = event.metadata();
    let fields = Fields::of(event);
    let mut line = Map::new();
    let mut set = |name: &str, value: String| line.insert(name.to_owned(), value.into());
    set("time", Timestamp::from(time).to_string());
    set("level", metadata.level().to_string());
    set("logger", metadata.target().to_owned());
    set("msg", fields.message);
    if span.is_valid() {
        set("trace_id", span.trace_id().to_string());
        set("span_id", span.span_id().to_string());
        set("trace_flags", format!("{:02x}", span.trace_flags().to_u8()));
    }
    for (name, value) in fields.others {
        line.entry(name).or_insert(value);
    }
    line
}

fn current_span() -> SpanContext {
    Context::map_current(|context| context.span().span_context().clone())
}

/// What an event says.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn of(event: &Event<'_>) -> Self {
        let mut fields = Self::default();
        event.record(&mut fields);
        fields
    }

    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.others.insert(field.name().to_owned(), value.into());
    }

    fn error(&mut self, kind: &str, text: String) {
        self.others.insert(EXCEPTION_TYPE.to_owned(), kind.into());
        self.others
            .insert(EXCEPTION_STACKTRACE.to_owned(), text.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.message = text,
            "error" => self.error(type_of(&text), text.clone()),
            _ => self.set(field, text),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            "error" => self.error(UNNAMED, value.to_owned()),
            _ => self.set(field, value),
        }
    }

    fn record_error(&mut self, _: &Field, value: &(dyn Error + 'static)) {
        let kind = format!("{value:?}");
        self.error(type_of(&kind), WithCauses(value).to_string());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }
}

/// The name with which the debug text of a value begins, as derived ones do.
fn type_of(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let is_derived = name.starts_with(|c: char| c.is_ascii_uppercase())
        && (rest.is_empty() || rest.starts_with('(') || rest.starts_with(" {"));
    if is_derived { name } else { UNNAMED }
}

fn severity(level: &Level) -> Severity {
    match *level {
        Level::TRACE => Severity::Trace,
        Level::DEBUG => Severity::Debug,
        Level::INFO => Severity::Info,
        Level::WARN => Severity::Warn,
        Level::ERROR => Severity::Error,
    }
}

fn any_value(value: Value) -> AnyValue {
    match value {
        Value::Bool(value) => AnyValue::Boolean(value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => AnyValue::Int(value),
            (None, value) => AnyValue::Double(value.unwrap_or_default()),
        },
        Value::String(value) => AnyValue::from(value),
        other => AnyValue::from(other.to_string()),
    }
}

/// The records that are kept back at most.
const MOST_EARLY: usize = 256;
const EXCEPTION_TYPE: &str = "exception.type";
const EXCEPTION_STACKTRACE: &str = "exception.stacktrace";
/// An error that says its text and not its type.
const UNNAMED: &str = "Error";
const EXPORT: [&str; 7] = [
    "opentelemetry",
    "tonic",
    "tower",
    "h2",
    "hyper",
    "reqwest",
    "rustls",
];

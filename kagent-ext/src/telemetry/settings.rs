//! What the environment and the configuration ask for. Variables win over the document (kagent contract 8).

use std::path::PathBuf;
use std::time::Duration;

use http::Uri;
use opentelemetry_sdk::metrics::Temporality;
use percent_encoding::percent_decode_str;
use tracing_subscriber::filter::LevelFilter;

use super::TelemetryError;
use super::attribute::PRIVATE;
use crate::config::{Environment, OtlpConfig, RuntimeConfig, TelemetryConfig};

/// All that is decided before anything is built.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) traces: Option<Collector>,
    pub(super) metrics: Option<Collector>,
    pub(super) logs: Option<Collector>,
    pub(super) temporality: Temporality,
    pub(super) propagation: Propagation,
    pub(super) resource: Vec<(String, String)>,
    pub(super) captures_content: bool,
    pub(super) level: LevelFilter,
}

/// Where a signal goes, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Collector {
    pub(super) endpoint: String,
    pub(super) protocol: Protocol,
    pub(super) timeout: Duration,
    pub(super) gzip: bool,
    pub(super) authorities: Authorities,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Grpc,
    HttpProtobuf,
}

/// Whose certificates are trusted; without any, those of the platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Authorities {
    pub(super) file: Option<PathBuf>,
    pub(super) directory: Option<PathBuf>,
}

/// What is read from a caller and passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Propagation {
    pub(super) trace_context: bool,
    pub(super) baggage: bool,
}

/// The agent, as its telemetry names it.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
}

impl Settings {
    pub(super) fn read(
        environment: &Environment,
        runtime: Option<&RuntimeConfig>,
        identity: &Identity,
    ) -> Result<Self, TelemetryError> {
        let none = TelemetryConfig::default();
        let config = runtime.map_or(&none, |runtime| &runtime.telemetry);
        let level = runtime.map_or("", |runtime| runtime.log_level.as_str());
        let reader = Reader { environment };
        let disabled = reader
            .var("OTEL_SDK_DISABLED")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let collector = |signal: &Signal, file: Option<&OtlpConfig>| match disabled {
            true => Ok(None),
            false => reader.collector(signal, file),
        };
        Ok(Self {
            traces: collector(&TRACES, config.traces.as_ref())?,
            metrics: collector(&METRICS, config.metrics.as_ref())?,
            logs: collector(&LOGS, config.logs.as_ref())?,
            temporality: reader.temporality()?,
            propagation: reader.propagation()?,
            resource: reader.resource(config, identity)?,
            captures_content: reader.captures_content(config),
            level: log_level(level)?,
        })
    }
}

impl Identity {
    /// The name by which kagent knows the agent.
    pub(super) fn id(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        }
    }
}

struct Signal {
    /// As its variables have it.
    upper: &'static str,
    /// As the document has it.
    lower: &'static str,
    /// Where a collector takes it over HTTP.
    path: &'static str,
}

struct Reader<'a> {
    environment: &'a Environment,
}

/// A value and the name of where it stands, for errors.
struct Named {
    name: String,
    value: String,
}

impl Reader<'_> {
    fn collector(
        &self,
        signal: &Signal,
        file: Option<&OtlpConfig>,
    ) -> Result<Option<Collector>, TelemetryError> {
        let exporter = format!("OTEL_{}_EXPORTER", signal.upper);
        match self.var(&exporter).as_deref() {
            None | Some("otlp") => {}
            Some("none") => return Ok(None),
            Some(_) => return Err(wrong(exporter, "must be `otlp` or `none`")),
        }
        // One of the two in the environment replaces both of the document: they belong together.
        let told_endpoint = self.of(signal, "ENDPOINT");
        let told_protocol = self.of(signal, "PROTOCOL");
        let is_told = told_endpoint.is_some() || told_protocol.is_some();
        let file_pair = file.filter(|_| !is_told);
        let protocol = match (told_protocol, file_pair) {
            (Some((told, _)), _) => protocol(told)?,
            (None, Some(file)) if !file.protocol.is_empty() => protocol(Named {
                name: signal.member("protocol"),
                value: file.protocol.clone(),
            })?,
            (None, _) => Protocol::Grpc,
        };
        let endpoint = match (told_endpoint, file_pair) {
            (Some((told, Source::Signal)), _) => self.endpoint(signal, protocol, told)?,
            (Some((told, Source::All)), _) => {
                let base = self.endpoint(signal, protocol, told)?;
                match protocol {
                    Protocol::Grpc => base,
                    Protocol::HttpProtobuf => {
                        format!("{}{}", base.trim_end_matches('/'), signal.path)
                    }
                }
            }
            (None, Some(file)) if !file.endpoint.is_empty() => {
                let named = Named {
                    name: signal.member("endpoint"),
                    value: file.endpoint.clone(),
                };
                with_path(self.endpoint(signal, protocol, named)?, protocol, signal)
            }
            (None, _) => return Ok(None),
        };
        Ok(Some(Collector {
            endpoint,
            protocol,
            timeout: self.timeout(signal, file)?,
            gzip: self.gzip(signal)?,
            authorities: self.authorities(signal),
        }))
    }

    fn endpoint(
        &self,
        signal: &Signal,
        protocol: Protocol,
        told: Named,
    ) -> Result<String, TelemetryError> {
        let Named { name, value } = told;
        let url = match (protocol, value.contains("://")) {
            (Protocol::Grpc, false) => {
                let insecure = self
                    .of(signal, "INSECURE")
                    .is_some_and(|(told, _)| told.value.eq_ignore_ascii_case("true"));
                let scheme = if insecure { "http" } else { "https" };
                format!("{scheme}://{value}")
            }
            _ => value,
        };
        let uri: Uri = url
            .parse()
            .map_err(|_| wrong(name.clone(), "is not a URL"))?;
        match (uri.scheme_str(), uri.authority()) {
            (Some("http" | "https"), Some(_)) => Ok(url),
            _ => Err(wrong(name, "must begin with http:// or https://")),
        }
    }

    fn timeout(
        &self,
        signal: &Signal,
        file: Option<&OtlpConfig>,
    ) -> Result<Duration, TelemetryError> {
        let Some((told, _)) = self.of(signal, "TIMEOUT") else {
            return Ok(file.and_then(|file| file.timeout).unwrap_or(EXPORT_TIME));
        };
        match told.value.parse() {
            Ok(millis) => Ok(Duration::from_millis(millis)),
            Err(_) => Err(wrong(told.name, "must be a number of milliseconds")),
        }
    }

    fn gzip(&self, signal: &Signal) -> Result<bool, TelemetryError> {
        let Some((told, _)) = self.of(signal, "COMPRESSION") else {
            return Ok(true);
        };
        match told.value.as_str() {
            "gzip" => Ok(true),
            "none" => Ok(false),
            _ => Err(wrong(told.name, "must be `gzip` or `none`")),
        }
    }

    fn authorities(&self, signal: &Signal) -> Authorities {
        if let Some((told, _)) = self.of(signal, "CERTIFICATE") {
            return Authorities {
                file: Some(told.value.into()),
                directory: None,
            };
        }
        Authorities {
            file: self.var("SSL_CERT_FILE").map(PathBuf::from),
            directory: self.var("SSL_CERT_DIR").map(PathBuf::from),
        }
    }

    fn temporality(&self) -> Result<Temporality, TelemetryError> {
        let told = self.var(TEMPORALITY).map(|told| told.to_ascii_lowercase());
        match told.as_deref() {
            None | Some("cumulative") => Ok(Temporality::Cumulative),
            Some("delta") => Ok(Temporality::Delta),
            Some("lowmemory") => Ok(Temporality::LowMemory),
            Some(_) => Err(wrong(
                TEMPORALITY,
                "must be `cumulative`, `delta` or `lowmemory`",
            )),
        }
    }

    fn propagation(&self) -> Result<Propagation, TelemetryError> {
        let mut propagation = Propagation {
            trace_context: false,
            baggage: false,
        };
        let told = self.var(PROPAGATORS);
        for name in told.as_deref().unwrap_or("tracecontext").split(',') {
            match name.trim() {
                "tracecontext" => propagation.trace_context = true,
                "baggage" => propagation.baggage = true,
                "none" | "" => {}
                _ => {
                    return Err(wrong(
                        PROPAGATORS,
                        "knows `tracecontext`, `baggage` and `none`",
                    ));
                }
            }
        }
        Ok(propagation)
    }

    /// The later wins.
    fn resource(
        &self,
        config: &TelemetryConfig,
        identity: &Identity,
    ) -> Result<Vec<(String, String)>, TelemetryError> {
        let mut resource = vec![
            ("service.name".to_owned(), identity.name.clone()),
            ("kagent.runtime".to_owned(), "byo".to_owned()),
        ];
        if let Some(namespace) = &identity.namespace {
            resource.push(("service.namespace".to_owned(), namespace.clone()));
        }
        let configured = config.resource_attributes.iter();
        resource.extend(configured.map(|(name, value)| (name.clone(), value.clone())));
        if let Some(told) = self.var(RESOURCE) {
            for pair in told.split(',').filter(|pair| !pair.trim().is_empty()) {
                let (name, value) = pair
                    .split_once('=')
                    .ok_or_else(|| wrong(RESOURCE, "must be a list of `name=value`"))?;
                let value = percent_decode_str(value.trim())
                    .decode_utf8()
                    .map_err(|_| wrong(RESOURCE, "holds a value that is not UTF-8"))?;
                resource.push((name.trim().to_owned(), value.into_owned()));
            }
        }
        if let Some(name) = self.var("OTEL_SERVICE_NAME") {
            resource.push(("service.name".to_owned(), name));
        }
        // A process that was restored from a snapshot may serve another session: these are never its own.
        resource.retain(|(name, _)| !PRIVATE.contains(&name.as_str()));
        Ok(resource)
    }

    fn captures_content(&self, config: &TelemetryConfig) -> bool {
        match self.var("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT") {
            Some(told) => matches!(
                told.to_ascii_uppercase().as_str(),
                "SPAN_ONLY" | "SPAN_AND_EVENT" | "TRUE"
            ),
            None => config.capture_content,
        }
    }

    /// The variable of that signal, or else the one of all.
    fn of(&self, signal: &Signal, what: &str) -> Option<(Named, Source)> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_{what}", signal.upper);
        let all = format!("OTEL_EXPORTER_OTLP_{what}");
        [(own, Source::Signal), (all, Source::All)]
            .into_iter()
            .find_map(|(name, source)| {
                let value = self.var(&name)?;
                Some((Named { name, value }, source))
            })
    }

    fn var(&self, name: &str) -> Option<String> {
        self.environment.var(name)
    }
}

#[derive(Clone, Copy)]
enum Source {
    Signal,
    All,
}

impl Signal {
    fn member(&self, name: &str) -> String {
        format!("runtime.telemetry.{}.{name}", self.lower)
    }
}

fn protocol(told: Named) -> Result<Protocol, TelemetryError> {
    let Named { name, value } = told;
    match value.as_str() {
        "grpc" => Ok(Protocol::Grpc),
        "http/protobuf" => Ok(Protocol::HttpProtobuf),
        _ => Err(wrong(name, "must be `grpc` or `http/protobuf`")),
    }
}

/// An endpoint of the document names a collector; one with a path of its own names where it takes the signal.
fn with_path(url: String, protocol: Protocol, signal: &Signal) -> String {
    let has_path = url
        .parse::<Uri>()
        .is_ok_and(|uri| !matches!(uri.path(), "" | "/"));
    match protocol {
        Protocol::HttpProtobuf if !has_path => {
            format!("{}{}", url.trim_end_matches('/'), signal.path)
        }
        Protocol::HttpProtobuf | Protocol::Grpc => url,
    }
}

fn log_level(told: &str) -> Result<LevelFilter, TelemetryError> {
    match told.to_ascii_lowercase().as_str() {
        "" | "info" => Ok(LevelFilter::INFO),
        "trace" => Ok(LevelFilter::TRACE),
        "debug" => Ok(LevelFilter::DEBUG),
        "warn" | "warning" => Ok(LevelFilter::WARN),
        "error" | "critical" | "fatal" => Ok(LevelFilter::ERROR),
        "off" => Ok(LevelFilter::OFF),
        _ => Err(wrong(
            "runtime.log_level",
            "must be one of trace, debug, info, warn, error and off",
        )),
    }
}

fn wrong(name: impl Into<String>, reason: &'static str) -> TelemetryError {
    TelemetryError::Setting {
        name: name.into(),
        reason,
    }
}

const TRACES: Signal = Signal {
    upper: "TRACES",
    lower: "traces",
    path: "/v1/traces",
};
const METRICS: Signal = Signal {
    upper: "METRICS",
    lower: "metrics",
    path: "/v1/metrics",
};
const LOGS: Signal = Signal {
    upper: "LOGS",
    lower: "logs",
    path: "/v1/logs",
};

const TEMPORALITY: &str = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
const PROPAGATORS: &str = "OTEL_PROPAGATORS";
const RESOURCE: &str = "OTEL_RESOURCE_ATTRIBUTES";
/// How long an export may take unless something else is said.
const EXPORT_TIME: Duration = Duration::from_secs(10);

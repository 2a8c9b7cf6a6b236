use std::time::Duration;

use serde_json::{Value, json};

use crate::config::{Config, Environment};
use crate::telemetry::TelemetryError;
use crate::telemetry::settings::{Collector, Identity, Protocol, Settings};

fn read(telemetry: Value, vars: &[(&str, &str)]) -> Result<Settings, TelemetryError> {
    let document = json!({"runtime": {
        "name": "my-agent",
        "namespace": "team-a",
        "control_plane_url": "http://controller",
        "gateway_url": "http://controller",
        "telemetry": telemetry,
    }});
    let environment = Environment::empty().with_var("KAGENT_CONFIG_JSON", document.to_string());
    let environment = vars.iter().fold(environment, |environment, (name, value)| {
        environment.with_var(*name, *value)
    });
    let runtime = Config::read(&environment).unwrap().runtime.unwrap();
    let identity = Identity {
        name: runtime.name.clone(),
        namespace: Some(runtime.namespace.clone()),
    };
    Settings::read(&environment, Some(&runtime), &identity)
}

fn traces(telemetry: Value, vars: &[(&str, &str)]) -> Option<Collector> {
    read(telemetry, vars).unwrap().traces
}

fn file(endpoint: &str, protocol: &str) -> Value {
    json!({"traces": {"endpoint": endpoint, "protocol": protocol, "timeout": "7s"}})
}

type Vars = &'static [(&'static str, &'static str)];

const FILE: &str = "http://file:4317";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const TRACES_PROTOCOL: &str = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
const HTTP: &str = "http/protobuf";

#[test]
fn an_endpoint_or_a_protocol_of_the_environment_replaces_both_of_the_document() {
    use Protocol::{Grpc, HttpProtobuf};
    type Row = (Value, Vars, Option<(&'static str, Protocol)>);
    let table: [Row; 16] = [
        (json!({}), &[], None),
        (file(FILE, ""), &[], Some((FILE, Grpc))),
        (file("", "grpc"), &[], None),
        (
            file("http://file:4318", HTTP),
            &[],
            Some(("http://file:4318/v1/traces", HttpProtobuf)),
        ),
        (
            file("http://file/own", HTTP),
            &[],
            Some(("http://file/own", HttpProtobuf)),
        ),
        (
            json!({}),
            &[(ENDPOINT, "http://env:1")],
            Some(("http://env:1", Grpc)),
        ),
        (
            file(FILE, HTTP),
            &[(ENDPOINT, "http://env:1")],
            Some(("http://env:1", Grpc)),
        ),
        (
            file(FILE, HTTP),
            &[(TRACES_ENDPOINT, "http://env:1")],
            Some(("http://env:1", Grpc)),
        ),
        (file(FILE, "grpc"), &[(PROTOCOL, HTTP)], None),
        (file(FILE, "grpc"), &[(TRACES_PROTOCOL, HTTP)], None),
        (
            json!({}),
            &[(ENDPOINT, "http://env:1/base/"), (PROTOCOL, HTTP)],
            Some(("http://env:1/base/v1/traces", HttpProtobuf)),
        ),
        (
            json!({}),
            &[(TRACES_ENDPOINT, "http://env:1/own"), (PROTOCOL, HTTP)],
            Some(("http://env:1/own", HttpProtobuf)),
        ),
        (
            json!({}),
            &[
                (ENDPOINT, "http://all:1"),
                (TRACES_ENDPOINT, "http://own:1"),
                (PROTOCOL, HTTP),
                (TRACES_PROTOCOL, "grpc"),
            ],
            Some(("http://own:1", Grpc)),
        ),
        (file(FILE, ""), &[(ENDPOINT, "  ")], Some((FILE, Grpc))),
        (
            json!({}),
            &[(ENDPOINT, "env:1")],
            Some(("https://env:1", Grpc)),
        ),
        (
            json!({}),
            &[(ENDPOINT, "env:1"), ("OTEL_EXPORTER_OTLP_INSECURE", "true")],
            Some(("http://env:1", Grpc)),
        ),
    ];
    for (document, vars, expected) in table {
        let found = traces(document.clone(), vars);
        let found = found
            .as_ref()
            .map(|found| (found.endpoint.as_str(), found.protocol));
        assert_eq!(found, expected, "{document} {vars:?}");
    }
}

#[test]
fn an_exporter_is_made_where_an_endpoint_is_named_and_nobody_objects() {
    let all: &[(&str, &str)] = &[(ENDPOINT, "http://env:1")];
    let settings = read(json!({}), all).unwrap();
    assert!(settings.traces.is_some() && settings.metrics.is_some() && settings.logs.is_some());
    let settings = read(file(FILE, ""), &[]).unwrap();
    assert!(settings.traces.is_some() && settings.metrics.is_none() && settings.logs.is_none());
    let settings = read(file(FILE, ""), &[("OTEL_TRACES_EXPORTER", "none")]).unwrap();
    assert_eq!(settings.traces, None);
    let settings = read(json!({}), &[("OTEL_TRACES_EXPORTER", "otlp")]).unwrap();
    assert_eq!(settings.traces, None);
    let disabled = [(ENDPOINT, "http://env:1"), ("OTEL_SDK_DISABLED", "TRUE")];
    let settings = read(file(FILE, ""), &disabled).unwrap();
    assert!(settings.traces.is_none() && settings.metrics.is_none() && settings.logs.is_none());
}

#[test]
fn time_and_compression_have_defaults_and_variables_in_milliseconds() {
    let timeout = |telemetry, vars: &[_]| traces(telemetry, vars).unwrap().timeout;
    let all = ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500");
    let own = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "20");
    let endpoint = (ENDPOINT, "http://env:1");
    assert_eq!(timeout(json!({}), &[endpoint]), Duration::from_secs(10));
    assert_eq!(timeout(file(FILE, ""), &[]), Duration::from_secs(7));
    assert_eq!(timeout(file(FILE, ""), &[all]), Duration::from_millis(1500));
    assert_eq!(
        timeout(file(FILE, ""), &[all, own]),
        Duration::from_millis(20)
    );
    let gzip = |vars: &[_]| traces(file(FILE, ""), vars).unwrap().gzip;
    assert!(gzip(&[]));
    assert!(!gzip(&[("OTEL_EXPORTER_OTLP_COMPRESSION", "none")]));
    let own = ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "gzip");
    assert!(gzip(&[("OTEL_EXPORTER_OTLP_COMPRESSION", "none"), own]));
}

#[test]
fn the_resource_names_the_agent_and_nobody_else() {
    let telemetry = json!({"resource_attributes": {"deployment.environment": "prod", "a": "file"}});
    let told = "a=env%2C1, b = 2 ,enduser.id=ada,a2a.task.id=t,gen_ai.conversation.id=c";
    let resource = |vars: &[_]| {
        let settings = read(telemetry.clone(), vars).unwrap();
        settings
            .resource
            .into_iter()
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let found = resource(&[("OTEL_RESOURCE_ATTRIBUTES", told)]);
    let found: Vec<_> = found
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("a", "env,1"),
            ("b", "2"),
            ("deployment.environment", "prod"),
            ("kagent.runtime", "byo"),
            ("service.name", "my-agent"),
            ("service.namespace", "team-a"),
        ]
    );
    let told = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=listed");
    assert_eq!(resource(&[told])["service.name"], "listed");
    let named = ("OTEL_SERVICE_NAME", "named");
    assert_eq!(resource(&[told, named])["service.name"], "named");
}

#[test]
fn content_and_propagation_follow_the_environment_first() {
    let capture = |config: bool, vars: &[_]| {
        let telemetry = json!({"capture_content": config});
        read(telemetry, vars).unwrap().captures_content
    };
    let told = |value| ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value);
    assert!(!capture(false, &[]) && capture(true, &[]));
    assert!(!capture(true, &[told("NO_CONTENT")]) && capture(false, &[told("span_only")]));
    let propagation = |vars: &[_]| {
        let propagation = read(json!({}), vars).unwrap().propagation;
        (propagation.trace_context, propagation.baggage)
    };
    assert_eq!(propagation(&[]), (true, false));
    assert_eq!(
        propagation(&[("OTEL_PROPAGATORS", "baggage, tracecontext")]),
        (true, true)
    );
    assert_eq!(propagation(&[("OTEL_PROPAGATORS", "none")]), (false, false));
}

#[test]
fn what_cannot_be_used_is_named() {
    const TEMPORALITY: &str = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
    let table: [(Value, Vars, &str); 10] = [
        (json!({}), &[(TEMPORALITY, "sometimes")], TEMPORALITY),
        (
            file("file:4318", HTTP),
            &[],
            "runtime.telemetry.traces.endpoint",
        ),
        (
            file(FILE, "http/json"),
            &[],
            "runtime.telemetry.traces.protocol",
        ),
        (json!({}), &[(ENDPOINT, "ftp://env")], ENDPOINT),
        (json!({}), &[(TRACES_ENDPOINT, "http://")], TRACES_ENDPOINT),
        (json!({}), &[(PROTOCOL, "udp")], PROTOCOL),
        (
            file(FILE, ""),
            &[("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")],
            "OTEL_EXPORTER_OTLP_TIMEOUT",
        ),
        (
            file(FILE, ""),
            &[("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "zip")],
            "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
        ),
        (
            json!({}),
            &[("OTEL_METRICS_EXPORTER", "console")],
            "OTEL_METRICS_EXPORTER",
        ),
        (
            json!({}),
            &[("OTEL_RESOURCE_ATTRIBUTES", "a")],
            "OTEL_RESOURCE_ATTRIBUTES",
        ),
    ];
    for (document, vars, expected) in table {
        let TelemetryError::Setting { name, .. } = read(document, vars).unwrap_err();
        assert_eq!(name, expected);
    }
}

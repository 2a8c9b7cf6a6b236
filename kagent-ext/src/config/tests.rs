use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const V1: &str = include_str!("../../tests/data/config-1.0.json");
const V0: &str = include_str!("../../tests/data/config-0.x.json");

fn read(document: &str) -> Result<Config, ConfigError> {
    let environment = Environment::empty()
        .with_var("KAGENT_CONFIG_JSON", document)
        .with_var("KAGENT_CREDENTIAL_0A1B", "Bearer not-a-real-token");
    Config::read(&environment)
}

fn fault(document: Value) -> String {
    read(&document.to_string()).unwrap_err().to_string()
}

fn runtime() -> Value {
    json!({"name": "a-b", "namespace": "n-s", "control_plane_url": "http://c:1", "gateway_url": "https://g"})
}

#[test]
fn the_document_of_kagent_1_0_is_read() {
    let config = read(V1).unwrap();
    let runtime = config.runtime.unwrap();
    assert_eq!((runtime.host.as_str(), runtime.port), ("", Some(80)));
    assert_eq!(runtime.app_name(), "demo__NS__weather_agent");
    assert_eq!(
        runtime.control_plane_url.to_string(),
        "http://kagent-controller.kagent:8083"
    );
    assert_eq!(runtime.max_content_length, Some(10_485_760));
    let traces = runtime.telemetry.traces.unwrap();
    assert_eq!(
        (traces.protocol.as_str(), traces.timeout),
        ("grpc", Some(Duration::from_secs(10)))
    );
    assert_eq!(
        runtime.telemetry.resource_attributes["deployment.environment"],
        "test"
    );
    assert!(!runtime.token_propagation.enabled);

    let agent = config.agent.unwrap();
    assert_eq!(agent.instruction, "You are a weather agent.");
    assert_eq!(agent.stream, Some(true));
    let model = agent.model.unwrap();
    assert_eq!(
        (model.model.as_str(), model.provider.as_str()),
        ("gpt-4o", "openai")
    );
    assert_eq!(model.base_url.as_deref(), Some("http://models:8000/v1"));
    assert_eq!(model.headers["x-team"].expose(), "demo");
    let server = &agent.mcp_servers[0];
    assert_eq!(
        server.headers["authorization"].expose(),
        "Bearer not-a-real-token"
    );
    assert_eq!(server.timeout, Some(Duration::from_secs(30)));
    assert!(server.approval_for("forecast") && server.approval_for("set_alert"));
    assert_eq!(server.allowed_headers, ["x-tenant"]);
    let remote = &agent.remote_agents[0];
    assert_eq!(remote.name, "demo__NS__travel_agent");
    assert!(!remote.isolate_sessions);
    assert_eq!(agent.unknown.names().collect::<Vec<_>>(), ["sub_agents"]);
}

#[test]
fn the_document_of_kagent_0_x_is_read_into_the_same_types() {
    let config = read(V0).unwrap();
    assert_eq!(config.runtime, None);
    let agent = config.agent.unwrap();
    assert_eq!(
        (agent.name.as_str(), agent.stream),
        ("weather-agent", Some(true))
    );
    let model = agent.model.unwrap();
    assert_eq!(
        (model.model.as_str(), model.provider.as_str()),
        ("gpt-4o", "openai")
    );
    assert_eq!(model.api_key.unwrap().expose(), "not-a-real-key");
    assert_eq!(model.settings.get("temperature"), Some(&json!("0.7")));
    let server = &agent.mcp_servers[0];
    assert_eq!(server.timeout, Some(Duration::from_secs(30)));
    assert!(server.approval_for("set_alert") && !server.approval_for("forecast"));
}

#[test]
fn names_in_camel_case_are_read_too() {
    let config = read(
        &json!({
            "runtime": {"name": "a", "namespace": "n", "controlPlaneUrl": "http://c", "gatewayUrl": "http://g",
                "maxContentLength": "0", "tokenPropagation": {"enabled": true}},
            "agent": {"httpTools": [{"params": {"url": "http://t", "timeout": "1.5s"}, "requireApproval": ["x"]}],
                "model": {"model": "m", "apiKeyPassthrough": true, "geminiVertexAi": {}}},
        })
        .to_string(),
    )
    .unwrap();
    let runtime = config.runtime.unwrap();
    assert_eq!(
        (
            runtime.max_content_length,
            runtime.token_propagation.enabled
        ),
        (None, true)
    );
    let agent = config.agent.unwrap();
    assert_eq!(
        agent.mcp_servers[0].timeout,
        Some(Duration::from_millis(1_500))
    );
    assert!(agent.mcp_servers[0].approval_for("x"));
    let model = agent.model.unwrap();
    assert_eq!(
        (model.provider.as_str(), model.api_key_passthrough),
        ("gemini_vertex_ai", true)
    );
}

#[test]
fn a_fault_names_the_variable_and_the_path() {
    for field in ["name", "namespace", "control_plane_url", "gateway_url"] {
        for empty in [Value::Null, json!("")] {
            let mut runtime = runtime();
            runtime[field] = empty;
            assert_eq!(
                fault(json!({"runtime": runtime})),
                format!("KAGENT_CONFIG_JSON: runtime.{field}: is required"),
            );
        }
    }
    let faults = [
        (json!([]), "$: must be an object, not a list"),
        (
            json!({"agent": {"http_tools": [{}]}}),
            "agent.http_tools[0].params: is required",
        ),
        (
            json!({"agent": {"sse_tools": [{"params": {"url": "u"}}, {"params": {"url": 5}}]}}),
            "agent.sse_tools[1].params.url: must be a string, not a number",
        ),
        (
            json!({"agent": {"http_tools": [{"params": {"url": "u", "timeout": "soon"}}]}}),
            "agent.http_tools[0].params.timeout: must be a time span such as \"30s\", or seconds",
        ),
        (
            json!({"agent": {"http_tools": [{"params": {"url": "u"}, "tools": ["a", 1]}]}}),
            "agent.http_tools[0].tools[1]: must be a string, not a number",
        ),
        (
            json!({"agent": {"http_tools": [{"params": {"url": "u"}, "require_approval": "yes"}]}}),
            "agent.http_tools[0].require_approval: must be true, false or a list of tool names, not a string",
        ),
        (
            json!({"agent": {"model": {"openai": {}}}}),
            "agent.model.model: is required",
        ),
        (
            json!({"model": {"model": "m", "openai": {}, "anthropic": {}}}),
            "model.anthropic: another provider is named too: openai",
        ),
        (
            json!({"model": {"model": "m", "headers": {"authorization": ["not-a-real-token"]}}}),
            "model.headers.authorization: must be a string, not a list",
        ),
        (
            json!({"stream": "yes"}),
            "stream: must be true or false, not a string",
        ),
    ];
    for (document, expected) in faults {
        assert_eq!(fault(document), format!("KAGENT_CONFIG_JSON: {expected}"));
    }
}

#[test]
fn a_document_that_is_no_json_names_where_it_came_from() {
    assert_eq!(
        read("{").unwrap_err().to_string(),
        "KAGENT_CONFIG_JSON can't be parsed"
    );
    let environment = Environment::empty()
        .with_file("/etc/agent/config.json", "{")
        .with_config_dir("/etc/agent");
    let error = Config::read(&environment).unwrap_err();
    assert_eq!(error.to_string(), "/etc/agent/config.json can't be parsed");
}

#[test]
fn a_url_is_a_scheme_and_a_host_only() {
    for good in [
        "http://c",
        "https://c:8083",
        "http://c:8083/",
        "http://[::1]:80",
    ] {
        let url = BaseUrl::parse(good).unwrap();
        assert_eq!(url.to_string(), good.trim_end_matches('/'));
    }
    let url = BaseUrl::parse("https://c:8083").unwrap();
    assert_eq!((url.is_tls(), url.authority()), (true, "c:8083"));
    let bad = [
        "c:8083",
        "ftp://c",
        "http://",
        "//c",
        "/c",
        "http://c/x",
        "http://c?q",
        "http://c#f",
        "http://u:p@c",
        "http://a b",
        "",
    ];
    for bad in bad {
        BaseUrl::parse(bad).unwrap_err();
    }
    let mut runtime = runtime();
    runtime["gateway_url"] = json!("http://user:not-a-real-password@g");
    assert_eq!(
        fault(json!({"runtime": runtime})),
        "KAGENT_CONFIG_JSON: runtime.gateway_url: must not hold credentials",
    );
}

#[test]
fn the_content_limit_and_the_port_keep_their_rules() {
    let with = |name: &str, value: Value| {
        let mut runtime = runtime();
        runtime[name] = value;
        read(&json!({"runtime": runtime}).to_string())
    };
    let limit = |value| {
        with("max_content_length", value)
            .unwrap()
            .runtime
            .unwrap()
            .max_content_length
    };
    assert_eq!(limit(Value::Null), Some(10 * 1024 * 1024));
    assert_eq!(limit(json!(0)), None);
    assert_eq!(limit(json!(7)), Some(7));
    for bad in [json!(-1), json!(true), json!(1.5)] {
        with("max_content_length", bad).unwrap_err();
    }
    let port = |value| with("port", value).unwrap().runtime.unwrap().port;
    assert_eq!((port(json!(0)), port(json!("8080"))), (None, Some(8080)));
    for bad in [json!(65_536), json!(-1), json!("http")] {
        with("port", bad).unwrap_err();
    }
}

#[test]
fn placeholders_are_whole_values_of_the_variable_and_expanded_once() {
    let environment = Environment::empty()
        .with_var("NAME", "__KAGENT_ENV[OTHER]__")
        .with_var("EMPTY", "")
        .with_var(
            "KAGENT_CONFIG_JSON",
            json!({"agent": {
                "name": "__KAGENT_ENV[NAME]__", "description": "a __KAGENT_ENV[NAME]__",
                "instruction": "__KAGENT_ENV[EMPTY]__", "__KAGENT_ENV[NAME]__": 1,
            }})
            .to_string(),
        );
    let agent = Config::read(&environment).unwrap().agent.unwrap();
    assert_eq!(agent.name, "__KAGENT_ENV[OTHER]__");
    assert_eq!(agent.description, "a __KAGENT_ENV[NAME]__");
    assert_eq!(agent.instruction, "");
    assert_eq!(
        agent.unknown.names().collect::<Vec<_>>(),
        ["__KAGENT_ENV[NAME]__"]
    );

    assert_eq!(
        fault(json!({"agent": {"http_tools": [{"params": {"url": "__KAGENT_ENV[GONE]__"}}]}})),
        "KAGENT_CONFIG_JSON: agent.http_tools[0].params.url: required environment variable GONE is not set",
    );
}

#[test]
fn files_are_read_where_variables_are_blank_and_their_placeholders_are_text() {
    let document = json!({"agent": {"name": "__KAGENT_ENV[GONE]__"}}).to_string();
    let environment = Environment::empty()
        .with_var("KAGENT_CONFIG_JSON", "  ")
        .with_file("/config/config.json", document)
        .with_file(
            "/config/agent-card.json",
            r#"{"name": "from_file", "skills": []}"#,
        );
    let config = Config::read(&environment).unwrap();
    assert_eq!(config.agent.unwrap().name, "__KAGENT_ENV[GONE]__");
    assert_eq!(config.card.unwrap().name, "from_file");

    let environment =
        environment.with_var("KAGENT_AGENT_CARD_JSON", r#"{"name": "from_variable"}"#);
    assert_eq!(
        Config::read(&environment).unwrap().card.unwrap().name,
        "from_variable"
    );
    let environment = environment.with_var("KAGENT_AGENT_CARD_JSON", "[]");
    assert_eq!(
        Config::read(&environment).unwrap_err().to_string(),
        "KAGENT_AGENT_CARD_JSON can't be parsed",
    );
}

#[test]
fn without_any_configuration_it_is_empty() {
    let config = Config::read(&Environment::empty()).unwrap();
    assert!(config.runtime.is_none() && config.agent.is_none() && config.card.is_none());
}

#[test]
fn the_token_is_read_from_its_variable_or_its_file() {
    let environment = Environment::empty();
    assert_eq!(environment.token().unwrap(), None);
    let environment = environment.with_file("/var/run/secrets/tokens/kagent-token", "from-file\n");
    assert_eq!(environment.token().unwrap().unwrap().expose(), "from-file");
    let environment = environment.with_var("KAGENT_TOKEN", "from-variable");
    assert_eq!(
        environment.token().unwrap().unwrap().expose(),
        "from-variable"
    );
}

#[test]
fn secrets_are_not_printed() {
    let document = json!({
        "runtime": {"name": "a", "namespace": "n", "control_plane_url": "http://c", "gateway_url": "http://g",
            "later": "TOP-SECRET"},
        "agent": {
            "session_db_url": "postgres://u:TOP-SECRET@db", "later": {"key": "TOP-SECRET"},
            "model": {"model": "m", "headers": {"authorization": "TOP-SECRET"},
                "openai": {"api_key": "TOP-SECRET", "organization": "TOP-SECRET"}},
            "http_tools": [{"params": {"url": "u", "headers": {"x-key": "TOP-SECRET"}}}],
        },
    });
    let environment = Environment::empty()
        .with_var("KAGENT_TOKEN", "TOP-SECRET")
        .with_var("KAGENT_CONFIG_JSON", document.to_string());
    let config = Config::read(&environment).unwrap();
    let printed = format!("{config:?} {environment:?} {:?}", environment.token());
    assert!(!printed.contains("TOP-SECRET"), "{printed}");
    assert!(
        printed.contains("x-key") && printed.contains("organization"),
        "{printed}"
    );
}

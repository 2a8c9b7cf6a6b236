use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use a2a_server::executor_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

fn echo() -> Byo {
    let executor = executor_fn(|cx, out| async move {
        out.reply(cx.message().text()).await?;
        Ok(())
    });
    Byo::new(executor)
        .environment(Environment::empty())
        .listen("127.0.0.1:0")
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), work)
        .await
        .expect("took too long")
}

async fn get(addr: SocketAddr, path: &str) -> String {
    let mut addr = addr;
    addr.set_ip(match addr {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    });
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: agent\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn readiness_answers_on_every_address_family() {
    let server = in_time(echo().bind()).await.unwrap();
    let addrs = server.readiness_addrs();
    let has_v6 = std::net::TcpListener::bind("[::1]:0").is_ok();
    assert_eq!(addrs.iter().filter(|addr| addr.is_ipv4()).count(), 1);
    assert_eq!(
        addrs.iter().filter(|addr| addr.is_ipv6()).count(),
        usize::from(has_v6)
    );
    for addr in addrs {
        let ready = in_time(get(*addr, "/readyz")).await;
        assert!(ready.starts_with("HTTP/1.1 200 OK\r\n"), "{ready}");
        assert!(
            ready.contains("content-length: 2\r\n") && ready.ends_with("\r\n\r\nOK"),
            "{ready}"
        );
        let elsewhere = in_time(get(*addr, "/")).await;
        assert!(elsewhere.starts_with("HTTP/1.1 404 "), "{elsewhere}");
    }
}

#[tokio::test]
async fn health_stands_beside_the_bindings() {
    let server = in_time(echo().bind()).await.unwrap();
    let health = in_time(get(server.local_addr(), "/health")).await;
    assert!(
        health.starts_with("HTTP/1.1 200 OK\r\n") && health.ends_with("\r\n\r\nOK"),
        "{health}"
    );
    let elsewhere = in_time(get(server.local_addr(), "/healthy")).await;
    assert!(elsewhere.starts_with("HTTP/1.1 404 "), "{elsewhere}");
}

#[tokio::test]
async fn a_taken_readiness_port_is_fatal_and_says_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = in_time(echo().readiness_port(port).bind())
        .await
        .unwrap_err();
    assert!(matches!(&error, ByoError::Readiness { port: named, .. } if *named == port));
    assert!(
        format!("{error:?}").contains("Byo::readiness_port"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_taken_port_is_fatal_and_says_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = in_time(echo().listen(&address).bind()).await.unwrap_err();
    let printed = format!("{error:?}");
    assert!(
        printed.contains("Byo::listen") && printed.contains(&address),
        "{printed}"
    );
}

#[tokio::test]
async fn several_executions_at_once_are_refused_at_the_start() {
    let byo = echo().agent(|agent| agent.limits(Limits::default()));
    let error = in_time(byo.bind()).await.unwrap_err();
    assert!(
        matches!(error, ByoError::Executions { limit: 1024 }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_cluster_without_a_runtime_section_is_refused_and_says_what_is_missing() {
    let environment = Environment::empty().with_var("KAGENT_CONFIG_JSON", "{}");
    let error = in_time(echo().environment(environment.clone()).bind())
        .await
        .unwrap_err();
    assert!(matches!(error, ByoError::NoRuntime));
    assert!(error.to_string().contains("control_plane_url"), "{error}");
    let server = in_time(echo().environment(environment).local().bind())
        .await
        .unwrap();
    assert!(server.local_addr().ip().is_loopback());
}

#[tokio::test]
async fn a_wrong_configuration_is_named_before_anything_listens() {
    let environment = Environment::empty().with_var("KAGENT_CONFIG_JSON", r#"{"agent": 1}"#);
    let error = in_time(echo().environment(environment).local().bind())
        .await
        .unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "the configuration of the agent is wrong: KAGENT_CONFIG_JSON: agent: must be an object, not a number",
    );
}

#[tokio::test]
async fn the_card_is_that_of_kagent_with_the_interfaces_that_are_served() {
    let card = r#"{"name": "weather_agent", "description": "weather", "version": "v1",
        "supportedInterfaces": [{"url": "http://127.0.0.1:80", "protocolBinding": "GRPC", "protocolVersion": "1.0"}],
        "defaultInputModes": ["text"], "defaultOutputModes": ["text"], "skills": []}"#;
    let environment = Environment::empty().with_var("KAGENT_AGENT_CARD_JSON", card);
    let server = in_time(echo().environment(environment).bind())
        .await
        .unwrap();
    let response = in_time(get(server.local_addr(), "/.well-known/agent-card.json")).await;
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    let card: AgentCard = a2a_proto::json::from_str(body).unwrap();
    assert_eq!(
        (card.name.as_str(), card.version.as_str()),
        ("weather_agent", "v1")
    );
    let mut bindings: Vec<&str> = card
        .supported_interfaces
        .iter()
        .map(|interface| interface.protocol_binding.as_str())
        .collect();
    bindings.sort_unstable();
    assert_eq!(bindings, ["GRPC", "HTTP+JSON", "JSONRPC"]);
    let uris: Vec<String> = card
        .capabilities
        .unwrap()
        .extensions
        .into_iter()
        .map(|known| known.uri)
        .collect();
    assert_eq!(uris, [crate::uri::HITL, crate::uri::USAGE]);
    assert!(
        server
            .banner()
            .starts_with("weather_agent listens on 127.0.0.1:"),
        "{}",
        server.banner()
    );
}

#[tokio::test]
async fn a_stopped_agent_listens_no_more() {
    let server = in_time(echo().bind()).await.unwrap();
    let (agent, readiness) = (server.local_addr(), server.readiness_addrs().to_vec());
    in_time(server.shutdown()).await;
    in_time(server.wait()).await;
    assert!(in_time(TcpStream::connect(agent)).await.is_err());
    for addr in readiness.iter().filter(|addr| addr.is_ipv4()) {
        assert!(
            in_time(TcpStream::connect((Ipv4Addr::LOCALHOST, addr.port())))
                .await
                .is_err()
        );
    }
}

#[tokio::test]
async fn run_inside_a_runtime_says_what_to_call() {
    let error = echo().run().unwrap_err();
    assert!(error.to_string().contains("serve().await"), "{error}");
}

#[test]
fn an_address_that_stands_for_all_is_shown_as_one_to_dial() {
    let text = banner::text(
        "a",
        "0.0.0.0:80".parse().unwrap(),
        &["[::]:81".parse().unwrap()],
    );
    assert!(text.contains("curl -s http://127.0.0.1:80/ "), "{text}");
    assert!(text.contains("http://[::1]:81/readyz"), "{text}");
}

fn in_cluster(runtime: &str) -> Environment {
    let config = format!(
        r#"{{"runtime": {{"name": "my-agent", "namespace": "n", "control_plane_url": "http://127.0.0.1:9",
            "gateway_url": "http://127.0.0.1:9"{runtime}}}}}"#
    );
    Environment::empty().with_var("KAGENT_CONFIG_JSON", config)
}

fn free_port() -> u16 {
    let listener =
        std::net::TcpListener::bind("[::]:0").or_else(|_| std::net::TcpListener::bind("0.0.0.0:0"));
    listener.unwrap().local_addr().unwrap().port()
}

fn cluster_agent(environment: Environment) -> Byo {
    let mut byo = echo().environment(environment).readiness_port(0);
    byo.address = None;
    byo
}

#[tokio::test]
async fn in_a_cluster_it_listens_where_it_is_told_to_on_both_families() {
    let port = free_port();
    let environments = [
        in_cluster(&format!(r#", "port": {port}"#)),
        in_cluster("").with_var("KAGENT_PORT", port.to_string()),
        in_cluster("").with_var("PORT", format!(" {port} ")),
        in_cluster(&format!(r#", "host": "0.0.0.0", "port": {port}"#)),
        in_cluster(&format!(r#", "host": "[::]", "port": {port}"#)),
    ];
    for environment in environments {
        let server = in_time(cluster_agent(environment).bind()).await.unwrap();
        assert_eq!(server.local_addr().port(), port);
        assert_eq!(
            (server.name.as_str(), server.place),
            ("my_agent", Place::Cluster)
        );
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let health = in_time(get(local, "/health")).await;
        assert!(health.starts_with("HTTP/1.1 200 OK\r\n"), "{health}");
        in_time(server.shutdown()).await;
    }
}

#[tokio::test]
async fn a_taken_port_is_fatal_in_a_cluster_and_says_that_kagent_dials_no_other() {
    let taken = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let environment = in_cluster(&format!(r#", "host": "0.0.0.0", "port": {port}"#));
    let error = in_time(cluster_agent(environment).bind())
        .await
        .unwrap_err();
    let printed = format!("{error:?}");
    assert!(matches!(error, ByoError::ClusterPort { address, .. } if address.port() == port));
    assert!(
        printed.contains("kagent dials no other port: something else"),
        "{printed}"
    );
    let denied = ByoError::ClusterPort {
        address: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 80)),
        source: std::io::ErrorKind::PermissionDenied.into(),
    };
    assert!(
        denied
            .to_string()
            .contains("setcap cap_net_bind_service=+ep"),
        "{denied}"
    );
}

#[tokio::test]
async fn wrong_ports_and_hosts_are_named() {
    let host = in_cluster(r#", "host": "example.com""#);
    let error = in_time(cluster_agent(host).bind()).await.unwrap_err();
    assert!(error.to_string().contains("not `example.com`"), "{error}");
    for (variable, value) in [
        ("KAGENT_PORT", "http"),
        ("PORT", "0"),
        ("KAGENT_READINESS_PORT", "70000"),
    ] {
        let mut environment = in_cluster("").with_var(variable, value);
        if variable == "KAGENT_READINESS_PORT" {
            environment = environment.with_var("PORT", free_port().to_string());
        }
        let error = in_time(cluster_agent(environment).bind())
            .await
            .unwrap_err();
        let text = error.to_string();
        assert!(text.contains(variable) && text.contains(value), "{text}");
    }
}

#[tokio::test]
async fn bodies_over_max_content_length_are_413_with_an_error_of_json_rpc() {
    let port = free_port();
    let environment = in_cluster(&format!(r#", "port": {port}, "max_content_length": 100"#));
    let server = in_time(cluster_agent(environment).bind()).await.unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"id":"{}"}}}}"#,
        "x".repeat(100)
    );
    let counted = format!("content-length: {}\r\n\r\n{body}", body.len());
    let streamed = format!(
        "transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    for rest in [counted, streamed] {
        let request = format!(
            "POST / HTTP/1.1\r\nhost: agent\r\nconnection: close\r\ncontent-type: application/json\r\na2a-version: 1.0\r\n{rest}"
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        in_time(stream.read_to_string(&mut response)).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
        let (_, body) = response.split_once("\r\n\r\n").unwrap();
        let error: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(error["jsonrpc"], "2.0");
        assert!(
            error["error"]["message"]
                .as_str()
                .unwrap()
                .contains("100 bytes"),
            "{error}"
        );
    }
    in_time(server.shutdown()).await;
}

#[tokio::test]
async fn locally_readiness_is_for_this_machine_only() {
    let server = in_time(echo().bind()).await.unwrap();
    assert!(
        server
            .readiness_addrs()
            .iter()
            .all(|addr| addr.ip().is_loopback())
    );
}

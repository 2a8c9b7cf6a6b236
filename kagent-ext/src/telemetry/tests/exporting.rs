use a2a_proto::v1::TaskState;
use a2a_server::{AgentExecutor, executor_fn};
use futures::FutureExt as _;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::TcpListener;

use super::collector::Collector;
use super::{Peer, within};
use crate::byo::{Byo, ByoError};
use crate::config::Environment;
use crate::telemetry::Telemetry;

const INVOCATION: &str = "invoke_agent my-agent";

fn echo() -> impl AgentExecutor {
    executor_fn(|_, out| async move {
        out.reply("done").await?;
        Ok(())
    })
}

#[tokio::test]
async fn nothing_exports_where_no_endpoint_is_named() {
    let telemetry = Telemetry::new();
    telemetry
        .start(&Environment::empty(), None, "agent")
        .unwrap();
    assert!(telemetry.running().unwrap().providers().is_empty());
}

#[tokio::test]
async fn an_agent_does_not_start_with_a_setting_that_cannot_be_used() {
    let environment = Environment::empty().with_var("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://env");
    let byo = Byo::new(echo())
        .environment(environment)
        .listen("127.0.0.1:0");
    let error = byo.bind().await.unwrap_err();
    assert!(matches!(error, ByoError::Telemetry(_)));
    let printed = format!("{error:?}");
    assert!(printed.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{printed}");
}

#[tokio::test]
async fn nothing_is_dialled_before_the_first_execution() {
    within(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let peer = Peer::start_with(echo(), Collector::start().await, |environment, _| {
            environment.with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        })
        .await;
        peer.look_around().await;
        let (client, message) = (peer.client(), peer.message("go"));
        assert!(listener.accept().now_or_never().is_none());
        let sent = tokio::spawn(async move { client.send_message(message).await });
        listener.accept().await.unwrap();
        sent.abort();
    })
    .await;
}

#[tokio::test]
async fn no_connection_is_left_at_a_boundary() {
    within(async {
        let peer = Peer::start_with(echo(), Collector::start().await, |environment, endpoint| {
            environment
                .with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
                .with_var("OTEL_METRICS_EXPORTER", "none")
        })
        .await;
        // What is left of a turn may be sent while the next one runs, over a connection of its own.
        let mut connections = 0;
        for _ in 0..3 {
            peer.send("go").await;
            assert!(peer.collector.connections() > connections);
            connections = peer.collector.connections();
        }
    })
    .await;
}

#[tokio::test]
async fn a_collector_is_reached_over_grpc_with_gzip() {
    within(async {
        let peer = Peer::start(echo()).await;
        peer.send("go").await;
        peer.collector.span(INVOCATION);
        let encodings = peer.collector.encodings();
        assert!(
            encodings.iter().all(|encoding| encoding == "gzip"),
            "{encodings:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_collector_is_reached_over_http() {
    for (compression, expected) in [("gzip", "gzip"), ("none", "identity")] {
        within(async {
            let collector = Collector::start().await;
            let peer = Peer::start_with(echo(), collector, |environment, endpoint| {
                environment
                    .with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
                    .with_var("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
                    .with_var("OTEL_EXPORTER_OTLP_COMPRESSION", compression)
            })
            .await;
            peer.send("go").await;
            peer.collector.span(INVOCATION);
            assert!(!peer.collector.metrics().is_empty());
            let encodings = peer.collector.encodings();
            assert!(
                encodings.iter().all(|encoding| encoding == expected),
                "{encodings:?}"
            );
        })
        .await;
    }
}

/// The certificate of an authority, and one that it gave to `localhost` with its key.
fn authority() -> (String, String, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    (issuer.pem(), certificate.pem(), key.serialize_pem())
}

#[tokio::test]
async fn the_bundle_of_the_cluster_is_trusted_and_read_when_it_is_needed() {
    for protocol in ["grpc", "http/protobuf"] {
        within(async {
            let (authority, certificate, key) = authority();
            let directory = tempfile::tempdir().unwrap();
            let bundle = directory.path().join("trust-bundle.pem");
            let collector = Collector::start_tls(&certificate, &key).await;
            let peer = Peer::start_with(echo(), collector, |environment, endpoint| {
                environment
                    .with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
                    .with_var("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
                    .with_var("SSL_CERT_FILE", bundle.to_str().unwrap())
            })
            .await;
            // The file is not there yet: a snapshot of the fresh process is restored where it is.
            assert_eq!(peer.send("go").await.state(), TaskState::Completed);
            assert_eq!(peer.collector.spans(), []);
            std::fs::write(&bundle, authority).unwrap();
            peer.send("go").await;
            peer.collector.span(INVOCATION);
        })
        .await;
    }
}

#[tokio::test]
async fn an_authority_that_nobody_named_is_not_trusted() {
    within(async {
        let (_, certificate, key) = authority();
        let (other, _, _) = authority();
        let directory = tempfile::tempdir().unwrap();
        let bundle = directory.path().join("trust-bundle.pem");
        std::fs::write(&bundle, other).unwrap();
        let collector = Collector::start_tls(&certificate, &key).await;
        let peer = Peer::start_with(echo(), collector, |environment, endpoint| {
            environment
                .with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
                .with_var("OTEL_EXPORTER_OTLP_TIMEOUT", "500")
                .with_var("SSL_CERT_FILE", bundle.to_str().unwrap())
        })
        .await;
        peer.send("go").await;
        peer.server.shutdown().await;
        assert_eq!(peer.collector.spans(), []);
    })
    .await;
}

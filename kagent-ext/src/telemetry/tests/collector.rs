//! A collector on loopback: it keeps what it is sent, and holds its answers when it is told to.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::post;
use http::{HeaderMap, StatusCode};
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{
    LogsService, LogsServiceServer,
};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

pub(super) type Attributes = BTreeMap<String, String>;

pub(super) struct Collector {
    scheme: &'static str,
    addr: SocketAddr,
    kept: Arc<Kept>,
    server: AbortHandle,
}

/// What has come.
struct Kept {
    trace: Mutex<Vec<ExportTraceServiceRequest>>,
    metrics: Mutex<Vec<ExportMetricsServiceRequest>>,
    logs: Mutex<Vec<ExportLogsServiceRequest>>,
    encodings: Mutex<Vec<String>>,
    connections: AtomicUsize,
    /// How many exports of spans have come, answered or not.
    come: watch::Sender<usize>,
    open: watch::Sender<bool>,
}

impl Collector {
    /// Takes gRPC and HTTP on one port.
    pub(super) async fn start() -> Self {
        Self::serve("http", Server::builder()).await
    }

    pub(super) async fn start_tls(certificate: &str, key: &str) -> Self {
        let tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
        Self::serve("https", Server::builder().tls_config(tls).unwrap()).await
    }

    async fn serve(scheme: &'static str, server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let kept = Kept::new();
        let router = axum::Router::new()
            .route("/v1/traces", post(take_traces))
            .route("/v1/metrics", post(take_metrics))
            .route("/v1/logs", post(take_logs))
            .with_state(Arc::clone(&kept));
        let gzip = CompressionEncoding::Gzip;
        let routes = Routes::from(router)
            .add_service(TraceServiceServer::from_arc(Arc::clone(&kept)).accept_compressed(gzip))
            .add_service(MetricsServiceServer::from_arc(Arc::clone(&kept)).accept_compressed(gzip))
            .add_service(LogsServiceServer::from_arc(Arc::clone(&kept)).accept_compressed(gzip));
        let accepted = Arc::clone(&kept);
        let incoming = futures::stream::unfold(listener, move |listener| {
            let accepted = Arc::clone(&accepted);
            async move {
                let connection = listener.accept().await.map(|(connection, _)| connection);
                accepted.connections.fetch_add(1, Ordering::Relaxed);
                Some((connection, listener))
            }
        });
        let mut server = server.accept_http1(true);
        let serving = server.add_routes(routes).serve_with_incoming(incoming);
        let serving = tokio::spawn(serving);
        Self {
            scheme,
            addr,
            kept,
            server: serving.abort_handle(),
        }
    }

    pub(super) fn url(&self) -> String {
        format!("{}://localhost:{}", self.scheme, self.addr.port())
    }

    /// Lets exports of spans wait for their answers.
    pub(super) fn hold(&self) {
        self.kept.open.send_replace(false);
    }

    pub(super) fn release(&self) {
        self.kept.open.send_replace(true);
    }

    /// Waits until that many exports of spans have come.
    pub(super) async fn come(&self, count: usize) {
        let mut come = self.kept.come.subscribe();
        come.wait_for(|come| *come >= count).await.unwrap();
    }

    /// Waits for a span with this name.
    pub(super) async fn until_span(&self, name: &str) -> Span {
        let mut come = self.kept.come.subscribe();
        let has_come = |_: &usize| self.spans().iter().any(|span| span.name == name);
        come.wait_for(has_come).await.unwrap();
        self.span(name)
    }

    pub(super) fn exports(&self) -> usize {
        *self.kept.come.borrow()
    }

    pub(super) fn spans(&self) -> Vec<Span> {
        let trace = self.kept.trace.lock().unwrap().clone();
        let resources = trace.into_iter().flat_map(|request| request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    pub(super) fn span(&self, name: &str) -> Span {
        let spans = self.spans();
        let mut found = spans.iter().filter(|span| span.name == name);
        let span = found.next();
        let names: Vec<_> = spans.iter().map(|span| &span.name).collect();
        assert!(found.next().is_none(), "several {name} in {names:?}");
        span.unwrap_or_else(|| panic!("no {name} in {names:?}"))
            .clone()
    }

    /// The scopes of the spans: name and schema.
    pub(super) fn scopes(&self) -> Vec<(String, String)> {
        let trace = self.kept.trace.lock().unwrap();
        let resources = trace.iter().flat_map(|request| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        scopes
            .map(|scope| {
                let name = scope.scope.as_ref().unwrap().name.clone();
                (name, scope.schema_url.clone())
            })
            .collect()
    }

    /// The attributes of the resources of all signals.
    pub(super) fn resources(&self) -> Vec<Attributes> {
        let mut resources = Vec::new();
        for request in self.kept.trace.lock().unwrap().iter() {
            let these = request.resource_spans.iter();
            resources.extend(these.filter_map(|resource| resource.resource.clone()));
        }
        for request in self.kept.metrics.lock().unwrap().iter() {
            let these = request.resource_metrics.iter();
            resources.extend(these.filter_map(|resource| resource.resource.clone()));
        }
        resources
            .iter()
            .map(|resource| attributes(&resource.attributes))
            .collect()
    }

    /// The newest of each name.
    pub(super) fn metrics(&self) -> BTreeMap<String, Metric> {
        let metrics = self.kept.metrics.lock().unwrap().clone();
        let resources = metrics
            .into_iter()
            .flat_map(|request| request.resource_metrics);
        let scopes = resources.flat_map(|resource| resource.scope_metrics);
        scopes
            .flat_map(|scope| scope.metrics)
            .map(|metric| (metric.name.clone(), metric))
            .collect()
    }

    pub(super) fn logs(&self) -> Vec<LogRecord> {
        let logs = self.kept.logs.lock().unwrap().clone();
        let resources = logs.into_iter().flat_map(|request| request.resource_logs);
        let scopes = resources.flat_map(|resource| resource.scope_logs);
        scopes.flat_map(|scope| scope.log_records).collect()
    }

    /// How many connections were made.
    pub(super) fn connections(&self) -> usize {
        self.kept.connections.load(Ordering::Relaxed)
    }

    /// The encodings of the exports.
    pub(super) fn encodings(&self) -> Vec<String> {
        self.kept.encodings.lock().unwrap().clone()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Kept {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            trace: Mutex::default(),
            metrics: Mutex::default(),
            logs: Mutex::default(),
            encodings: Mutex::default(),
            connections: AtomicUsize::new(0),
            come: watch::Sender::new(0),
            open: watch::Sender::new(true),
        })
    }

    async fn trace(&self, request: ExportTraceServiceRequest) {
        self.trace.lock().unwrap().push(request);
        self.come.send_modify(|come| *come += 1);
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }

    fn encoded(&self, encoding: Option<&str>) {
        let encoding = encoding.unwrap_or("identity").to_owned();
        self.encodings.lock().unwrap().push(encoding);
    }
}

#[tonic::async_trait]
impl TraceService for Kept {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.encoded(encoding(&request));
        self.trace(request.into_inner()).await;
        Ok(Response::new(Default::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Kept {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.encoded(encoding(&request));
        self.metrics.lock().unwrap().push(request.into_inner());
        Ok(Response::new(Default::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Kept {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        self.encoded(encoding(&request));
        self.logs.lock().unwrap().push(request.into_inner());
        Ok(Response::new(Default::default()))
    }
}

fn encoding<T>(request: &Request<T>) -> Option<&str> {
    request.metadata().get("grpc-encoding")?.to_str().ok()
}

async fn take_traces(
    State(kept): State<Arc<Kept>>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> StatusCode {
    let request = kept.decoded(&headers, &body);
    kept.trace(request).await;
    StatusCode::OK
}

async fn take_metrics(
    State(kept): State<Arc<Kept>>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> StatusCode {
    let request = kept.decoded(&headers, &body);
    kept.metrics.lock().unwrap().push(request);
    StatusCode::OK
}

async fn take_logs(
    State(kept): State<Arc<Kept>>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> StatusCode {
    let request = kept.decoded(&headers, &body);
    kept.logs.lock().unwrap().push(request);
    StatusCode::OK
}

impl Kept {
    fn decoded<T: prost::Message + Default>(&self, headers: &HeaderMap, body: &[u8]) -> T {
        assert_eq!(headers["content-type"], "application/x-protobuf");
        let encoding = headers
            .get("content-encoding")
            .map(|encoding| encoding.to_str().unwrap());
        self.encoded(encoding);
        if encoding != Some("gzip") {
            return T::decode(body).unwrap();
        }
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(body)
            .read_to_end(&mut plain)
            .unwrap();
        T::decode(plain.as_slice()).unwrap()
    }
}

pub(super) fn attributes(attributes: &[KeyValue]) -> Attributes {
    let read = attributes.iter();
    read.map(|pair| (pair.key.clone(), text(pair.value.as_ref())))
        .collect()
}

pub(super) fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(value)) => value.clone(),
        Some(Value::IntValue(value)) => value.to_string(),
        Some(Value::BoolValue(value)) => value.to_string(),
        other => format!("{other:?}"),
    }
}

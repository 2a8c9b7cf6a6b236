//! Exporters that are made when they are needed, and let go of at each boundary: no snapshot of the process holds a
//! connection, and none of a fresh one a file that was read.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use opentelemetry_otlp::{
    Compression, ExporterBuildError, LogExporter, MetricExporter, Protocol as Encoding,
    SpanExporter, WithExportConfig, WithHttpConfig, WithTonicConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::logs::{LogBatch, LogExporter as ExportLogs};
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as ExportSpans};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Handle;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

use super::settings::{Authorities, Collector, Protocol};

/// One of the exporters, to be made when it is needed. One that can't be made is tried again with the next export: a
/// file may come later than the process.
pub(super) struct Deferred<E> {
    collector: Collector,
    runtime: Handle,
    resource: Option<Resource>,
    /// Of metrics.
    temporality: Temporality,
    made: Made<E>,
}

type Made<E> = Arc<Mutex<Option<Arc<E>>>>;

/// Lets go of an exporter and its connection.
pub(super) type LetGo = Arc<dyn Fn() + Send + Sync>;

/// What differs from signal to signal.
pub(super) trait Exporter: Sized {
    fn over_grpc(channel: Channel, collector: &Collector) -> Result<Self, ExporterBuildError>;
    fn over_http(
        client: reqwest::Client,
        collector: &Collector,
    ) -> Result<Self, ExporterBuildError>;
    fn describe(&mut self, resource: &Resource);
}

impl<E: Exporter + Send + Sync + 'static> Deferred<E> {
    /// An exporter whose work is done in that runtime: exports begin on threads outside of any.
    pub(super) fn new(collector: Collector, runtime: Handle) -> (Self, LetGo) {
        let made = Made::<E>::default();
        let kept = Arc::clone(&made);
        let exporter = Self {
            collector,
            runtime,
            resource: None,
            temporality: Temporality::Cumulative,
            made,
        };
        let let_go = move || drop(kept.lock().unwrap_or_else(PoisonError::into_inner).take());
        (exporter, Arc::new(let_go))
    }

    /// Sets how metrics are added up.
    pub(super) fn with_temporality(mut self, temporality: Temporality) -> Self {
        self.temporality = temporality;
        self
    }

    fn exporter(&self) -> Result<Arc<E>, OTelSdkError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(Arc::clone(made));
        }
        let _inside = self.runtime.enter();
        let mut exporter = self
            .make()
            .map_err(|error| OTelSdkError::InternalFailure(error.to_string()))?;
        if let Some(resource) = &self.resource {
            exporter.describe(resource);
        }
        Ok(Arc::clone(made.insert(Arc::new(exporter))))
    }

    fn make(&self) -> Result<E, Box<dyn std::error::Error>> {
        let collector = &self.collector;
        Ok(match collector.protocol {
            Protocol::Grpc => E::over_grpc(channel(collector)?, collector)?,
            Protocol::HttpProtobuf => E::over_http(http_client(collector)?, collector)?,
        })
    }

    fn inside<F: Future>(&self, future: F) -> Inside<F> {
        Inside {
            runtime: self.runtime.clone(),
            future: Box::pin(future),
        }
    }
}

impl<E> fmt::Debug for Deferred<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred")
            .field("collector", &self.collector)
            .finish_non_exhaustive()
    }
}

impl ExportSpans for Deferred<SpanExporter> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let exporter = self.exporter()?;
        self.inside(exporter.export(batch)).await
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = Some(resource.clone());
    }
}

impl ExportLogs for Deferred<LogExporter> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let exporter = self.exporter()?;
        self.inside(exporter.export(batch)).await
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = Some(resource.clone());
    }
}

impl PushMetricExporter for Deferred<MetricExporter> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let exporter = self.exporter()?;
        self.inside(exporter.export(metrics)).await
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        self.temporality
    }
}

macro_rules! exporter {
    ($exporter:ident, |$made:ident, $resource:ident| $describe:expr) => {
        impl Exporter for $exporter {
            fn over_grpc(
                channel: Channel,
                collector: &Collector,
            ) -> Result<Self, ExporterBuildError> {
                let mut builder = $exporter::builder()
                    .with_tonic()
                    .with_protocol(Encoding::Grpc)
                    .with_timeout(collector.timeout)
                    .with_channel(channel);
                if collector.gzip {
                    builder = builder.with_compression(Compression::Gzip);
                }
                builder.build()
            }

            fn over_http(
                client: reqwest::Client,
                collector: &Collector,
            ) -> Result<Self, ExporterBuildError> {
                let mut builder = $exporter::builder()
                    .with_http()
                    .with_protocol(Encoding::HttpBinary)
                    .with_timeout(collector.timeout)
                    .with_endpoint(&collector.endpoint)
                    .with_http_client(client);
                if collector.gzip {
                    builder = builder.with_compression(Compression::Gzip);
                }
                builder.build()
            }

            fn describe(&mut self, resource: &Resource) {
                let ($made, $resource) = (self, resource);
                $describe
            }
        }
    };
}
exporter!(SpanExporter, |made, resource| ExportSpans::set_resource(
    made, resource
));
exporter!(LogExporter, |made, resource| ExportLogs::set_resource(
    made, resource
));
// Its batches bring their resource along.
exporter!(MetricExporter, |_made, _resource| {});

fn channel(collector: &Collector) -> Result<Channel, Box<dyn std::error::Error>> {
    let mut endpoint = Endpoint::try_from(collector.endpoint.clone())?.timeout(collector.timeout);
    if collector.endpoint.starts_with("https:") {
        let roots = roots(&collector.authorities)?;
        endpoint = endpoint.tls_config(ClientTlsConfig::new().trust_anchors(roots.roots))?;
    }
    Ok(endpoint.connect_lazy())
}

fn http_client(collector: &Collector) -> Result<reqwest::Client, Box<dyn std::error::Error>> {
    let roots = match collector.endpoint.starts_with("https:") {
        true => roots(&collector.authorities)?,
        false => RootCertStore::empty(),
    };
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(collector.timeout)
        .build()?;
    Ok(client)
}

fn roots(authorities: &Authorities) -> Result<RootCertStore, Box<dyn std::error::Error>> {
    let Authorities { file, directory } = authorities;
    let found = match (file, directory) {
        (None, None) => rustls_native_certs::load_native_certs(),
        _ => rustls_native_certs::load_certs_from_paths(file.as_deref(), directory.as_deref()),
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    match found.errors.into_iter().next() {
        Some(error) if roots.is_empty() => Err(error.into()),
        _ => Ok(roots),
    }
}

/// A future that is polled within a runtime, wherever it is polled from.
struct Inside<F> {
    runtime: Handle,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Inside<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let _inside = this.runtime.enter();
        this.future.as_mut().poll(cx)
    }
}

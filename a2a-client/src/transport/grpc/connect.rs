//! The HTTP/2 connections below gRPC.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tonic::body::Body;
use tower_service::Service;

use crate::builder::{CONNECTION_WINDOW, Limits, STREAM_WINDOW, TCP_KEEPALIVE_RETRIES};
use crate::error::{BoxError, Result};
use crate::transport::tls;

/// Connects when it is first used and again after a connection is lost. What is no gRPC does not come through.
#[derive(Clone, Debug)]
pub(super) struct Channel(Connections);

type Connections = Client<Deadline<HttpsConnector<HttpConnector>>, Body>;

/// Something in place of the agent answered: a proxy, or a server of another kind.
#[derive(Debug)]
pub(super) struct NoGrpc {
    pub(super) status: StatusCode,
}

impl fmt::Display for NoGrpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer is HTTP {} and no gRPC", self.status)
    }
}

impl std::error::Error for NoGrpc {}

pub(super) fn channel(limits: &Limits) -> Result<Channel> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(limits.tcp_keepalive));
    tcp.set_keepalive_interval(Some(limits.tcp_keepalive));
    tcp.set_keepalive_retries(Some(TCP_KEEPALIVE_RETRIES));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls::config()?)
        .https_or_http()
        .enable_http2()
        .wrap_connector(tcp);
    let connector = Deadline {
        connector,
        limit: limits.connect,
    };
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        // A quiet stream is healthy as long as its connection is; the kernel notices first when that is lost.
        .http2_keep_alive_interval(limits.ping_interval)
        .http2_keep_alive_timeout(limits.ping_timeout)
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .build(connector);
    Ok(Channel(client))
}

impl Service<Request<Body>> for Channel {
    type Response = <Connections as Service<Request<Body>>>::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(BoxError::from)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = self.0.request(request);
        Box::pin(async move {
            let answer = answer.await?;
            match is_grpc(&answer) {
                true => Ok(answer),
                false => Err(NoGrpc {
                    status: answer.status(),
                }
                .into()),
            }
        })
    }
}

/// Its body must not be read as messages if it is not: the page of a proxy has no frames.
fn is_grpc<B>(answer: &Response<B>) -> bool {
    let has_type = |value: &HeaderValue| value.as_bytes().starts_with(b"application/grpc");
    let headers = answer.headers();
    headers.contains_key("grpc-status")
        || (answer.status() == StatusCode::OK && headers.get(CONTENT_TYPE).is_some_and(has_type))
}

/// Bounds connecting as a whole: the name, TCP and TLS.
#[derive(Clone, Debug)]
pub(super) struct Deadline<C> {
    connector: C,
    limit: Duration,
}

impl<C> Service<Uri> for Deadline<C>
where
    C: Service<Uri, Error = BoxError>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = tokio::time::timeout(self.limit, self.connector.call(uri));
        Box::pin(async {
            connecting
                .await
                .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        })
    }
}

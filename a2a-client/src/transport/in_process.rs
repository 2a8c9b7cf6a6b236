//! Calls that go to a service in this process in place of the network.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyDataStream;
use reqwest::Body;
use tower_service::Service;

use super::http::Response;
use crate::error::BoxError;

type Answer = Pin<Box<dyn Future<Output = Result<Response, BoxError>> + Send>>;

/// Any service of HTTP requests. Cheap to clone.
#[derive(Clone)]
pub(crate) struct InProcess(Arc<dyn Fn(http::Request<Body>) -> Answer + Send + Sync>);

impl InProcess {
    pub(crate) fn new<S, B>(service: S) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<B>>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Arc::new(move |request| {
            let mut service = service.clone();
            Box::pin(async move {
                poll_fn(|cx| service.poll_ready(cx))
                    .await
                    .map_err(Into::into)?;
                let response = service.call(request).await.map_err(Into::into)?;
                Ok(response.map(|body| Body::wrap_stream(BodyDataStream::new(body))))
            })
        }))
    }

    pub(crate) async fn call(&self, request: http::Request<Body>) -> Result<Response, BoxError> {
        (self.0)(request).await
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").finish_non_exhaustive()
    }
}

//! Health over plain HTTP, for probes that speak no gRPC.

use axum::body::Body;
use http::{HeaderValue, Method, Request, Response, StatusCode, header::CONTENT_TYPE};

use super::Endpoint;

impl Endpoint {
    /// Whether a request asks for health at the path that was set.
    pub(crate) fn is_probe(&self, request: &Request<Body>) -> bool {
        let asks = matches!(*request.method(), Method::GET | Method::HEAD);
        asks && self.0.health_path.as_deref() == Some(request.uri().path())
    }

    /// OK until the endpoint shuts down; probes need no credentials.
    pub(crate) fn probed(&self) -> Response<Body> {
        let (status, text) = match self.0.stopping.is_cancelled() {
            true => (StatusCode::SERVICE_UNAVAILABLE, "shutting down"),
            false => (StatusCode::OK, "OK"),
        };
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = status;
        let plain = HeaderValue::from_static("text/plain");
        response.headers_mut().insert(CONTENT_TYPE, plain);
        response
    }
}

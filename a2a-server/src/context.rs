//! What is known about a call besides its request.

use std::fmt;
use std::sync::Arc;

use a2a_proto::Method;
use bytes::BytesMut;
use tokio::time::Instant;

use crate::auth::Principal;

/// A call as its binding saw it: handed to the handler, and by the engine to the store.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct CallContext(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    method: Method,
    tenant: String,
    principal: Principal,
    headers: http::HeaderMap,
    requested_extensions: Vec<String>,
    activated_extensions: Vec<String>,
    deadline: Option<Instant>,
    extensions: http::Extensions,
}

impl CallContext {
    /// The call of an operation by the anonymous principal, without a tenant.
    #[must_use]
    pub fn new(method: Method) -> Self {
        Self(Arc::new(Inner {
            method,
            tenant: String::new(),
            principal: Principal::anonymous(),
            headers: http::HeaderMap::new(),
            requested_extensions: Vec::new(),
            activated_extensions: Vec::new(),
            deadline: None,
            extensions: http::Extensions::new(),
        }))
    }

    /// Sets the tenant that the request names.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.inner_mut().tenant = tenant.into();
        self
    }

    /// Sets the caller.
    #[must_use]
    pub fn with_principal(mut self, principal: Principal) -> Self {
        self.inner_mut().principal = principal;
        self
    }

    /// Sets the headers, or on gRPC the metadata.
    #[must_use]
    pub fn with_headers(mut self, headers: http::HeaderMap) -> Self {
        self.inner_mut().headers = headers;
        self
    }

    /// Sets the URIs of the extensions that the caller listed, and of those among them that the agent has.
    #[must_use]
    pub fn with_a2a_extensions(mut self, requested: Vec<String>, activated: Vec<String>) -> Self {
        let inner = self.inner_mut();
        inner.requested_extensions = requested;
        inner.activated_extensions = activated;
        self
    }

    /// Sets when the caller stops waiting. This ends the call and never an execution.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Option<Instant>) -> Self {
        self.inner_mut().deadline = deadline;
        self
    }

    /// Sets what tower layers attached to the request.
    #[must_use]
    pub fn with_http_extensions(mut self, extensions: http::Extensions) -> Self {
        self.inner_mut().extensions = extensions;
        self
    }

    /// The same call for what outlives its request: headers of HTTP/1.1 are slices of what was read from the connection,
    /// and would keep all of that.
    pub(crate) fn detached(mut self) -> Self {
        let headers = &mut self.inner_mut().headers;
        let size = headers.values().map(http::HeaderValue::len).sum();
        let mut copied = BytesMut::with_capacity(size);
        for value in headers.values_mut() {
            copied.extend_from_slice(value.as_bytes());
            let bytes = copied.split().freeze();
            if let Ok(mut own) = http::HeaderValue::from_maybe_shared(bytes) {
                own.set_sensitive(value.is_sensitive());
                *value = own;
            }
        }
        self
    }

    /// The operation.
    #[must_use]
    pub fn method(&self) -> Method {
        self.0.method
    }

    /// The tenant; empty for none.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.0.tenant
    }

    /// The caller.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// The headers, or on gRPC the metadata.
    #[must_use]
    pub fn headers(&self) -> &http::HeaderMap {
        &self.0.headers
    }

    /// The URIs of the extensions that the caller listed.
    #[must_use]
    pub fn requested_extensions(&self) -> &[String] {
        &self.0.requested_extensions
    }

    /// The URIs of the extensions that the caller listed and the agent has.
    #[must_use]
    pub fn activated_extensions(&self) -> &[String] {
        &self.0.activated_extensions
    }

    /// When the caller stops waiting.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// What tower layers attached to the request.
    #[must_use]
    pub fn http_extensions(&self) -> &http::Extensions {
        &self.0.extensions
    }

    fn inner_mut(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }
}

/// Without headers and attached values: they may hold credentials.
impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("method", &self.0.method)
            .field("tenant", &self.0.tenant)
            .field("principal", &self.0.principal)
            .field("activated_extensions", &self.0.activated_extensions)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue};

    use super::*;

    #[test]
    fn a_detached_call_keeps_its_headers_and_lets_go_of_what_they_were_read_from() {
        let read = Bytes::from(vec![b'x'; 16 * 1024]);
        let mut headers = HeaderMap::new();
        let mut secret = HeaderValue::from_maybe_shared(read.slice(..10)).unwrap();
        secret.set_sensitive(true);
        headers.append("authorization", secret);
        headers.append(
            "x-list",
            HeaderValue::from_maybe_shared(read.slice(10..12)).unwrap(),
        );
        headers.append("x-list", HeaderValue::from_static("last"));
        let call = CallContext::new(Method::GetTask).with_headers(headers.clone());
        assert!(!read.is_unique());
        let detached = call.detached();
        assert_eq!(*detached.headers(), headers);
        assert!(detached.headers()["authorization"].is_sensitive());
        drop(headers);
        assert!(read.is_unique());
    }
}

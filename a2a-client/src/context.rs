//! What goes along with a call.

use std::fmt;
use std::time::Duration;

use a2a_proto::header::{A2A_EXTENSIONS, A2A_VERSION, Extensions, Version};
use http::{HeaderMap, HeaderValue};

use crate::error::{Error, Result};

/// What goes along with a call beside its request, and what comes back beside its answer.
///
/// A [`Client`](crate::Client) has one for all its calls; [interceptors](crate::Interceptor) see and change that of one
/// call. Debug shows the names of headers and not their values.
#[derive(Clone, Default)]
pub struct CallContext {
    headers: HeaderMap,
    timeout: Option<Duration>,
    extensions: Extensions,
    tenant: Option<String>,
    data: http::Extensions,
    activated: Extensions,
}

impl CallContext {
    /// A context without anything in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The headers to send; on gRPC they are metadata.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The headers to send. Those of the protocol itself are set by the client.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.headers
    }

    /// How long the call may take; see [`Client::with_timeout`](crate::Client::with_timeout).
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Sets how long the call may take.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// The extensions to ask for.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// The extensions to ask for.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// The tenant to use in place of the one that the agent's card names.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Sets the tenant to use in place of the one that the agent's card names. A request that has one keeps it.
    pub fn set_tenant(&mut self, tenant: impl Into<String>) {
        self.tenant = Some(tenant.into());
    }

    /// Typed values that interceptors and transports hand to each other.
    #[must_use]
    pub fn data(&self) -> &http::Extensions {
        &self.data
    }

    /// Typed values that interceptors and transports hand to each other.
    pub fn data_mut(&mut self) -> &mut http::Extensions {
        &mut self.data
    }

    /// The extensions that the agent says it has activated; known once the call, or the opening of a stream, is through.
    /// Not every agent says it.
    #[must_use]
    pub fn activated_extensions(&self) -> &Extensions {
        &self.activated
    }

    /// The extensions that the agent has activated, for a transport to fill in.
    pub fn activated_extensions_mut(&mut self) -> &mut Extensions {
        &mut self.activated
    }

    /// The caller's headers with those that the protocol has on every request, whatever the binding.
    ///
    /// # Errors
    ///
    /// When an extension's URI can't stand in a header.
    pub(crate) fn to_headers(&self) -> Result<HeaderMap> {
        let mut headers = self.headers.clone();
        headers.insert(A2A_VERSION, header(&Version::V1_0.to_string())?);
        // One line each: not every server splits a list.
        for uri in self.extensions.iter() {
            headers.append(A2A_EXTENSIONS, header(uri)?);
        }
        Ok(headers)
    }

    pub(crate) fn note_activated(&mut self, headers: &HeaderMap) {
        let activated = Extensions::of(headers);
        self.activated.extend(activated.iter());
    }
}

fn header(value: &str) -> Result<HeaderValue> {
    HeaderValue::try_from(value).map_err(|error| {
        Error::builder(format!("{value:?} can't stand in a header")).with_source(error)
    })
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.keys().collect();
        f.debug_struct("CallContext")
            .field("headers", &headers)
            .field("timeout", &self.timeout)
            .field("extensions", &self.extensions)
            .field("tenant", &self.tenant)
            .field("activated", &self.activated)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_10_debug_shows_no_header_values() {
        let mut context = CallContext::new();
        let value = "Bearer secret".parse().unwrap();
        context.headers_mut().insert("authorization", value);
        let text = format!("{context:?}");
        assert!(
            text.contains("authorization") && !text.contains("secret"),
            "{text}"
        );
    }

    #[test]
    fn w9_ver_01_extensions_go_out_one_a_line_and_the_version_always() {
        let mut context = CallContext::new();
        context.extensions_mut().add_line("u1,u2");
        context
            .headers_mut()
            .insert(A2A_VERSION, HeaderValue::from_static("9.9"));
        let headers = context.to_headers().unwrap();
        assert_eq!(
            headers.get_all(A2A_EXTENSIONS).iter().collect::<Vec<_>>(),
            ["u1", "u2"]
        );
        assert_eq!(
            headers.get_all(A2A_VERSION).iter().collect::<Vec<_>>(),
            ["1.0"]
        );
        context.extensions_mut().add("a\nb");
        assert!(context.to_headers().unwrap_err().is_builder());
    }
}

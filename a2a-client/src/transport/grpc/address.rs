//! The forms in which cards write the address of a gRPC service.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

use crate::error::{Error, Result};
use crate::transport::http::printable;

/// Where a gRPC service is, and whether it is reached by TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address(Uri);

impl Address {
    /// Reads `host:port`, `dns:///host:port`, `http(s)://host:port` and `grpc(s)://host:port`.
    ///
    /// Without a scheme that tells, it is TLS when the caller says so or the port is 443.
    pub(crate) fn parse(url: &str, tls: Option<bool>) -> Result<Self> {
        let bad = || {
            Error::builder(format!(
                "{} is no address of a gRPC service",
                printable(url)
            ))
        };
        let (tls, rest) = match url.split_once("://") {
            Some(("https" | "grpcs", rest)) => (Some(true), rest),
            Some(("http" | "grpc", rest)) => (Some(false), rest),
            Some(("dns" | "passthrough", rest)) => {
                // `dns://resolver/host:port`; the resolver is the system's here.
                let (_, target) = rest.split_once('/').ok_or_else(bad)?;
                (tls, target)
            }
            Some(_) => return Err(bad()),
            None => (tls, url.strip_prefix("dns:").unwrap_or(url)),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let authority: Authority = authority.parse().map_err(|_| bad())?;
        if authority.host().is_empty()
            || authority.as_str().contains('@')
            || authority.as_str().ends_with(':')
        {
            return Err(bad());
        }
        let tls = tls.unwrap_or_else(|| authority.port_u16() == Some(443));
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(if tls { Scheme::HTTPS } else { Scheme::HTTP });
        parts.authority = Some(authority);
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
        Uri::from_parts(parts).map(Self).map_err(|_| bad())
    }

    /// The scheme and authority.
    pub(crate) fn origin(&self) -> &Uri {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str, tls: Option<bool>) -> String {
        Address::parse(url, tls).unwrap().0.to_string()
    }

    #[test]
    fn grpc_12_w4_addresses_in_all_forms() {
        for (url, expected) in [
            ("h.test:8083", "http://h.test:8083/"),
            ("h.test:443", "https://h.test:443/"),
            ("h.test", "http://h.test/"),
            ("[::1]:50051", "http://[::1]:50051/"),
            ("dns:///h.test:50051", "http://h.test:50051/"),
            ("dns:h.test:50051", "http://h.test:50051/"),
            ("dns://8.8.8.8/h.test:443", "https://h.test:443/"),
            ("passthrough:///h.test:1", "http://h.test:1/"),
            ("http://h.test:8083", "http://h.test:8083/"),
            ("http://h.test:443/", "http://h.test:443/"),
            ("https://h.test/path", "https://h.test/"),
            ("grpc://h.test:1", "http://h.test:1/"),
            ("grpcs://h.test:1", "https://h.test:1/"),
        ] {
            assert_eq!(parse(url, None), expected, "{url}");
        }
        assert_eq!(parse("h.test:8083", Some(true)), "https://h.test:8083/");
        assert_eq!(parse("h.test:443", Some(false)), "http://h.test:443/");
        assert_eq!(parse("http://h.test:1", Some(true)), "http://h.test:1/");
    }

    #[test]
    fn what_is_no_address_is_named_without_its_secrets() {
        for url in [
            "",
            "ftp://h.test",
            "unix:/x",
            "https://",
            "https://user:pass@h.test",
            "dns://h.test:1",
            "a b",
        ] {
            let error = Address::parse(url, None).unwrap_err();
            assert!(error.is_builder(), "{url}");
            assert!(!error.to_string().contains("pass"), "{error}");
        }
    }
}

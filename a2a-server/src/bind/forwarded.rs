//! Where a caller sees this server, by what the proxy in front says (RFC 7239, and the older headers).

use http::header::HOST;
use http::{HeaderMap, HeaderValue};

/// What the card depends on where forwarded headers count.
pub(crate) const VARY: HeaderValue = HeaderValue::from_static(
    "forwarded, x-forwarded-proto, x-forwarded-host, x-forwarded-port, x-forwarded-prefix",
);

/// The URL of the server as the caller knows it; `None` where no proxy says anything, or what makes no URL.
pub(crate) fn server_url(headers: &HeaderMap) -> Option<String> {
    let standard = first(headers, "forwarded").map(|value| parameters(&value));
    let older = |name: &str| first(headers, name);
    let (proto, host) = match &standard {
        Some(parameters) => (
            parameter(parameters, "proto"),
            parameter(parameters, "host"),
        ),
        None => (older("x-forwarded-proto"), older("x-forwarded-host")),
    };
    let prefix = older("x-forwarded-prefix");
    if proto.is_none() && host.is_none() && prefix.is_none() {
        return None;
    }
    let proto = proto
        .unwrap_or_else(|| "http".to_owned())
        .to_ascii_lowercase();
    let own = || headers.get(HOST)?.to_str().ok().map(str::to_owned);
    let mut host = host.or_else(own)?;
    if let Some(port) = older("x-forwarded-port")
        && !has_port(&host)
        && !is_default(&proto, &port)
    {
        host = format!("{host}:{port}");
    }
    let prefix = prefix.unwrap_or_default();
    let prefix = prefix.trim_end_matches('/');
    let is_sound = matches!(proto.as_str(), "http" | "https")
        && is_authority(&host)
        && (prefix.is_empty() || is_path(prefix));
    is_sound.then(|| format!("{proto}://{host}{prefix}"))
}

/// The value that the proxy next to the caller gave: it stands first.
fn first(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    let value = value.split(',').next()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn parameters(element: &str) -> Vec<(String, String)> {
    element
        .split(';')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| {
            let value = value.trim().trim_matches('"');
            (name.trim().to_ascii_lowercase(), value.to_owned())
        })
        .collect()
}

fn parameter(parameters: &[(String, String)], name: &str) -> Option<String> {
    let found = parameters.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone())
}

fn has_port(host: &str) -> bool {
    let behind_address = host.rsplit(']').next().unwrap_or(host);
    behind_address.contains(':')
}

fn is_default(proto: &str, port: &str) -> bool {
    matches!((proto, port), ("http", "80") | ("https", "443"))
}

/// A host with or without a port, and nothing that could lead elsewhere.
fn is_authority(host: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    !host.is_empty()
        && host.len() <= 255
        && host.bytes().all(allowed)
        && host.parse::<http::uri::Authority>().is_ok()
}

fn is_path(prefix: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte);
    prefix.starts_with('/') && !prefix.starts_with("//") && prefix.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(headers: &[(&'static str, &str)]) -> Option<String> {
        let headers = headers.iter().map(|(name, value)| {
            let name = http::HeaderName::from_static(name);
            (name, value.parse().expect("a header value"))
        });
        server_url(&headers.collect())
    }

    #[test]
    fn the_standard_header_goes_before_the_older_ones() {
        let both = [
            (
                "forwarded",
                "for=1.2.3.4;proto=https;host=agents.test, for=5.6.7.8;host=inner",
            ),
            ("x-forwarded-host", "older.test"),
        ];
        assert_eq!(url(&both).as_deref(), Some("https://agents.test"));
        let quoted = [("forwarded", r#"Host="agents.test:8443";Proto="HTTPS""#)];
        assert_eq!(url(&quoted).as_deref(), Some("https://agents.test:8443"));
    }

    #[test]
    fn the_older_headers_are_put_together() {
        let host = ("host", "inner:8080");
        for (headers, expected) in [
            (
                vec![host, ("x-forwarded-proto", "https")],
                "https://inner:8080",
            ),
            (
                vec![host, ("x-forwarded-host", "a.test, b.test")],
                "http://a.test",
            ),
            (
                vec![
                    host,
                    ("x-forwarded-host", "a.test"),
                    ("x-forwarded-port", "8443"),
                    ("x-forwarded-proto", "https"),
                ],
                "https://a.test:8443",
            ),
            (
                vec![
                    host,
                    ("x-forwarded-host", "a.test"),
                    ("x-forwarded-port", "443"),
                    ("x-forwarded-proto", "https"),
                ],
                "https://a.test",
            ),
            (
                vec![host, ("x-forwarded-prefix", "/agents/echo/")],
                "http://inner:8080/agents/echo",
            ),
            (
                vec![host, ("x-forwarded-host", "[::1]:80")],
                "http://[::1]:80",
            ),
        ] {
            assert_eq!(url(&headers).as_deref(), Some(expected), "{headers:?}");
        }
    }

    #[test]
    fn what_makes_no_url_counts_for_nothing() {
        for headers in [
            vec![("host", "inner")],
            vec![("x-forwarded-proto", "https")],
            vec![("x-forwarded-host", "a.test/path")],
            vec![("x-forwarded-host", "user@a.test")],
            vec![("x-forwarded-host", "a b")],
            vec![("x-forwarded-host", "a.test"), ("x-forwarded-proto", "ftp")],
            vec![("host", "a.test"), ("x-forwarded-prefix", "//evil.test")],
            vec![("host", "a.test"), ("x-forwarded-prefix", "x")],
            vec![("x-forwarded-host", "a.test"), ("x-forwarded-port", "80/x")],
        ] {
            assert_eq!(url(&headers), None, "{headers:?}");
        }
    }
}

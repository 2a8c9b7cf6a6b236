//! The public card at its well-known path (A2A 1.0 §8).

use std::fmt;
use std::hash::{DefaultHasher, Hasher as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use a2a_proto::header::Version;
use a2a_proto::v1::{AgentCard, AgentInterface};
use a2a_proto::{A2aError, Binding, json};
use axum::body::Body;
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};

use super::{Endpoint, Inner, http as web};

/// The card as it is served: printed once.
#[derive(Clone)]
pub(crate) struct ServedCard {
    body: Bytes,
    etag: HeaderValue,
}

impl ServedCard {
    pub(crate) fn new(card: &AgentCard) -> Self {
        let body = json::to_vec(card);
        let mut hasher = DefaultHasher::new();
        hasher.write(&body);
        let etag = format!("\"{:016x}\"", hasher.finish());
        Self {
            body: body.into(),
            // Hexadecimal digits in quotes.
            etag: HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("\"\"")),
        }
    }

    pub(crate) fn serve(&self, request: &Request<Body>) -> Response<Body> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let error = A2aError::method_not_found("this path takes GET, HEAD only");
            let mut response = web::respond_error(&error);
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let mut response = if self.is_known(request.headers()) {
            let mut unchanged = Response::new(Body::empty());
            *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
            unchanged
        } else {
            web::respond(StatusCode::OK, web::JSON, self.body.clone())
        };
        let headers = response.headers_mut();
        headers.insert(ETAG, self.etag.clone());
        headers.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=300"),
        );
        response
    }

    /// Whether the caller says that it has this very card.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(','))
            .map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|tag| tag == "*" || tag.as_bytes() == self.etag.as_bytes())
    }
}

impl fmt::Debug for ServedCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServedCard").field(&self.etag).finish()
    }
}

impl Endpoint {
    /// The card with the interfaces that are served, where it lists none itself: below the server's URL by the name that
    /// the agent has there, unless it has a URL of its own. Without any URL there is nothing to fill in.
    pub(crate) fn served_card(&self, base: Option<&str>, name: &str) -> AgentCard {
        let mut card = self.0.card.clone();
        let own = self.0.public_url.as_deref();
        let below = base.map(|base| match name {
            "" => base.to_owned(),
            name => format!("{}/{name}", base.trim_end_matches('/')),
        });
        if card.supported_interfaces.is_empty()
            && let Some(base) = own.map(str::to_owned).or(below)
        {
            card.supported_interfaces = self.0.interfaces(&base, name);
        }
        card
    }
}

impl Inner {
    /// gRPC has no paths: there the name is the tenant.
    fn interfaces(&self, base: &str, name: &str) -> Vec<AgentInterface> {
        let base = base.trim_end_matches('/');
        let url = |binding| match binding {
            // Frameworks that mount under a prefix know it without a slash at its end.
            Binding::JsonRpc if self.json_rpc_path == "/" && has_path(base) => base.to_owned(),
            Binding::JsonRpc => format!("{base}{}", self.json_rpc_path),
            Binding::HttpJson => base.to_owned(),
            Binding::Grpc => authority(base),
        };
        self.bindings
            .iter()
            .map(|binding| AgentInterface {
                url: url(*binding),
                protocol_binding: binding.name().to_owned(),
                protocol_version: Version::V1_0.to_string(),
                tenant: match binding {
                    Binding::Grpc => name.to_owned(),
                    Binding::JsonRpc | Binding::HttpJson => String::new(),
                },
            })
            .collect()
    }
}

/// The URL of an address on this machine.
pub(crate) fn url_of(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}

fn has_path(url: &str) -> bool {
    url.split_once("://")
        .map_or(url, |(_, rest)| rest)
        .contains('/')
}

/// Host and port of a URL: several gRPC clients take nothing else.
fn authority(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let authority = rest.split('/').next().unwrap_or(rest);
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    match (has_port, scheme) {
        (true, _) => authority.to_owned(),
        (false, "https") => format!("{authority}:443"),
        (false, _) => format!("{authority}:80"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_interfaces_are_host_and_port() {
        for (url, expected) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080"),
            ("https://agents.test/one", "agents.test:443"),
            ("http://agents.test", "agents.test:80"),
            ("http://[::1]:8080/x", "[::1]:8080"),
            ("https://[::1]", "[::1]:443"),
        ] {
            assert_eq!(authority(url), expected);
        }
    }

    #[test]
    fn an_unspecified_address_is_shown_as_one_that_can_be_called() {
        assert_eq!(url_of(([0, 0, 0, 0], 80).into()), "http://127.0.0.1:80");
        assert_eq!(
            url_of((Ipv6Addr::UNSPECIFIED, 80).into()),
            "http://[::1]:80"
        );
        assert_eq!(url_of(([10, 0, 0, 1], 80).into()), "http://10.0.0.1:80");
    }
}

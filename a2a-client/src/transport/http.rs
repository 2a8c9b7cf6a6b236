//! What JSON-RPC, HTTP+JSON and the fetching of cards share: one HTTP client, and answers of bounded size.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use reqwest::{Body, Client, Url, redirect};

#[cfg(feature = "in-process")]
use super::in_process::InProcess;
use super::tls;
use crate::CallContext;
use crate::builder::{CONNECTION_WINDOW, Limits, STREAM_WINDOW, TCP_KEEPALIVE_RETRIES};
use crate::error::{BoxError, Error, Kind, Result};

/// An answer whose body has not been read.
pub(crate) type Response = http::Response<Body>;

/// The HTTP client, or what stands in its place.
#[derive(Clone, Debug)]
pub(crate) enum Http {
    Network(Client),
    #[cfg(feature = "in-process")]
    InProcess(InProcess),
}

/// A request to be made.
pub(crate) struct Request<'a> {
    pub(crate) verb: Method,
    pub(crate) url: Url,
    pub(crate) accept: &'static str,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) context: &'a CallContext,
}

impl Http {
    pub(crate) fn new(limits: &Limits) -> Result<Self> {
        let mut tls = tls::config()?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("a2a-client/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(limits.connect)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .http2_keep_alive_interval(limits.ping_interval)
            .http2_keep_alive_timeout(limits.ping_timeout)
            .tcp_keepalive(limits.tcp_keepalive)
            .tcp_keepalive_interval(limits.tcp_keepalive)
            .tcp_keepalive_retries(TCP_KEEPALIVE_RETRIES)
            .redirect(redirect::Policy::custom(same_origin))
            .build()
            .map(Self::Network)
            .map_err(|error| Error::builder("the HTTP client can't be set up").with_source(error))
    }

    /// Sends a request with the headers of the protocol. No header of the caller goes to another host.
    pub(crate) async fn send(&self, request: Request<'_>) -> Result<Response> {
        let mut outgoing = reqwest::Request::new(request.verb, request.url);
        let headers = outgoing.headers_mut();
        *headers = request.context.to_headers()?;
        headers
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static(request.accept));
        if request.body.is_some() {
            headers
                .entry(CONTENT_TYPE)
                .or_insert(HeaderValue::from_static("application/json"));
        }
        *outgoing.body_mut() = request.body.map(Body::from);
        match self {
            Self::Network(client) => match client.execute(outgoing).await {
                Ok(response) => Ok(response.into()),
                Err(error) => Err(send_error(error)),
            },
            #[cfg(feature = "in-process")]
            Self::InProcess(service) => {
                let outgoing = ::http::Request::try_from(outgoing).map_err(send_error)?;
                let answer = service.call(outgoing).await;
                answer.map_err(|error| Error::new(Kind::Transport).with_source(error))
            }
        }
    }
}

/// A client as the caller has set it up.
impl From<Client> for Http {
    fn from(client: Client) -> Self {
        Self::Network(client)
    }
}

fn same_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let same = attempt
        .previous()
        .last()
        .is_some_and(|previous| previous.origin() == attempt.url().origin());
    match same && attempt.previous().len() <= MAX_REDIRECTS {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

const MAX_REDIRECTS: usize = 5;

fn send_error(error: reqwest::Error) -> Error {
    let kind = match () {
        () if error.is_connect() => Kind::Connect,
        () if error.is_timeout() => Kind::Timeout,
        () if error.is_builder() => Kind::Builder("the request can't be made".to_owned()),
        () => Kind::Transport,
    };
    // The address may hold what must not be printed; our error has its own.
    Error::new(kind).with_source(error.without_url())
}

/// An error while a body is read.
pub(crate) fn body_error(error: reqwest::Error) -> Error {
    Error::new(Kind::Transport).with_source(error.without_url())
}

/// Reads a whole body, up to a limit.
pub(crate) async fn read(body: Body, limit: usize) -> Result<Bytes> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) => Err(read_error(error)),
    }
}

fn read_error(error: BoxError) -> Error {
    match error.downcast::<reqwest::Error>() {
        Ok(error) => body_error(*error),
        Err(error) if error.is::<LengthLimitError>() => {
            Error::decode("the answer is larger than this client's limit").with_source(error)
        }
        Err(error) => Error::new(Kind::Transport).with_source(error),
    }
}

/// What an answer that is no success, and in which no error of A2A was found, comes to.
pub(crate) fn status_error(status: StatusCode) -> Error {
    Error::new(Kind::Status(status))
}

/// Whether the type of the answer is that one, parameters aside; `None` where it has no type.
#[cfg(any(feature = "jsonrpc", feature = "rest"))]
pub(crate) fn has_type(headers: &HeaderMap, expected: &str) -> Option<bool> {
    let value = headers.get(CONTENT_TYPE)?.as_bytes();
    let essence = value.split(|byte| *byte == b';').next()?;
    Some(
        essence
            .trim_ascii()
            .eq_ignore_ascii_case(expected.as_bytes()),
    )
}

/// Reads an address of an HTTP binding; what is wrong with it names it.
pub(crate) fn parse_url(url: &str) -> Result<Url> {
    let parsed = Url::parse(url).map_err(|error| {
        Error::builder(format!("{} is no URL", printable(url))).with_source(error)
    })?;
    match parsed.scheme() {
        "http" | "https" => Ok(parsed),
        _ => Err(Error::builder(format!(
            "{} is no http or https URL",
            printable(url)
        ))),
    }
}

/// An address without user, password, query and fragment.
pub(crate) fn printable(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (url, _) = url.split_at(end);
    let (scheme, rest) = url
        .split_once("://")
        .map_or(("", url), |(scheme, rest)| (scheme, rest));
    let host = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(host);
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    match scheme {
        "" => format!("{authority}{path}"),
        scheme => format!("{scheme}://{authority}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_10_addresses_are_printed_without_secrets() {
        for (url, expected) in [
            (
                "https://user:pass@h.test:1/p?token=x#f",
                "https://h.test:1/p",
            ),
            ("h.test:443", "h.test:443"),
            ("user@h.test/p?q", "h.test/p"),
        ] {
            assert_eq!(printable(url), expected);
        }
        let error = parse_url("ftp://user:pass@h.test").unwrap_err().to_string();
        assert!(
            error.contains("h.test") && !error.contains("pass"),
            "{error}"
        );
    }
}

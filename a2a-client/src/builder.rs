//! How a client is made.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::Binding;
use a2a_proto::v1::{AgentInterface, DecodedCard};
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use reqwest::Url;

use crate::card::CardCache;
use crate::client::Parts;
use crate::error::{Error, Result};
use crate::interceptor::Interceptor;
use crate::retry::Retries;
use crate::route::{Route, Routes};
use crate::transport::http::{Http, printable};
#[cfg(feature = "in-process")]
use crate::transport::in_process::InProcess;
use crate::transport::{self, Transport};
use crate::{CallContext, Client, card, select};

/// Settings of a [`Client`]; what is wrong with them is told when it is made.
///
/// ```no_run
/// # async fn run() -> a2a_client::Result<()> {
/// use a2a_client::{Binding, Client};
///
/// let client = Client::builder()
///     .prefer([Binding::Grpc])
///     .header("authorization", "Bearer …")
///     .extension("https://kagent.dev/extensions/hitl/v1")
///     .connect("https://agent.example.com")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "settings do nothing until a client is made of them"]
pub struct ClientBuilder {
    preferred: Vec<Binding>,
    context: CallContext,
    interceptors: Vec<Arc<dyn Interceptor>>,
    limits: Limits,
    grpc_tls: Option<bool>,
    rebase: Option<Url>,
    retries: Option<Retries>,
    cards: Option<CardCache>,
    http: Option<Http>,
    fault: Option<String>,
}

/// Sizes and times.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) connect: Duration,
    pub(crate) read_call: Duration,
    pub(crate) message_bytes: usize,
    /// How long a connection is silent before the kernel asks whether the other end is there, and between asking again.
    pub(crate) tcp_keepalive: Duration,
    pub(crate) ping_interval: Duration,
    pub(crate) ping_timeout: Duration,
}

/// How often the kernel asks before it gives a connection up.
pub(crate) const TCP_KEEPALIVE_RETRIES: u32 = 3;

/// What a peer may send ahead of the reader of an HTTP/2 stream.
pub(crate) const STREAM_WINDOW: u32 = 256 * 1024;

/// The same for a connection: room for many streams, so that one that is not read holds up no other.
pub(crate) const CONNECTION_WINDOW: u32 = 256 * STREAM_WINDOW;

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read_call: Duration::from_secs(60),
            message_bytes: 16 * 1024 * 1024,
            tcp_keepalive: Duration::from_secs(20),
            // Servers built on the Go and C++ libraries allow a ping every five minutes on a quiet stream. They close the
            // connection of a client that pings more often.
            ping_interval: Duration::from_secs(310),
            ping_timeout: Duration::from_secs(20),
        }
    }
}

impl ClientBuilder {
    pub(crate) fn new() -> Self {
        Self {
            preferred: Vec::new(),
            context: CallContext::new(),
            interceptors: Vec::new(),
            limits: Limits::default(),
            grpc_tls: None,
            rebase: None,
            retries: None,
            cards: None,
            http: None,
            fault: None,
        }
    }

    /// Takes cards from a cache, and puts those there that are fetched; by default each connect fetches one.
    pub fn card_cache(mut self, cards: &CardCache) -> Self {
        self.cards = Some(cards.clone());
        self
    }

    /// Makes calls again where that is safe; by default each is made once.
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Goes to the card's interfaces at this origin, such as `http://localhost:8083`, whatever host they name: for cards
    /// that name hosts the caller can't reach, as those of agents behind a port-forward do. Path and tenant stay.
    ///
    /// ```no_run
    /// # async fn run() -> a2a_client::Result<()> {
    /// let client = a2a_client::Client::builder()
    ///     .rebase("http://localhost:8083")
    ///     .connect("http://localhost:8083/agents/kagent/notes")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rebase(mut self, origin: impl AsRef<str>) -> Self {
        match Url::parse(origin.as_ref()) {
            Ok(url) if is_origin(&url) => self.rebase = Some(url),
            _ => {
                self.fault = Some(format!(
                    "rebase takes http or https, host and port, not {}",
                    printable(origin.as_ref())
                ));
            }
        }
        self
    }

    /// Prefers these bindings in this order; by default the agent's order decides.
    pub fn prefer(mut self, bindings: impl IntoIterator<Item = Binding>) -> Self {
        self.preferred = bindings.into_iter().collect();
        self
    }

    /// Sends a header with every request, that for the card included; on gRPC it is metadata.
    pub fn header<N, V>(mut self, name: N, value: V) -> Self
    where
        N: TryInto<HeaderName>,
        V: TryInto<HeaderValue>,
    {
        match (name.try_into(), value.try_into()) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.context.headers_mut().append(name, value);
            }
            (Err(_), _) => self.fault = Some("a header has a name that can't be one".to_owned()),
            (Ok(name), Err(_)) => {
                self.fault = Some(format!("the header {name} has a value that can't be one"))
            }
        }
        self
    }

    /// Sends a bearer token with every request, that for the card included.
    ///
    /// ```no_run
    /// # async fn run(token: &str) -> a2a_client::Result<()> {
    /// let client = a2a_client::Client::builder().bearer(token).connect("https://agent.example").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header(AUTHORIZATION, format!("Bearer {token}"))
    }

    /// Asks for an extension with every request.
    pub fn extension(mut self, uri: impl AsRef<str> + Into<String>) -> Self {
        self.context.extensions_mut().add(uri);
        self
    }

    /// Adds an interceptor; the first one added is the outermost.
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(Arc::new(interceptor));
        self
    }

    /// Limits the time of every call, as [`Client::with_timeout`] does.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.context.set_timeout(Some(limit));
        self
    }

    /// Limits the time to connect; 10 s by default.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.limits.connect = limit;
        self
    }

    /// Limits the size of an answer and of an event; 16 MiB by default. What is larger is an error.
    pub fn max_message_bytes(mut self, limit: usize) -> Self {
        self.limits.message_bytes = limit;
        self
    }

    /// Uses the tenant in place of the one that the agent's card names.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.context.set_tenant(tenant);
        self
    }

    /// Says whether a gRPC address without a scheme is reached by TLS; by default it is when its port is 443.
    pub fn grpc_tls(mut self, tls: bool) -> Self {
        self.grpc_tls = Some(tls);
        self
    }

    /// Uses this HTTP client for the card and the HTTP bindings. Time to connect, TLS, proxies and redirects are then as it
    /// has them.
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.http = Some(Http::from(client));
        self
    }

    /// Calls a service in this process in place of the network: an agent's `into_service()`, an axum router, or any
    /// other tower service of HTTP requests. So an agent is tested without a socket.
    ///
    /// The bindings are JSON-RPC and HTTP+JSON. URLs are what the service takes them for; where the card names no
    /// interface, as that of an agent that was never bound, both are taken to be at the URL that is connected to.
    ///
    /// ```no_run
    /// # async fn run<S>(router: S) -> a2a_client::Result<()>
    /// # where
    /// #     S: tower_service::Service<
    /// #             http::Request<reqwest::Body>,
    /// #             Response = http::Response<reqwest::Body>,
    /// #             Error = std::convert::Infallible,
    /// #             Future: Send,
    /// #         > + Clone + Send + Sync + 'static,
    /// # {
    /// # use a2a_client::Client;
    /// let client = Client::builder().in_process(router).connect("http://agent").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "in-process")]
    pub fn in_process<S, B>(mut self, service: S) -> Self
    where
        S: tower_service::Service<
                http::Request<reqwest::Body>,
                Response = http::Response<B>,
                Future: Send,
                Error: Into<crate::error::BoxError>,
            > + Clone
            + Send
            + Sync
            + 'static,
        B: http_body::Body<Data = bytes::Bytes, Error: Into<crate::error::BoxError>>
            + Send
            + 'static,
    {
        self.http = Some(Http::InProcess(InProcess::new(service)));
        self
    }

    /// Fetches the card of the agent at that URL and makes a client for it.
    ///
    /// The URL is the agent's base URL or that of the card itself; without a scheme it is https,
    /// and http on this machine.
    ///
    /// # Errors
    ///
    /// When the card can't be fetched or read, or names no interface that this client can speak to
    /// ([`Error::peer_speaks`] tells an agent of another version).
    pub async fn connect(self, url: impl AsRef<str>) -> Result<Client> {
        self.check()?;
        let http = self.http()?;
        let fetched = url.as_ref();
        let (context, limit) = (&self.context, self.limits.read_call);
        let card = card::fetch(&http, fetched, context, limit, self.cards.as_ref()).await?;
        #[cfg(feature = "in-process")]
        let card = match http {
            Http::InProcess(_) => select::in_process(card, url.as_ref()),
            Http::Network(_) => card,
        };
        self.with_card(card, Some(http), Some(fetched))
    }

    /// Makes a client for the agent of that card.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn from_card(self, card: impl Into<DecodedCard>) -> Result<Client> {
        self.check()?;
        self.with_card(card.into(), None, None)
    }

    /// Makes a client for an agent of which no card is at hand. Nothing is checked before it is sent.
    ///
    /// # Errors
    ///
    /// When the address is none, or this build lacks the binding.
    pub fn from_endpoint(self, binding: Binding, url: impl Into<String>) -> Result<Client> {
        self.check()?;
        let interface = AgentInterface::new(url, binding);
        let route = self.route(binding, interface, None)?;
        Ok(self.finish(None, Routes::new(route, Vec::new())))
    }

    /// Makes a client that calls through a transport of the caller's own.
    ///
    /// # Errors
    ///
    /// When a setting is wrong.
    pub fn from_transport(
        self,
        transport: impl Transport,
        card: Option<DecodedCard>,
    ) -> Result<Client> {
        self.check()?;
        let route = Route {
            interface: AgentInterface::default(),
            secure: true,
            advertised_by: None,
            endpoint: "in process".to_owned(),
            transport: Arc::new(transport),
        };
        Ok(self.finish(card, Routes::new(route, Vec::new())))
    }

    fn http(&self) -> Result<Http> {
        self.http
            .clone()
            .map_or_else(|| Http::new(&self.limits), Ok)
    }

    fn check(&self) -> Result<()> {
        match &self.fault {
            Some(fault) => Err(Error::builder(fault)),
            None => Ok(()),
        }
    }

    fn with_card(
        self,
        card: DecodedCard,
        http: Option<Http>,
        fetched: Option<&str>,
    ) -> Result<Client> {
        let candidates = select::candidates(&card, &self.preferred)?;
        let mut routes = Vec::new();
        let mut fault = None;
        for (binding, mut interface) in candidates {
            if let Some(origin) = &self.rebase {
                interface.url = rebased(binding, &interface.url, origin);
            }
            let elsewhere = fetched.filter(|card| host(card) != host(&interface.url));
            match self.route(binding, interface, http.clone()) {
                Ok(route) => routes.push(Route {
                    advertised_by: elsewhere.map(printable),
                    ..route
                }),
                Err(error) => drop(fault.get_or_insert(error)),
            }
        }
        let mut routes = routes.into_iter();
        match (routes.next(), fault) {
            (Some(first), _) => {
                // Whoever can disturb TLS must not get to see in the clear what was meant for it.
                let others = routes
                    .filter(|other| other.secure || !first.secure)
                    .collect();
                Ok(self.finish(Some(card), Routes::new(first, others)))
            }
            (None, fault) => {
                Err(fault.unwrap_or_else(|| Error::builder("the card names no interface")))
            }
        }
    }

    fn route(
        &self,
        binding: Binding,
        interface: AgentInterface,
        http: Option<Http>,
    ) -> Result<Route> {
        let endpoint = printable(&interface.url);
        match self.transport(binding, &interface.url, http) {
            Ok(transport) => Ok(Route {
                secure: is_secure(binding, &interface.url, self.grpc_tls),
                advertised_by: None,
                interface,
                endpoint,
                transport,
            }),
            Err(error) => Err(error.at(&endpoint)),
        }
    }

    fn transport(
        &self,
        binding: Binding,
        url: &str,
        http: Option<Http>,
    ) -> Result<Arc<dyn Transport>> {
        let http = || http.map_or_else(|| self.http(), Ok);
        let limit = self.limits.message_bytes;
        match binding {
            #[cfg(feature = "grpc")]
            Binding::Grpc => {
                let address = transport::grpc::Address::parse(url, self.grpc_tls)?;
                Ok(Arc::new(transport::grpc::Grpc::new(
                    &address,
                    &self.limits,
                )?))
            }
            #[cfg(feature = "jsonrpc")]
            Binding::JsonRpc => Ok(Arc::new(transport::jsonrpc::JsonRpc::new(
                http()?,
                url,
                limit,
            )?)),
            #[cfg(feature = "rest")]
            Binding::HttpJson => Ok(Arc::new(transport::rest::Rest::new(http()?, url, limit)?)),
            #[allow(unreachable_patterns, reason = "no binding is left with all features")]
            _ => Err(Error::builder(format!("this build has no {binding}"))),
        }
    }

    fn finish(self, card: Option<DecodedCard>, routes: Routes) -> Client {
        let parts = Parts {
            card,
            routes,
            interceptors: self.interceptors.into(),
            retries: self.retries,
            read_limit: self.limits.read_call,
        };
        Client::from_parts(parts, self.context)
    }
}

fn host(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn is_origin(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
}

/// The address of an interface at another origin; what is behind the host stays.
fn rebased(binding: Binding, url: &str, origin: &Url) -> String {
    let mut rebased = origin.clone();
    // A gRPC address has neither path nor query.
    if binding != Binding::Grpc
        && let Ok(url) = Url::parse(url)
    {
        rebased.set_path(url.path());
        rebased.set_query(url.query());
    }
    rebased.into()
}

/// Whether that address is reached by TLS.
fn is_secure(binding: Binding, url: &str, grpc_tls: Option<bool>) -> bool {
    match binding {
        #[cfg(feature = "grpc")]
        Binding::Grpc => transport::grpc::Address::parse(url, grpc_tls)
            .is_ok_and(|address| address.origin().scheme_str() == Some("https")),
        _ => url
            .split_once(':')
            .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https")),
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("preferred", &self.preferred)
            .field("context", &self.context)
            .field("interceptors", &self.interceptors.len())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_stream_is_not_pinged_more_often_than_servers_allow() {
        assert!(Limits::default().ping_interval > Duration::from_secs(300));
    }
}

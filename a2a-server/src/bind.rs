//! What the bindings share: the endpoint that they serve.

pub(crate) mod card;
mod check;
pub(crate) mod forwarded;
#[cfg(feature = "grpc")]
pub(crate) mod grpc;
#[cfg(feature = "grpc")]
pub(crate) mod health;
mod http;
mod inbound;
#[cfg(feature = "jsonrpc")]
pub(crate) mod jsonrpc;
mod lint;
pub(crate) mod patience;
mod probe;
#[cfg(feature = "reflection")]
mod reflection;
mod reply;
#[cfg(feature = "rest")]
pub(crate) mod rest;
#[cfg(any(feature = "jsonrpc", feature = "rest"))]
mod sse;
mod until;

use std::fmt;
use std::sync::Arc;

use a2a_proto::Binding;
use a2a_proto::v1::AgentCard;
use tokio_util::sync::CancellationToken;

use crate::auth::Authenticator;
use crate::handler::RequestHandler;
use crate::limits::Limits;
use crate::observe::{Observer, Watch};
use crate::version::VersionPolicy;

pub use lint::CardFault;

/// The operations of an agent as they are served: its card, and what stands in front of a call.
///
/// Serve it with [`bind`](Self::bind), or within a server of your own with [`into_router`](Self::into_router) or
/// [`into_service`](Self::into_service). Cheap to clone.
///
/// A call is checked in this order, the same on all bindings: route, body size and media type; the caller; JSON;
/// protocol version; method; parameters; required extensions; capabilities. Then the handler is called.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

struct Inner {
    handler: Arc<dyn RequestHandler>,
    card: AgentCard,
    authenticator: Option<Arc<dyn Authenticator>>,
    version_policy: VersionPolicy,
    limits: Limits,
    bindings: Vec<Binding>,
    json_rpc_path: String,
    health_path: Option<String>,
    public_url: Option<String>,
    trusts_forwarded: bool,
    watch: Watch,
    #[cfg(feature = "reflection")]
    reflection: Option<reflection::Reflection>,
    stopping: CancellationToken,
}

/// Makes an [`Endpoint`].
#[must_use]
pub struct EndpointBuilder(Inner);

impl Endpoint {
    /// Starts with a handler and what its card says about it.
    ///
    /// The card's capabilities are enforced: an operation that it doesn't announce is refused before the handler is
    /// called. Where the card lists no interfaces, those that are served are filled in.
    pub fn builder(handler: Arc<dyn RequestHandler>, card: AgentCard) -> EndpointBuilder {
        EndpointBuilder(Inner {
            handler,
            card,
            authenticator: None,
            version_policy: VersionPolicy::default(),
            limits: Limits::default(),
            bindings: compiled_in().collect(),
            json_rpc_path: "/".to_owned(),
            health_path: None,
            public_url: None,
            trusts_forwarded: false,
            watch: Watch::default(),
            #[cfg(feature = "reflection")]
            reflection: None,
            stopping: CancellationToken::new(),
        })
    }

    /// The limits that apply here.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Refuses new calls and has the open ones end; returns when the handler says that they have been told.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the endpoint goes on refusing calls, and a second call waits again.
    pub async fn shutdown(&self) {
        self.refuse();
        self.0.handler.shutdown().await;
    }

    /// Refuses new calls.
    pub(crate) fn refuse(&self) {
        self.0.stopping.cancel();
    }

    pub(crate) fn json_rpc_path(&self) -> &str {
        &self.0.json_rpc_path
    }

    /// The server's URL for this caller, where it depends on the caller.
    pub(crate) fn forwarded_url(&self, headers: &::http::HeaderMap) -> Option<String> {
        let depends = self.0.trusts_forwarded && self.0.public_url.is_none();
        depends.then(|| forwarded::server_url(headers)).flatten()
    }

    pub(crate) fn health_path(&self) -> Option<&str> {
        self.0.health_path.as_deref()
    }

    pub(crate) fn is_json_rpc_path(&self, path: &str) -> bool {
        path.trim_end_matches('/') == self.0.json_rpc_path.trim_end_matches('/')
    }

    #[cfg(feature = "reflection")]
    pub(crate) fn reflection_at(&self, path: &str) -> Option<reflection::Handler> {
        self.0.reflection.as_ref()?.at(path)
    }

    pub(crate) fn serves(&self, binding: Binding) -> bool {
        self.0.bindings.contains(&binding)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("agent", &self.card.name)
            .field("bindings", &self.bindings)
            .field("version_policy", &self.version_policy)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl EndpointBuilder {
    /// Lets only those callers in that this accepts.
    pub fn authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.0.authenticator = Some(authenticator);
        self
    }

    /// Sets what is made of a call without a version.
    pub fn version_policy(mut self, policy: VersionPolicy) -> Self {
        self.0.version_policy = policy;
        self
    }

    /// Tells an observer of each call and stream.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.0.watch = Watch::new(observer);
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Serves only these bindings, most preferred first; without a call of this, all that are compiled in.
    pub fn bindings(mut self, bindings: impl IntoIterator<Item = Binding>) -> Self {
        self.0.bindings = bindings
            .into_iter()
            .filter(|binding| compiled_in().any(|known| known == *binding))
            .collect();
        self
    }

    /// Sets the path of the JSON-RPC binding; `/` without a call of this.
    pub fn json_rpc_path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.0.json_rpc_path = if path.starts_with('/') {
            path
        } else {
            format!("/{path}")
        };
        self
    }

    /// Answers GET on this path, such as `/health`: 200 until the endpoint shuts down, then 503. Without a call of this
    /// there is no such path; gRPC has its own health service.
    pub fn health_path(mut self, path: impl Into<String>) -> Self {
        self.0.health_path = Some(path.into());
        self
    }

    /// Sets the URL under which callers reach this server, for the interfaces in the card. Without it they name the
    /// bound address.
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.0.public_url = Some(url.into());
        self
    }

    /// Takes the URL for the interfaces in the card from what a proxy says of the caller's request: `Forwarded`, or
    /// `X-Forwarded-Proto`, `-Host`, `-Port` and `-Prefix`. Off by default: the first value counts, so that the proxy must
    /// overwrite what callers send, and without such a proxy any caller decides. A [`public_url`](Self::public_url) goes
    /// before; headers that make no URL count for nothing.
    pub fn trust_forwarded_headers(mut self, trust: bool) -> Self {
        self.0.trusts_forwarded = trust;
        self
    }

    /// Serves gRPC reflection beside the gRPC binding, so that tools such as grpcurl need no `.proto` files. It tells
    /// anybody what the protocol looks like, and nothing of the agent.
    #[cfg(feature = "reflection")]
    pub fn reflection(mut self, serve: bool) -> Self {
        self.0.reflection = match serve.then(reflection::Reflection::new) {
            Some(Ok(reflection)) => Some(reflection),
            Some(Err(error)) => {
                tracing::error!(%error, "reflection can't be served");
                None
            }
            None => None,
        };
        self
    }

    /// Finishes the endpoint.
    #[must_use]
    pub fn build(self) -> Endpoint {
        Endpoint(Arc::new(self.0))
    }
}

impl fmt::Debug for EndpointBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// In the order in which the card offers them.
fn compiled_in() -> impl Iterator<Item = Binding> {
    [
        (Binding::JsonRpc, cfg!(feature = "jsonrpc")),
        (Binding::HttpJson, cfg!(feature = "rest")),
        (Binding::Grpc, cfg!(feature = "grpc")),
    ]
    .into_iter()
    .filter_map(|(binding, compiled)| compiled.then_some(binding))
}

/// What a path is answered with that no binding takes.
pub(crate) fn nothing_here() -> ::http::Response<axum::body::Body> {
    http::respond_error(&a2a_proto::A2aError::method_not_found(
        "there is nothing at this path",
    ))
}

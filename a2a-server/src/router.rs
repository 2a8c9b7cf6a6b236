//! All bindings as one service: gRPC by its content type, the rest by path.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use a2a_proto::Binding;
use a2a_proto::binding::CARD_PATH;
use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Request, Response};
use tower_service::Service;

use crate::bind::card::{self, ServedCard};
use crate::bind::forwarded;
use crate::bind::{self, Endpoint};
#[cfg(feature = "grpc")]
use crate::bind::{grpc, health};

impl Endpoint {
    /// The endpoint as a tower service: all bindings, the card, and gRPC health.
    ///
    /// Where the card lists no interfaces, they are filled in from [`public_url`](crate::EndpointBuilder::public_url).
    #[must_use]
    pub fn into_service(self) -> EndpointService {
        EndpointService::new(self, None)
    }

    /// The endpoint as an axum router, to be merged into an application's. The HTTP bindings may be nested under a
    /// prefix, which `public_url` then ends in; gRPC paths are absolute.
    pub fn into_router(self) -> axum::Router {
        self.into_service().into_router()
    }
}

/// See [`Endpoint::into_service`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EndpointService(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    endpoint: Endpoint,
    card: Option<ServedCard>,
    /// Under which the agent stands on a server of several.
    name: String,
}

impl EndpointService {
    pub(crate) fn new(endpoint: Endpoint, bound: Option<SocketAddr>) -> Self {
        Self::at(endpoint, None, bound, "")
    }

    /// The endpoint under a name of a server at that URL, or at the address that is bound.
    pub(crate) fn at(
        endpoint: Endpoint,
        server_url: Option<&str>,
        bound: Option<SocketAddr>,
        name: &str,
    ) -> Self {
        let base = server_url.map(str::to_owned);
        let base = base.or_else(|| bound.map(card::url_of));
        let card = endpoint.served_card(base.as_deref(), name);
        if card.supported_interfaces.is_empty() {
            tracing::warn!("the agent card lists no interface: set a public URL");
        }
        for fault in endpoint.card_faults() {
            tracing::warn!(field = fault.field, "the agent card: {}", fault.description);
        }
        Self(Arc::new(Shared {
            card: Some(ServedCard::new(&card)),
            name: name.to_owned(),
            endpoint,
        }))
    }

    /// The endpoint of no agent.
    pub(crate) fn without_card(endpoint: Endpoint) -> Self {
        Self(Arc::new(Shared {
            card: None,
            name: String::new(),
            endpoint,
        }))
    }

    pub(crate) fn json_rpc_path(&self) -> &str {
        self.0.endpoint.json_rpc_path()
    }

    /// Whether a path is not one of HTTP+JSON.
    pub(crate) fn has_path_of_its_own(&self, path: &str) -> bool {
        let Shared { endpoint, .. } = &*self.0;
        let is_json_rpc = endpoint.serves(Binding::JsonRpc) && endpoint.is_json_rpc_path(path);
        is_json_rpc || endpoint.health_path() == Some(path)
    }

    pub(crate) fn is_probe(&self, request: &Request<Body>) -> bool {
        self.0.endpoint.is_probe(request)
    }

    pub(crate) fn into_router(self) -> axum::Router {
        axum::Router::new().fallback_service(self)
    }

    #[cfg_attr(
        not(any(feature = "jsonrpc", feature = "rest", feature = "grpc")),
        expect(clippy::unused_async, reason = "the card alone needs no waiting")
    )]
    pub(crate) async fn handle(self, request: Request<Body>) -> Response<Body> {
        let Shared { endpoint, .. } = &*self.0;
        match endpoint.binding_of(&request) {
            #[cfg(feature = "grpc")]
            Some(Binding::Grpc) if health::is_at(request.uri().path()) => {
                health::serve(endpoint, request).await
            }
            #[cfg(feature = "grpc")]
            Some(Binding::Grpc) => {
                #[cfg(feature = "reflection")]
                if let Some(reflection) = endpoint.reflection_at(request.uri().path()) {
                    return reflection(request).await;
                }
                grpc::serve(endpoint, request).await
            }
            _ if request.uri().path() == CARD_PATH => self.0.card(&request),
            _ if endpoint.is_probe(&request) => endpoint.probed(),
            #[cfg(feature = "jsonrpc")]
            Some(Binding::JsonRpc) => bind::jsonrpc::serve(endpoint, request).await,
            #[cfg(feature = "rest")]
            Some(Binding::HttpJson) => bind::rest::serve(endpoint, request).await,
            _ => bind::nothing_here(),
        }
    }
}

impl Shared {
    fn card(&self, request: &Request<Body>) -> Response<Body> {
        let Some(card) = &self.card else {
            return bind::nothing_here();
        };
        match self.endpoint.forwarded_url(request.headers()) {
            Some(url) => {
                let card = self.endpoint.served_card(Some(&url), &self.name);
                let mut response = ServedCard::new(&card).serve(request);
                response.headers_mut().insert(VARY, forwarded::VARY);
                response
            }
            None => card.serve(request),
        }
    }
}

impl Endpoint {
    /// The binding that a request is meant for, if it is served.
    fn binding_of(&self, request: &Request<Body>) -> Option<Binding> {
        let binding = if is_grpc(request.headers()) {
            Binding::Grpc
        } else if self.serves(Binding::JsonRpc) && self.is_json_rpc_path(request.uri().path()) {
            Binding::JsonRpc
        } else {
            Binding::HttpJson
        };
        self.serves(binding).then_some(binding)
    }
}

pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    match content_type.and_then(|value| value.strip_prefix(b"application/grpc")) {
        // gRPC-Web is another protocol.
        Some(rest) => matches!(rest.first(), None | Some(b'+' | b';')),
        None => false,
    }
}

impl<B> Service<Request<B>> for EndpointService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        ResponseFuture(Box::pin(self.clone().handle(request.map(Body::new))))
    }
}

/// The response of an [`EndpointService`].
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Response<Body>> + Send>>);

impl ResponseFuture {
    pub(crate) fn new(response: Pin<Box<dyn Future<Output = Response<Body>> + Send>>) -> Self {
        Self(response)
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

//! Which agent a request is for.

use std::borrow::Cow;
use std::sync::Arc;

use a2a_proto::binding::CARD_PATH;
use a2a_proto::wire::Operation;
use a2a_proto::{Call, StreamCall};
use axum::body::Body;
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Method, Request, Uri};
use http_body_util::BodyExt as _;
use serde::Deserialize;

use super::{Served, Shared};
use crate::bind::patience::patient;
use crate::router::{EndpointService, is_grpc};

/// By which name the agent was found: it is not part of the tenant that the agent sees.
#[derive(Clone, Debug)]
pub(crate) struct Routed(Arc<str>);

impl Routed {
    /// Takes the name off every tenant that a request names.
    pub(crate) fn apply(&self, operation: &mut Operation) {
        self.strip(operation.tenant_mut());
        if let Operation::Unary(Call::SendMessage(request))
        | Operation::Stream(StreamCall::SendStreamingMessage(request)) = operation
            && let Some(configuration) = &mut request.configuration
            && let Some(push) = &mut configuration.task_push_notification_config
        {
            self.strip(&mut push.tenant);
        }
    }

    fn strip(&self, tenant: &mut String) {
        if let Some(rest) = tenant.strip_prefix(&*self.0) {
            match rest.strip_prefix('/') {
                Some(rest) => *tenant = rest.to_owned(),
                None if rest.is_empty() => tenant.clear(),
                None => {}
            }
        }
    }
}

impl Shared {
    /// The endpoint of a request, and the request as that endpoint takes it.
    pub(super) async fn find(
        &self,
        mut request: Request<Body>,
    ) -> (&EndpointService, Request<Body>) {
        let path = request.uri().path();
        if is_grpc(request.headers()) {
            // Health and reflection have no tenant, and a stream of questions has no end to wait for.
            return match a2a_proto::Method::from_grpc_path(path) {
                Some(_) => self.by_tenant(request, grpc_tenant).await,
                None => (&self.rest, request),
            };
        }
        if let Some(served) = self.named(first_name(path)) {
            let below = path.trim_start_matches('/').get(served.name.len()..);
            let below = below.filter(|rest| !rest.is_empty()).unwrap_or("/");
            let is_whole = below == CARD_PATH || served.service.has_path_of_its_own(below);
            if is_whole {
                let below = below.to_owned();
                set_path(&mut request, &below);
            } else {
                // HTTP+JSON: the path says the tenant, and its body may say it too.
                request.extensions_mut().insert(served.routed());
            }
            return (&served.service, request);
        }
        if self.front.is_probe(&request) {
            return (&self.front, request);
        }
        if request.method() == Method::POST && matches!(path, "" | "/") {
            return self.by_tenant(request, json_tenant).await;
        }
        (&self.rest, request)
    }

    fn named(&self, name: &str) -> Option<&Served> {
        self.agents.iter().find(|served| &*served.name == name)
    }

    /// Reads the body, since the tenant is in it.
    async fn by_tenant(
        &self,
        request: Request<Body>,
        tenant_of: fn(&Uri, &[u8]) -> Option<String>,
    ) -> (&EndpointService, Request<Body>) {
        let (parts, body) = request.into_parts();
        let body = patient(body, self.idle);
        let (read, body) = read(body, self.largest).await;
        let tenant = read.and_then(|body| tenant_of(&parts.uri, &body));
        let name = tenant
            .as_deref()
            .and_then(|tenant| tenant.split('/').next());
        let served = name.and_then(|name| self.named(name));
        let mut request = Request::from_parts(parts, body);
        match served {
            Some(served) => {
                if !is_grpc(request.headers()) {
                    let path = served.service.json_rpc_path().to_owned();
                    set_path(&mut request, &path);
                }
                request.extensions_mut().insert(served.routed());
                (&served.service, request)
            }
            None => (&self.rest, request),
        }
    }
}

/// What the path begins with. A tenant of several segments may stand there as one, with its slashes encoded.
fn first_name(path: &str) -> &str {
    let first = path.trim_start_matches('/').split('/').next();
    let first = first.unwrap_or_default();
    match first.split_once('%') {
        Some((name, rest))
            if rest
                .get(..2)
                .is_some_and(|code| code.eq_ignore_ascii_case("2f")) =>
        {
            name
        }
        _ => first,
    }
}

impl Served {
    fn routed(&self) -> Routed {
        Routed(Arc::clone(&self.name))
    }
}

/// The body as far as it may be read, and the same body for whoever answers: that one refuses it if it is too large or
/// broke off.
async fn read(mut body: Body, limit: usize) -> (Option<Bytes>, Body) {
    let mut chunks = Vec::new();
    let mut size = 0;
    loop {
        match body.frame().await {
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else {
                    continue;
                };
                size += data.len();
                chunks.push(data);
                if size > limit.saturating_add(FRAME_HEAD) {
                    return (None, Body::new(Rest::new(chunks, Some(Ok(body)))));
                }
            }
            Some(Err(error)) => return (None, Body::new(Rest::new(chunks, Some(Err(error))))),
            None => break,
        }
    }
    let whole = match chunks.len() {
        1 => chunks.swap_remove(0),
        _ => chunks.concat().into(),
    };
    (Some(whole.clone()), Body::from(whole))
}

/// Chunks that were read, then what was not.
struct Rest {
    chunks: std::vec::IntoIter<Bytes>,
    more: Option<Result<Body, axum::Error>>,
}

impl Rest {
    fn new(chunks: Vec<Bytes>, more: Option<Result<Body, axum::Error>>) -> Self {
        Self {
            chunks: chunks.into_iter(),
            more,
        }
    }
}

impl http_body::Body for Rest {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        use std::task::Poll;
        if let Some(chunk) = self.chunks.next() {
            return Poll::Ready(Some(Ok(http_body::Frame::data(chunk))));
        }
        match &mut self.more {
            Some(Ok(body)) => std::pin::Pin::new(body).poll_frame(cx),
            Some(Err(_)) => Poll::Ready(self.more.take().and_then(Result::err).map(Err)),
            None => Poll::Ready(None),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    tenant: Option<Cow<'a, str>>,
}

/// What is no JSON-RPC has no tenant, and is refused by whoever answers.
fn json_tenant(_: &Uri, body: &[u8]) -> Option<String> {
    let envelope: Envelope<'_> = serde_json::from_slice(body).ok()?;
    envelope.params?.tenant.map(Cow::into_owned)
}

#[cfg(feature = "grpc")]
fn grpc_tenant(uri: &Uri, body: &[u8]) -> Option<String> {
    let method = a2a_proto::Method::from_grpc_path(uri.path())?;
    // A message behind its head; a compressed one is refused.
    let message = body.strip_prefix(&[0]).and_then(|rest| rest.get(4..))?;
    let operation = crate::bind::grpc::decode(method, Bytes::copy_from_slice(message)).ok()?;
    Some(operation.tenant().to_owned())
}

#[cfg(not(feature = "grpc"))]
fn grpc_tenant(_: &Uri, _: &[u8]) -> Option<String> {
    None
}

fn set_path(request: &mut Request<Body>, path: &str) {
    let uri = request.uri();
    let whole = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    let Ok(whole) = whole.parse::<PathAndQuery>() else {
        return;
    };
    parts.path_and_query = Some(whole);
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

/// The head of a gRPC message.
const FRAME_HEAD: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_what_the_path_begins_with() {
        for (path, name) in [
            ("/echo", "echo"),
            ("/echo/tasks/1", "echo"),
            ("/echo%2Facme/tasks", "echo"),
            ("/echo%2facme", "echo"),
            ("/echo%20x/tasks", "echo%20x"),
            ("/", ""),
            ("", ""),
        ] {
            assert_eq!(first_name(path), name, "{path}");
        }
    }

    #[test]
    fn the_name_is_taken_off_the_tenant_and_nothing_else() {
        for (tenant, seen) in [
            ("echo", ""),
            ("echo/acme/eu", "acme/eu"),
            ("echo/", ""),
            ("echoes", "echoes"),
            ("acme", "acme"),
            ("", ""),
        ] {
            let mut stripped = tenant.to_owned();
            Routed(Arc::from("echo")).strip(&mut stripped);
            assert_eq!(stripped, seen, "{tenant}");
        }
    }
}

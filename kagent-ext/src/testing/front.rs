//! What stands before the gateway: its card, the task store, and who calls.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::map_request;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{StatusCode, Uri};
use tower_service::Service as _;

use super::gateway::User;
use super::store_service::StoreService;
use crate::task_store;
use crate::task_store::wire::task_store_service_server::TaskStoreServiceServer;

pub(super) struct Front {
    /// The path of the card.
    pub(super) card: String,
    pub(super) document: String,
    /// The name under which the task store is served.
    pub(super) service_name: String,
    pub(super) service: TaskStoreServiceServer<StoreService>,
}

impl Front {
    /// Puts all this around the gateway.
    pub(super) fn around(self, gateway: Router) -> Router {
        let Self {
            card,
            document,
            service_name,
            service,
        } = self;
        let headers = [
            (CONTENT_TYPE, "application/json"),
            (CACHE_CONTROL, "private, no-store"),
        ];
        let prefix = format!("/{service_name}/");
        let stores = format!("{prefix}{{method}}");
        let store = any(move |mut request: Request| {
            let mut service = service.clone();
            if let Some(uri) = generated(request.uri(), &prefix) {
                *request.uri_mut() = uri;
            }
            async move {
                match service.call(request).await {
                    Ok(response) => response.map(Body::new),
                    Err(never) => match never {},
                }
            }
        });
        gateway
            .route(&card, get(move || async move { (headers, document) }))
            // There is no card of the deployment as a whole.
            .route(a2a_proto::binding::CARD_PATH, any(nothing))
            .route(&stores, store)
            .layer(map_request(note_user))
    }
}

async fn nothing() -> Response {
    StatusCode::NOT_FOUND.into_response()
}

/// The path as the generated service knows it.
fn generated(uri: &Uri, prefix: &str) -> Option<Uri> {
    let method = uri.path().strip_prefix(prefix)?;
    let path = format!("/{}/{method}", task_store::SERVICE);
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

/// Finds out who calls, as kagent does where it has been told to trust everybody: the query wins over the header
/// (kagent contract 7.6).
async fn note_user(mut request: Request) -> Request {
    let of_query = request.uri().query().and_then(|query| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(name, _)| *name == "user_id")
            .map(|(_, value)| value)
    });
    let of_header = request.headers().get(crate::uri::header::USER_ID);
    let of_header = of_header.and_then(|value| value.to_str().ok());
    let user = of_query
        .or(of_header)
        .filter(|user| !user.is_empty())
        .unwrap_or(NOBODY_ELSE);
    let user = User(user.to_owned());
    request.extensions_mut().insert(user);
    if request.uri().path().starts_with("/agents/") {
        request.extensions_mut().insert(ByPath);
    }
    request
}

/// The path names the agent, so that the tenant need not.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByPath;

const NOBODY_ELSE: &str = "admin@kagent.dev";

//! The HTTP+JSON binding (A2A 1.0 §11).

use a2a_proto::header::MEDIA_TYPE;
use a2a_proto::wire::rest::{Route, RouteError};
use a2a_proto::wire::sse as wire;
use a2a_proto::{A2aError, Binding};
use axum::body::Body;
use bytes::BytesMut;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::inbound::{Checked, Outcome};
use super::sse::{self, Framing};
use super::{Endpoint, http as web};

pub(crate) async fn serve(endpoint: &Endpoint, request: http::Request<Body>) -> Response<Body> {
    let route = match Route::find(request.method(), request.uri().path()) {
        Ok(route) => route,
        Err(error) => return lost(&error),
    };
    match answer(endpoint, route, request).await {
        Ok(response) => response,
        Err(error) => web::respond_error(&error),
    }
}

async fn answer(
    endpoint: &Endpoint,
    route: Route,
    request: http::Request<Body>,
) -> Result<Response<Body>, A2aError> {
    let (parts, mut body) = request.into_parts();
    let limit = endpoint.limits().http_bytes();
    web::check_length(&parts.headers, &mut body, limit).await?;
    check_media_type(&parts.headers, &body)?;
    let media_type = acceptable(&parts.headers);
    let uri = parts.uri.clone();
    let inbound = match endpoint.admit(Binding::HttpJson, parts).await {
        Ok(inbound) => inbound,
        Err(refusal) => {
            let mut response = web::respond_error(&refusal.error);
            web::challenge(refusal.challenge, &mut response);
            return Ok(response);
        }
    };
    let body = web::read(body, endpoint.limits()).await?;
    let activated = inbound.activated().clone();
    let method = route.method();
    let checked = inbound.check(Ok(method), |_| route.operation(uri.query(), &body))?;
    let mut response = if method.is_streaming() {
        sse::start(checked, Bare, endpoint.limits().keep_alive).await?
    } else {
        unary(checked, media_type).await?
    };
    web::echo(&activated, &mut response);
    Ok(response)
}

async fn unary(checked: Checked, media_type: &'static str) -> Result<Response<Body>, A2aError> {
    let reply = checked.run().await.and_then(Outcome::into_reply)?;
    let mut body = Vec::with_capacity(256);
    reply.write_json(&mut body);
    let mut response = web::respond(StatusCode::OK, media_type, body);
    // An answer is for its caller: no cache between may give it to another.
    let private = HeaderValue::from_static("private, no-cache");
    response.headers_mut().insert(CACHE_CONTROL, private);
    Ok(response)
}

/// Events as they are.
struct Bare;

impl Framing for Bare {
    fn event(&self, json: &[u8], out: &mut BytesMut) {
        wire::write_event(out, &[json]);
    }

    fn error(&self, error: &A2aError, out: &mut BytesMut) {
        wire::write_error(out, &[&error.to_status_json()]);
    }
}

/// What leads nowhere is told so in JSON too.
fn lost(error: &RouteError) -> Response<Body> {
    let mut response = web::respond_error(&error.to_error());
    if let Ok(status) = StatusCode::from_u16(error.http_status()) {
        *response.status_mut() = status;
    }
    if let RouteError::WrongVerb { allow } = error {
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static(allow));
    }
    response
}

/// A body must be JSON; where there is none, its type doesn't matter.
fn check_media_type(headers: &HeaderMap, body: &Body) -> Result<(), A2aError> {
    let empty = http_body::Body::is_end_stream(body);
    match web::media_type(headers).as_deref() {
        None | Some("" | "application/json" | MEDIA_TYPE) => Ok(()),
        Some(_) if empty => Ok(()),
        Some(_) => Err(A2aError::content_type_not_supported(
            "send `Content-Type: application/a2a+json` or `application/json`",
        )),
    }
}

/// The protocol's own type, unless the client asks for plain JSON and not for it.
fn acceptable(headers: &HeaderMap) -> &'static str {
    let names = |media_type: &str| {
        headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(','))
            .filter_map(|range| range.split(';').next())
            .any(|range| range.trim().eq_ignore_ascii_case(media_type))
    };
    if names(web::JSON) && !names(MEDIA_TYPE) {
        web::JSON
    } else {
        MEDIA_TYPE
    }
}

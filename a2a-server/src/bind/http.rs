//! What the HTTP bindings share: request bodies in, whole responses out.

use std::time::Duration;

use a2a_proto::A2aError;
use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use a2a_proto::header::{A2A_EXTENSIONS, Extensions};

use super::patience::patient;
use crate::limits::Limits;

/// Refuses a body that says that it is too large, before anything of it is kept.
pub(super) async fn check_length(
    headers: &HeaderMap,
    body: &mut Body,
    limit: usize,
) -> Result<(), A2aError> {
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match length {
        Some(length) if length <= limit as u64 => Ok(()),
        None => Ok(()),
        // The client waits for leave to send it.
        Some(_) if headers.contains_key(EXPECT) => Err(too_large(limit)),
        Some(_) => {
            drain(body, limit).await;
            Err(too_large(limit))
        }
    }
}

/// Reads a body up to the limit.
pub(super) async fn read(body: Body, limits: &Limits) -> Result<Bytes, A2aError> {
    let limit = limits.http_bytes();
    let mut body = patient(body, limits.idle);
    match Limited::new(&mut body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            drain(&mut body, limit).await;
            Err(too_large(limit))
        }
        Err(error) => Err(A2aError::invalid_request("the body broke off").with_source(error)),
    }
}

/// Reads on, up to twice the limit, and throws it away: a client that is still writing when its connection is closed
/// would not see the answer.
async fn drain(body: &mut Body, limit: usize) {
    let mut rest = Limited::new(body, limit.saturating_mul(2));
    let drain = async { while let Some(Ok(_)) = rest.frame().await {} };
    let _ = tokio::time::timeout(DRAIN, drain).await;
}

fn too_large(limit: usize) -> A2aError {
    A2aError::resource_exhausted(format!("the body is larger than {limit} bytes"))
}

/// The media type of a body without its parameters, in lower case; `None` if none is given.
pub(super) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default();
    Some(essence.trim().to_ascii_lowercase())
}

/// A whole response.
pub(super) fn respond(
    status: StatusCode,
    media_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<Body> {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// An error as HTTP+JSON shows it; also for what no binding answers.
pub(super) fn respond_error(error: &A2aError) -> Response<Body> {
    let mut response = respond(status(error), JSON, error.to_status_json());
    retry_after(error, &mut response);
    response
}

/// The HTTP status of an error.
pub(super) fn status(error: &A2aError) -> StatusCode {
    StatusCode::from_u16(error.code().http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Says when to come again, where HTTP says that the server is overloaded.
pub(super) fn retry_after(error: &A2aError, response: &mut Response<Body>) {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE
        && let Some(delay) = error.retry_after()
    {
        let seconds = delay.as_secs().max(1);
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
}

/// Says how to come in.
pub(super) fn challenge(challenge: Option<HeaderValue>, response: &mut Response<Body>) {
    if let Some(challenge) = challenge {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
}

/// Echoes the extensions that are active, one line each: so every peer reads them.
pub(super) fn echo(activated: &Extensions, response: &mut Response<Body>) {
    for uri in activated.iter() {
        if let Ok(value) = uri.parse() {
            response
                .headers_mut()
                .append(HeaderName::from_static(A2A_EXTENSIONS), value);
        }
    }
}

pub(super) const JSON: &str = "application/json";

/// How long what is too much is read on.
const DRAIN: Duration = Duration::from_secs(2);

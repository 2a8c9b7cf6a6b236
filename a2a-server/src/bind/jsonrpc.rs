//! The JSON-RPC binding (A2A 1.0 §9).

use a2a_proto::wire::jsonrpc::{self, Id, Request};
use a2a_proto::wire::sse as wire;
use a2a_proto::{A2aError, Binding, Method};
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::ALLOW;
use http::{HeaderValue, Response, StatusCode};

use super::inbound::{Checked, Inbound, Outcome, Refusal};
use super::reply::Reply;
use super::sse::{self, Framing};
use super::{Endpoint, http as web};

/// Answers a request to the binding's path. Errors that concern the call have the status 200: some clients drop the
/// body of any other.
pub(crate) async fn serve(endpoint: &Endpoint, request: http::Request<Body>) -> Response<Body> {
    let (parts, mut body) = request.into_parts();
    if parts.method != http::Method::POST {
        let error = A2aError::invalid_request("JSON-RPC is spoken with POST");
        let mut response = fail(StatusCode::METHOD_NOT_ALLOWED, &error);
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let limit = endpoint.limits().http_bytes();
    if let Err(error) = web::check_length(&parts.headers, &mut body, limit).await {
        return fail(StatusCode::PAYLOAD_TOO_LARGE, &error);
    }
    if !is_json(web::media_type(&parts.headers)) {
        let error = A2aError::content_type_not_supported("send `Content-Type: application/json`");
        return fail(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
    }
    let inbound = match endpoint.admit(Binding::JsonRpc, parts).await {
        Ok(inbound) => inbound,
        Err(refusal) => return refuse(refusal),
    };
    match web::read(body, endpoint.limits()).await {
        Ok(body) => answer(endpoint, inbound, body).await,
        Err(error) => fail(web::status(&error), &error),
    }
}

async fn answer(endpoint: &Endpoint, inbound: Inbound, body: Bytes) -> Response<Body> {
    let request = match Request::parse(&body) {
        Ok(request) => request,
        Err(error) => return web::respond(StatusCode::OK, web::JSON, error.to_response()),
    };
    let activated = inbound.activated().clone();
    let method: Result<Method, _> = request.method.parse();
    let streams = method.as_ref().is_ok_and(|method| method.is_streaming());
    let checked = inbound.check(method.map_err(|_| &*request.method), |method| {
        request.operation(method)
    });
    let id = request.id;
    let mut response = if streams {
        stream(endpoint, checked, id).await
    } else {
        unary(checked, &id).await
    };
    web::echo(&activated, &mut response);
    response
}

async fn unary(checked: Result<Checked, A2aError>, id: &Id) -> Response<Body> {
    let outcome = match checked {
        Ok(checked) => checked.run().await.and_then(Outcome::into_reply),
        Err(error) => Err(error),
    };
    let body = match outcome {
        Ok(reply) => write(id, &reply),
        Err(error) => jsonrpc::error_response(id, &error),
    };
    web::respond(StatusCode::OK, web::JSON, body)
}

fn write(id: &Id, reply: &Reply) -> Vec<u8> {
    let mut out = jsonrpc::result_prefix(id);
    match reply {
        // Every client reads null here; some fail on `{}` or on nothing.
        Reply::Deleted => out.extend_from_slice(b"null"),
        reply => reply.write_json(&mut out),
    }
    out.extend_from_slice(jsonrpc::RESULT_SUFFIX);
    out
}

/// Once the method is known to stream, errors are frames too: a client that expects a stream may read a plain answer
/// as an empty one.
async fn stream(endpoint: &Endpoint, checked: Result<Checked, A2aError>, id: Id) -> Response<Body> {
    let keep_alive = endpoint.limits().keep_alive;
    let framing = Envelope::new(&id);
    let started = match checked {
        Ok(checked) => sse::start(checked, framing, keep_alive).await,
        Err(error) => Err(error),
    };
    started.unwrap_or_else(|error| sse::failed(error, Envelope::new(&id)))
}

/// Events as responses to one request.
struct Envelope {
    id: Id,
    prefix: Vec<u8>,
}

impl Envelope {
    fn new(id: &Id) -> Self {
        Self {
            id: id.clone(),
            prefix: jsonrpc::result_prefix(id),
        }
    }
}

impl Framing for Envelope {
    fn event(&self, json: &[u8], out: &mut BytesMut) {
        wire::write_event(out, &[&self.prefix, json, jsonrpc::RESULT_SUFFIX]);
    }

    fn error(&self, error: &A2aError, out: &mut BytesMut) {
        wire::write_error(out, &[&jsonrpc::error_response(&self.id, error)]);
    }
}

fn refuse(refusal: Refusal) -> Response<Body> {
    let mut response = fail(web::status(&refusal.error), &refusal.error);
    web::challenge(refusal.challenge, &mut response);
    response
}

/// An answer to a request whose id is not known, or does not matter.
fn fail(status: StatusCode, error: &A2aError) -> Response<Body> {
    let mut response = web::respond(
        status,
        web::JSON,
        jsonrpc::error_response(&Id::null(), error),
    );
    web::retry_after(error, &mut response);
    response
}

/// A body without a type is taken for JSON.
fn is_json(media_type: Option<String>) -> bool {
    match media_type.as_deref() {
        None | Some("" | "application/json") => true,
        Some(media_type) => media_type.starts_with("application/") && media_type.ends_with("+json"),
    }
}

//! The HTTP+JSON binding.

use a2a_proto::v1::StreamResponse;
use a2a_proto::wire::sse::Event;
use a2a_proto::wire::{self, Operation, ReplyError, rest};
use a2a_proto::{A2aError, Call, Reply, StreamCall};
use async_trait::async_trait;
use http::response::Parts;
use http::{Method, StatusCode};
use reqwest::Url;

use super::Transport;
use super::http::{self as transport, Http, Request, Response};
use super::sse::{Frames, SseStream};
use crate::error::{Error, Result};
use crate::{CallContext, EventStream};

/// An agent behind HTTP+JSON routes.
#[derive(Debug)]
pub(crate) struct Rest {
    http: Http,
    base: Url,
    limit: usize,
}

impl Rest {
    pub(crate) fn new(http: Http, url: &str, limit: usize) -> Result<Self> {
        Ok(Self {
            http,
            base: transport::parse_url(url)?,
            limit,
        })
    }

    async fn send(
        &self,
        request: rest::Request,
        accept: &'static str,
        cx: &mut CallContext,
    ) -> Result<Response> {
        let request = Request {
            verb: request.verb,
            url: self.url(&request.path)?,
            accept,
            body: request.body,
            context: cx,
        };
        self.http.send(request).await
    }

    /// The path below the interface's own.
    fn url(&self, path: &str) -> Result<Url> {
        let mut base = self.base.clone();
        base.set_query(None);
        base.set_fragment(None);
        let base = base.as_str().trim_end_matches('/');
        transport::parse_url(&format!("{base}{path}"))
    }

    /// Opens a stream, or reads the error in its place.
    async fn open(&self, request: rest::Request, cx: &mut CallContext) -> Result<EventStream> {
        let response = self
            .send(
                request,
                "text/event-stream, application/a2a+json, application/json",
                cx,
            )
            .await?;
        let (head, body) = response.into_parts();
        cx.note_activated(&head.headers);
        let is_stream = transport::has_type(&head.headers, "text/event-stream").unwrap_or(true);
        if is_stream && head.status.is_success() {
            return Ok(EventStream::new(SseStream::new(body, self.limit, Bare)));
        }
        let body = transport::read(body, self.limit).await?;
        if !head.status.is_success() {
            return Err(error(&head, &body));
        }
        event(&body)
            .map(super::one)
            .map_err(|error| error.with_head(&head))
    }
}

#[async_trait]
impl Transport for Rest {
    async fn unary(&self, call: Call, cx: &mut CallContext) -> Result<Reply> {
        let operation = Operation::Unary(call);
        let kind = operation.method();
        let request = rest::request(operation).map_err(Error::refused)?;
        let response = self
            .send(request, "application/a2a+json, application/json", cx)
            .await?;
        let (head, body) = response.into_parts();
        cx.note_activated(&head.headers);
        let body = transport::read(body, self.limit).await?;
        if !head.status.is_success() {
            return Err(error(&head, &body));
        }
        wire::read_reply(kind, &body).map_err(|error| Error::from(error).with_head(&head))
    }

    async fn stream(&self, call: StreamCall, cx: &mut CallContext) -> Result<EventStream> {
        let subscribes = matches!(call, StreamCall::SubscribeToTask(_));
        let request = rest::request(call.into()).map_err(Error::refused)?;
        let mut again = request.clone();
        let refused = match self.open(request, cx).await {
            Err(error) if subscribes && is_no_route(&error) => error,
            opened => return opened,
        };
        // The specification's text says POST and its proto GET: some servers know the latter only.
        again.verb = Method::GET;
        match self.open(again, cx).await {
            Err(error) if is_no_route(&error) => Err(refused),
            opened => opened,
        }
    }
}

fn is_no_route(error: &Error) -> bool {
    let status = error.http_status();
    status == Some(StatusCode::NOT_FOUND) || status == Some(StatusCode::METHOD_NOT_ALLOWED)
}

/// The error in an answer that is no success.
fn error(head: &Parts, body: &[u8]) -> Error {
    let error = match body.trim_ascii_start().starts_with(b"{") && wire::is_json(body) {
        true => Error::from(A2aError::from_http(head.status.as_u16(), body)),
        false => transport::status_error(head.status),
    };
    error.with_head(head)
}

fn event(json: &[u8]) -> Result<StreamResponse> {
    match wire::read_event(json) {
        Ok(event) => Ok(event),
        Err(error @ ReplyError::Empty) => {
            Err(A2aError::from_frame(json).map_or_else(|| error.into(), Error::from))
        }
        Err(error) => Err(error.into()),
    }
}

/// The frames of a stream: one event each.
struct Bare;

impl Frames for Bare {
    fn read(&self, frame: Event<'_>) -> Result<StreamResponse> {
        event(frame.data.as_bytes())
    }
}

//! The JSON-RPC binding.

use std::sync::atomic::{AtomicU64, Ordering};

use a2a_proto::v1::StreamResponse;
use a2a_proto::wire::jsonrpc::{self, Id, Outcome};
use a2a_proto::wire::sse::Event;
use a2a_proto::wire::{self, Operation, ReplyError};
use a2a_proto::{A2aError, Call, Reply, StreamCall};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, StatusCode};
use reqwest::{Body, Url};

use super::Transport;
use super::http::{self as transport, Http, Request, Response};
use super::sse::{Frames, SseStream};
use crate::error::{Error, Result};
use crate::{CallContext, EventStream};

/// An agent behind a JSON-RPC endpoint.
#[derive(Debug)]
pub(crate) struct JsonRpc {
    http: Http,
    url: Url,
    limit: usize,
    ids: AtomicU64,
}

impl JsonRpc {
    /// The address is used as it is: servers tell `/x` from `/x/`.
    pub(crate) fn new(http: Http, url: &str, limit: usize) -> Result<Self> {
        Ok(Self {
            http,
            url: transport::parse_url(url)?,
            limit,
            ids: AtomicU64::new(1),
        })
    }

    async fn send(
        &self,
        operation: Operation,
        accept: &'static str,
        cx: &mut CallContext,
    ) -> Result<(Id, Response)> {
        let id = Id::from(self.ids.fetch_add(1, Ordering::Relaxed));
        let request = Request {
            verb: Method::POST,
            url: self.url.clone(),
            accept,
            body: Some(jsonrpc::request(&id, &operation)),
            context: cx,
        };
        Ok((id, self.http.send(request).await?))
    }

    /// Reads an answer that is no stream.
    async fn whole(&self, status: StatusCode, body: Body) -> Result<Whole> {
        let body = transport::read(body, self.limit).await?;
        Ok(Whole { status, body })
    }
}

/// A whole answer: an error may come with any status, and a status without an error in it is one by itself.
struct Whole {
    status: StatusCode,
    body: Bytes,
}

impl Whole {
    fn read<T>(&self, id: &Id, result: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let outcome = match jsonrpc::Response::parse(&self.body) {
            Ok(response) if response.answers(id) => response.outcome,
            Ok(_) => return Err(Error::decode("the answer is to another request")),
            Err(_) if !self.status.is_success() => {
                return Err(transport::status_error(self.status));
            }
            Err(error) => return Err(Error::decode("the answer is no JSON-RPC").with_source(error)),
        };
        match outcome {
            Outcome::Result(raw) => result(raw.map_or(b"null", |raw| raw.get().as_bytes())),
            Outcome::Error(error) => Err(Error::from(error)),
        }
    }
}

#[async_trait]
impl Transport for JsonRpc {
    async fn unary(&self, call: Call, cx: &mut CallContext) -> Result<Reply> {
        let operation = Operation::Unary(call);
        let kind = operation.method();
        let (id, response) = self.send(operation, jsonrpc::MEDIA_TYPE, cx).await?;
        let (head, body) = response.into_parts();
        cx.note_activated(&head.headers);
        self.whole(head.status, body)
            .await?
            .read(&id, |json| {
                wire::read_reply(kind, json).map_err(Error::from)
            })
            .map_err(|error| error.with_head(&head))
    }

    async fn stream(&self, call: StreamCall, cx: &mut CallContext) -> Result<EventStream> {
        let (id, response) = self
            .send(call.into(), "text/event-stream, application/json", cx)
            .await?;
        let (head, body) = response.into_parts();
        cx.note_activated(&head.headers);
        // Without a type it is taken for the stream that was asked for.
        let is_stream = transport::has_type(&head.headers, "text/event-stream")
            .unwrap_or_else(|| head.status.is_success());
        if is_stream {
            return Ok(EventStream::new(SseStream::new(
                body,
                self.limit,
                Envelopes::new(id),
            )));
        }
        self.whole(head.status, body)
            .await?
            .read(&id, |json| wire::read_event(json).map_err(Error::from))
            .map(super::one)
            .map_err(|error| error.with_head(&head))
    }
}

/// The frames of a stream: one JSON-RPC answer each.
struct Envelopes {
    id: Id,
    prefix: Vec<u8>,
}

impl Envelopes {
    fn new(id: Id) -> Self {
        let prefix = jsonrpc::result_prefix(&id);
        Self { id, prefix }
    }
}

impl Frames for Envelopes {
    fn read(&self, frame: Event<'_>) -> Result<StreamResponse> {
        let json = frame.data.as_bytes();
        let plain = jsonrpc::plain_result(&self.prefix, json);
        if let Some(event) = plain.and_then(|json| wire::read_event(json).ok()) {
            return Ok(event);
        }
        let response = match jsonrpc::Response::parse(json) {
            Ok(response) => response,
            Err(error) => {
                return Err(match A2aError::from_frame(json) {
                    Some(error) => Error::from(error),
                    None => Error::decode("an event is no JSON-RPC").with_source(error),
                });
            }
        };
        if !response.answers(&self.id) {
            return Err(Error::decode("an event is to another request"));
        }
        match response.outcome {
            Outcome::Result(Some(raw)) => Ok(wire::read_event(raw.get().as_bytes())?),
            Outcome::Result(None) => Err(ReplyError::Empty.into()),
            Outcome::Error(error) => Err(Error::from(error)),
        }
    }
}

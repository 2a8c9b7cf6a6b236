//! The gRPC binding.

mod address;
mod connect;

use std::error::Error as StdError;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use a2a_proto::error::causes;
use a2a_proto::header::Extensions;
use a2a_proto::v1::StreamResponse;
use a2a_proto::wire::ReplyError;
use a2a_proto::{A2aError, Call, Method, Reply, StreamCall};
use async_trait::async_trait;
use futures_core::Stream;
use http::uri::PathAndQuery;
use hyper_util::client::legacy;
use prost::Message;
use tonic::client::Grpc as Calls;
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use self::connect::{Channel, NoGrpc};
use super::Transport;
use crate::builder::Limits;
use crate::error::{Error, Kind, Result};
use crate::{CallContext, EventStream};

pub(crate) use address::Address;

/// An agent behind a gRPC service.
#[derive(Debug)]
pub(crate) struct Grpc {
    calls: Calls<Channel>,
    /// For messages of both directions.
    limit: usize,
}

impl Grpc {
    pub(crate) fn new(address: &Address, limits: &Limits) -> Result<Self> {
        let channel = connect::channel(limits)?;
        let calls = Calls::with_origin(channel, address.origin().clone());
        let limit = limits.message_bytes;
        Ok(Self {
            calls: calls.max_decoding_message_size(limit),
            limit,
        })
    }

    async fn call<M, R>(&self, method: Method, message: M, cx: &mut CallContext) -> Result<R>
    where
        M: Message + 'static,
        R: Message + Default + 'static,
    {
        let mut request = self.request(message, cx)?;
        if let Some(timeout) = cx.timeout() {
            request.set_timeout(timeout);
        }
        let codec = ProstCodec::<M, R>::default();
        let outcome = self.calls.clone().unary(request, path(method), codec).await;
        let response = outcome.map_err(|status| {
            cx.note_activated(status.metadata().as_ref());
            error(status, self.limit)
        })?;
        cx.note_activated(response.metadata().as_ref());
        Ok(response.into_inner())
    }

    async fn open<M>(&self, method: Method, message: M, cx: &mut CallContext) -> Result<EventStream>
    where
        M: Message + 'static,
    {
        let request = self.request(message, cx)?;
        let codec = ProstCodec::<M, StreamResponse>::default();
        let outcome = self
            .calls
            .clone()
            .server_streaming(request, path(method), codec)
            .await;
        let response = outcome.map_err(|status| {
            cx.note_activated(status.metadata().as_ref());
            error(status, self.limit)
        })?;
        cx.note_activated(response.metadata().as_ref());
        let trailing = Arc::new(OnceLock::new());
        let events = Events {
            inner: response.into_inner(),
            limit: self.limit,
            trailing: Arc::clone(&trailing),
        };
        Ok(EventStream::new(events).with_trailing(trailing))
    }

    fn request<M: Message>(&self, message: M, cx: &CallContext) -> Result<Request<M>> {
        let size = message.encoded_len();
        if size > self.limit {
            let text = format!("the message has {size} bytes, the limit is {}", self.limit);
            return Err(Error::refused(A2aError::resource_exhausted(text)));
        }
        let metadata = MetadataMap::from_headers(cx.to_headers()?);
        Ok(Request::from_parts(
            metadata,
            tonic::Extensions::new(),
            message,
        ))
    }
}

#[async_trait]
impl Transport for Grpc {
    async fn unary(&self, call: Call, cx: &mut CallContext) -> Result<Reply> {
        let method = call.method();
        match call {
            Call::SendMessage(request) => self.call(method, request, cx).await.map(Reply::Sent),
            Call::GetTask(request) => self.call(method, request, cx).await.map(Reply::Task),
            Call::CancelTask(request) => self.call(method, request, cx).await.map(Reply::Task),
            Call::ListTasks(request) => self.call(method, request, cx).await.map(Reply::Tasks),
            Call::CreateTaskPushNotificationConfig(request) => {
                self.call(method, request, cx).await.map(Reply::PushConfig)
            }
            Call::GetTaskPushNotificationConfig(request) => {
                self.call(method, request, cx).await.map(Reply::PushConfig)
            }
            Call::ListTaskPushNotificationConfigs(request) => {
                self.call(method, request, cx).await.map(Reply::PushConfigs)
            }
            Call::DeleteTaskPushNotificationConfig(request) => {
                let () = self.call(method, request, cx).await?;
                Ok(Reply::Deleted)
            }
            Call::GetExtendedAgentCard(request) => {
                self.call(method, request, cx).await.map(Reply::Card)
            }
        }
    }

    async fn stream(&self, call: StreamCall, cx: &mut CallContext) -> Result<EventStream> {
        let method = call.method();
        match call {
            StreamCall::SendStreamingMessage(request) => self.open(method, request, cx).await,
            StreamCall::SubscribeToTask(request) => self.open(method, request, cx).await,
        }
    }
}

fn path(method: Method) -> PathAndQuery {
    PathAndQuery::from_static(method.grpc_path())
}

/// The events of a stream.
struct Events {
    inner: Streaming<StreamResponse>,
    limit: usize,
    /// Some agents name the extensions they activated only after the last event.
    trailing: Arc<OnceLock<Extensions>>,
}

impl Events {
    fn note_trailers(&self, trailers: &MetadataMap) {
        let _first_counts = self.trailing.set(Extensions::of(trailers.as_ref()));
    }
}

impl Stream for Events {
    type Item = Result<StreamResponse>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = ready!(Pin::new(&mut self.inner).poll_next(cx));
        Poll::Ready(match item {
            Some(Ok(event)) if event.payload.is_none() => Some(Err(ReplyError::Empty.into())),
            Some(Ok(event)) => Some(Ok(event)),
            Some(Err(status)) => {
                self.note_trailers(status.metadata());
                Some(Err(error(status, self.limit)))
            }
            None => {
                // The end came with the trailers, so that there is nothing to wait for.
                let trailers = pin!(self.inner.trailers()).poll(cx);
                if let Poll::Ready(Ok(Some(trailers))) = trailers {
                    self.note_trailers(&trailers);
                }
                None
            }
        })
    }
}

/// Tells what the agent said from what became of the connection.
fn error(status: Status, limit: usize) -> Error {
    let connects = |error: &(dyn StdError + 'static)| {
        error
            .downcast_ref::<legacy::Error>()
            .is_some_and(legacy::Error::is_connect)
    };
    if causes(&status).any(connects) {
        return Error::new(Kind::Connect).with_source(status);
    }
    let answered = causes(&status).find_map(|error| error.downcast_ref::<NoGrpc>());
    if let Some(http_status) = answered.map(|answer| answer.status) {
        return match http_status.is_success() {
            true => Error::decode("the server does not speak gRPC there").with_source(status),
            false => Error::new(Kind::Status(http_status)).with_source(status),
        };
    }
    if status.source().is_some() {
        return Error::new(Kind::Transport).with_source(status);
    }
    // What tonic makes of an answer without a status has no type of its own; these texts are all there is to go by.
    let text = status.message();
    if text.contains("missing grpc-status trailer") {
        return Error::new(Kind::Transport).with_source(status);
    }
    let too_large = status.code() == Code::OutOfRange && text.contains("message length too large");
    // No request is sent that is beyond this limit: it was the answer.
    if too_large
        && status
            .message()
            .contains(&format!("limit is: {limit} bytes"))
    {
        return Error::decode("the answer is larger than this client's limit").with_source(status);
    }
    if too_large {
        return Error::from(A2aError::resource_exhausted(status.message()));
    }
    Error::from(A2aError::from(&status))
}

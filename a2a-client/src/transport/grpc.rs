//! The gRPC binding.

mod address;
mod connect;

use std::error::Error as StdError;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use a2a_proto::header::{A2A_EXTENSIONS, A2A_VERSION, Extensions, Version};
use a2a_proto::v1::StreamResponse;
use a2a_proto::wire::ReplyError;
use a2a_proto::{A2aError, Call, Method, Reply, StreamCall};
use async_trait::async_trait;
use futures_core::Stream;
use http::HeaderValue;
use http::uri::PathAndQuery;
use hyper_util::client::legacy;
use prost::Message;
use tonic::client::Grpc as Calls;
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use self::connect::Channel;
use super::Transport;
use crate::builder::Limits;
use crate::error::{Error, Kind, Result, sources};
use crate::{CallContext, EventStream};

pub(crate) use address::Address;

/// An agent behind a gRPC service.
#[derive(Debug)]
pub(crate) struct Grpc(Calls<Channel>);

impl Grpc {
    pub(crate) fn new(address: &Address, limits: &Limits) -> Result<Self> {
        let channel = connect::channel(limits)?;
        let calls = Calls::with_origin(channel, address.origin().clone());
        Ok(Self(calls.max_decoding_message_size(limits.message_bytes)))
    }

    async fn call<M, R>(&self, method: Method, message: M, cx: &mut CallContext) -> Result<R>
    where
        M: Message + 'static,
        R: Message + Default + 'static,
    {
        let mut request = request(message, cx)?;
        if let Some(timeout) = cx.timeout() {
            request.set_timeout(timeout);
        }
        let codec = ProstCodec::<M, R>::default();
        let outcome = self.0.clone().unary(request, path(method), codec).await;
        let response = outcome.map_err(|status| {
            note_activated(status.metadata(), cx);
            Error::from(status)
        })?;
        note_activated(response.metadata(), cx);
        Ok(response.into_inner())
    }

    async fn open<M>(&self, method: Method, message: M, cx: &mut CallContext) -> Result<EventStream>
    where
        M: Message + 'static,
    {
        let request = request(message, cx)?;
        let codec = ProstCodec::<M, StreamResponse>::default();
        let outcome = self
            .0
            .clone()
            .server_streaming(request, path(method), codec)
            .await;
        let response = outcome.map_err(Error::from)?;
        note_activated(response.metadata(), cx);
        Ok(EventStream::new(Events(response.into_inner())))
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

fn request<M>(message: M, cx: &CallContext) -> Result<Request<M>> {
    let bad_uri = |uri: &str| Error::builder(format!("{uri} can't stand in a header"));
    let mut headers = cx.headers().clone();
    if let Ok(version) = HeaderValue::try_from(Version::V1_0.to_string()) {
        headers.insert(A2A_VERSION, version);
    }
    for uri in cx.extensions().iter() {
        headers.append(
            A2A_EXTENSIONS,
            HeaderValue::try_from(uri).map_err(|_| bad_uri(uri))?,
        );
    }
    let metadata = MetadataMap::from_headers(headers);
    Ok(Request::from_parts(
        metadata,
        tonic::Extensions::new(),
        message,
    ))
}

fn note_activated(metadata: &MetadataMap, cx: &mut CallContext) {
    let activated = Extensions::of(metadata.as_ref());
    cx.activated_extensions_mut().extend(activated.iter());
}

/// The events of a stream; a status that the connection and not the agent gave is a broken connection.
struct Events(Streaming<StreamResponse>);

impl Stream for Events {
    type Item = Result<StreamResponse>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(match ready!(Pin::new(&mut self.0).poll_next(cx)) {
            Some(Ok(event)) if event.payload.is_none() => Some(Err(ReplyError::Empty.into())),
            Some(Ok(event)) => Some(Ok(event)),
            Some(Err(status)) => Some(Err(Error::from(status))),
            None => None,
        })
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let connects = |error: &(dyn StdError + 'static)| {
            error
                .downcast_ref::<legacy::Error>()
                .is_some_and(legacy::Error::is_connect)
        };
        if sources(&status).any(connects) {
            return Self::new(Kind::Connect).with_source(status);
        }
        if status.source().is_some() {
            return Self::new(Kind::Transport).with_source(status);
        }
        // Only what was received has metadata.
        let is_local = status.metadata().is_empty();
        match status.code() {
            Code::OutOfRange if is_local => {
                Self::decode("the answer is larger than this client's limit").with_source(status)
            }
            Code::OutOfRange if status.message().contains("message length too large") => {
                Self::from(A2aError::resource_exhausted(status.message()))
            }
            _ => Self::from(A2aError::from(&status)),
        }
    }
}

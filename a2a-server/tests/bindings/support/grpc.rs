//! A gRPC client that sends and takes bytes, so that it can also send wrong ones.

use std::net::SocketAddr;

use a2a_proto::wire::Operation;
use a2a_proto::{A2aError, Call, StreamCall};
use bytes::{Buf as _, BufMut as _, Bytes};
use prost::Message as _;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder, Streaming};
use tonic::metadata::AsciiMetadataKey;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};

pub async fn channel(address: SocketAddr) -> Channel {
    let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
    endpoint.connect().await.unwrap()
}

/// Calls a method and gives its stream, also of one that answers once.
pub async fn open(
    channel: Channel,
    path: &'static str,
    headers: &[(&str, &str)],
    message: impl Into<Bytes>,
) -> Result<Response<Streaming<Bytes>>, Status> {
    let mut request = Request::new(message.into());
    for (name, value) in headers {
        let name: AsciiMetadataKey = name.parse().unwrap();
        request.metadata_mut().append(name, value.parse().unwrap());
    }
    let mut grpc = tonic::client::Grpc::new(channel).max_decoding_message_size(usize::MAX);
    grpc.ready().await.unwrap();
    grpc.server_streaming(request, path.parse().unwrap(), Raw)
        .await
}

/// Makes a call and reads all of its answer.
pub async fn call(
    address: SocketAddr,
    operation: &Operation,
    headers: &[(&str, &str)],
) -> Result<(), A2aError> {
    let path = operation.method().grpc_path();
    let opened = open(channel(address).await, path, headers, encode(operation)).await;
    let mut messages = opened
        .map_err(|status| A2aError::from(&status))?
        .into_inner();
    loop {
        match messages.message().await {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(()),
            Err(status) => return Err(A2aError::from(&status)),
        }
    }
}

pub fn encode(operation: &Operation) -> Vec<u8> {
    match operation {
        Operation::Unary(call) => match call {
            Call::SendMessage(request) => request.encode_to_vec(),
            Call::GetTask(request) => request.encode_to_vec(),
            Call::ListTasks(request) => request.encode_to_vec(),
            Call::CancelTask(request) => request.encode_to_vec(),
            Call::CreateTaskPushNotificationConfig(request) => request.encode_to_vec(),
            Call::GetTaskPushNotificationConfig(request) => request.encode_to_vec(),
            Call::ListTaskPushNotificationConfigs(request) => request.encode_to_vec(),
            Call::DeleteTaskPushNotificationConfig(request) => request.encode_to_vec(),
            Call::GetExtendedAgentCard(request) => request.encode_to_vec(),
        },
        Operation::Stream(call) => match call {
            StreamCall::SendStreamingMessage(request) => request.encode_to_vec(),
            StreamCall::SubscribeToTask(request) => request.encode_to_vec(),
        },
    }
}

struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(message.copy_to_bytes(message.remaining())))
    }
}

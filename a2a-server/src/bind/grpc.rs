//! The gRPC binding (A2A 1.0 §10).

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use a2a_proto::header::{A2A_EXTENSIONS, Extensions};
use a2a_proto::wire::Operation;
use a2a_proto::{A2aError, Binding, Call, Method, StreamCall};
use axum::body::Body;
use bytes::{Buf as _, BufMut as _, Bytes};
use futures_core::Stream;
use http::HeaderMap;
use prost::Message;
use tokio::time::Instant;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{Grpc, ServerStreamingService};

use super::Endpoint;
use super::inbound::{Inbound, Outcome, Refusal};
use super::patience::patient;
use crate::event::EventStream;

pub(crate) async fn serve(
    endpoint: &Endpoint,
    request: http::Request<Body>,
) -> http::Response<Body> {
    let (parts, body) = request.into_parts();
    let Some(method) = Method::from_grpc_path(parts.uri.path()) else {
        let error = A2aError::method_not_found(
            "there is no such method; this endpoint speaks A2A 1.0: lf.a2a.v1.A2AService",
        );
        return respond(Status::from(error).into_http());
    };
    let deadline = deadline(&parts.headers);
    let mut framed = http::Request::new(patient(body, endpoint.limits().idle));
    if let Some(encoding) = parts.headers.get(ENCODING) {
        framed.headers_mut().insert(ENCODING, encoding.clone());
    }
    let inbound = match endpoint.admit(Binding::Grpc, parts).await {
        Ok(inbound) => inbound.with_deadline(deadline),
        Err(refusal) => return respond(refused(refusal).into_http()),
    };
    let limit = endpoint.limits().body_bytes;
    let invoke = Invoke {
        call: Some((method, inbound)),
        limit,
    };
    let mut grpc = Grpc::new(Raw).max_decoding_message_size(limit);
    let response = grpc.server_streaming(invoke, framed).await;
    let too_large = response
        .headers()
        .get(Status::GRPC_STATUS)
        .is_some_and(|code| code == OUT_OF_RANGE);
    respond(if too_large {
        Status::from(too_large_error(limit)).into_http()
    } else {
        response
    })
}

/// One call: its message has been read, and is decoded and answered.
struct Invoke {
    call: Option<(Method, Inbound)>,
    limit: usize,
}

impl ServerStreamingService<Bytes> for Invoke {
    type Response = Bytes;
    type ResponseStream = Frames;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<Frames>, Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let call = self.call.take();
        let limit = self.limit;
        Box::pin(async move {
            let (method, inbound) = call.ok_or_else(|| Status::internal("called twice"))?;
            let mut response = tonic::Response::new(());
            echo(inbound.activated(), response.metadata_mut());
            let message = request.into_inner();
            let checked = inbound.check(Ok(method), |method| decode(method, message))?;
            let frames = match checked.run().await? {
                Outcome::Reply(reply) => Frames::One(Some(fitting(reply.protobuf(), limit)?)),
                Outcome::Events(events) => Frames::Events { events, limit },
            };
            Ok(response.map(|()| frames))
        })
    }
}

/// Reads the request of a method.
pub(crate) fn decode(method: Method, message: Bytes) -> Result<Operation, A2aError> {
    let call = match method {
        Method::SendMessage => Call::SendMessage(read(message)?),
        Method::GetTask => Call::GetTask(read(message)?),
        Method::ListTasks => {
            let mut request: a2a_proto::v1::ListTasksRequest = read(message)?;
            // Some clients always send it, 0 when unset.
            request.page_size = request.page_size.filter(|size| *size != 0);
            Call::ListTasks(request)
        }
        Method::CancelTask => Call::CancelTask(read(message)?),
        Method::CreateTaskPushNotificationConfig => {
            Call::CreateTaskPushNotificationConfig(read(message)?)
        }
        Method::GetTaskPushNotificationConfig => {
            Call::GetTaskPushNotificationConfig(read(message)?)
        }
        Method::ListTaskPushNotificationConfigs => {
            Call::ListTaskPushNotificationConfigs(read(message)?)
        }
        Method::DeleteTaskPushNotificationConfig => {
            Call::DeleteTaskPushNotificationConfig(read(message)?)
        }
        Method::GetExtendedAgentCard => Call::GetExtendedAgentCard(read(message)?),
        Method::SendStreamingMessage => {
            return Ok(StreamCall::SendStreamingMessage(read(message)?).into());
        }
        Method::SubscribeToTask => {
            return Ok(StreamCall::SubscribeToTask(read(message)?).into());
        }
    };
    Ok(call.into())
}

fn read<M: Message + Default>(message: Bytes) -> Result<M, A2aError> {
    M::decode(message).map_err(|error| {
        A2aError::invalid_params("the message is not the protobuf that this method takes")
            .with_source(error)
    })
}

/// What goes out: one message, or events as they come.
enum Frames {
    One(Option<Bytes>),
    Events { events: EventStream, limit: usize },
}

impl Stream for Frames {
    type Item = Result<Bytes, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.get_mut() {
            Self::One(message) => Poll::Ready(message.take().map(Ok)),
            Self::Events { events, limit } => {
                let event = std::task::ready!(Pin::new(events).poll_next(cx));
                Poll::Ready(event.map(|event| Ok(fitting(event?.protobuf(), *limit)?)))
            }
        }
    }
}

/// Messages go in and out as bytes: events are encoded once for all who read them.
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

fn fitting(message: Bytes, limit: usize) -> Result<Bytes, A2aError> {
    if message.len() <= limit {
        Ok(message)
    } else {
        Err(too_large_error(limit))
    }
}

fn too_large_error(limit: usize) -> A2aError {
    A2aError::resource_exhausted(format!("the message is larger than {limit} bytes"))
}

fn refused(refusal: Refusal) -> Status {
    let mut status = Status::from(refusal.error);
    if let Some(challenge) = refusal.challenge
        && let Ok(challenge) = challenge.as_bytes().try_into()
    {
        status.metadata_mut().insert("www-authenticate", challenge);
    }
    status
}

/// One comma list, as the other SDKs write it here.
fn echo(activated: &Extensions, metadata: &mut tonic::metadata::MetadataMap) {
    if !activated.is_empty()
        && let Ok(list) = activated.to_string().parse()
    {
        metadata.insert(A2A_EXTENSIONS, list);
    }
}

/// When the caller stops waiting: tonic reads `grpc-timeout` in its own server only.
fn deadline(headers: &HeaderMap) -> Option<Instant> {
    let timeout = parse_timeout(headers.get("grpc-timeout")?.to_str().ok()?)?;
    Instant::now().checked_add(timeout)
}

/// At most eight digits and a unit.
fn parse_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let amount = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount * 3600)),
        "M" => Some(Duration::from_secs(amount * 60)),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

fn respond(response: http::Response<tonic::body::Body>) -> http::Response<Body> {
    response.map(Body::new)
}

const ENCODING: &str = "grpc-encoding";
const OUT_OF_RANGE: &str = "11";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_read_in_every_unit_and_nothing_else_is() {
        for (text, nanos) in [
            ("2H", 7_200_000_000_000),
            ("1M", 60_000_000_000),
            ("99999999S", 99_999_999_000_000_000),
            ("5m", 5_000_000),
            ("7u", 7_000),
            ("9n", 9),
        ] {
            assert_eq!(
                parse_timeout(text),
                Some(Duration::from_nanos(nanos)),
                "{text}"
            );
        }
        for text in ["", "S", "5", "-1S", "+1S", "1.5S", "999999999S", "5s", "5é"] {
            assert_eq!(parse_timeout(text), None, "{text}");
        }
    }
}

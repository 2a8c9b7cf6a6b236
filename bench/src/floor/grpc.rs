//! gRPC by tonic and prost: a service of four methods, put together as generated code does it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use a2a_proto::v1::{
    Artifact, GetTaskRequest, Message, Part, SendMessageRequest, SendMessageResponse,
    StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use futures::stream::{self, BoxStream};
use futures::{FutureExt as _, StreamExt as _};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{Grpc, NamedService, ServerStreamingService, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::{ID, TIME};
use crate::Result;
use crate::load::Order;

pub(super) async fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let server = Server::builder().add_service(Floor);
    tokio::spawn(async move { server.serve_with_incoming(incoming).await });
    Ok(address.to_string())
}

#[derive(Clone)]
struct Floor;

impl NamedService for Floor {
    const NAME: &'static str = a2a_proto::method::SERVICE;
}

impl Service<http::Request<Body>> for Floor {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        async move {
            let method = request.uri().path().rsplit('/').next().unwrap_or_default();
            Ok(match method {
                "SendMessage" => codec().unary(Sending, request).await,
                "GetTask" => codec().unary(Get, request).await,
                "SendStreamingMessage" => codec().server_streaming(Stream, request).await,
                _ => Status::unimplemented("no such method").into_http(),
            })
        }
        .boxed()
    }
}

fn codec<T, U>() -> Grpc<ProstCodec<T, U>>
where
    T: prost::Message + Default + 'static,
    U: prost::Message + Default + 'static,
{
    Grpc::new(ProstCodec::default()).max_decoding_message_size(16 << 20)
}

struct Sending;

impl UnaryService<SendMessageRequest> for Sending {
    type Response = SendMessageResponse;
    type Future = BoxFuture<Response<SendMessageResponse>, Status>;

    fn call(&mut self, request: Request<SendMessageRequest>) -> Self::Future {
        let message = request.into_inner().message.unwrap_or_default();
        async move { Ok(Response::new(done(message).into())) }.boxed()
    }
}

struct Get;

impl UnaryService<GetTaskRequest> for Get {
    type Response = Task;
    type Future = BoxFuture<Response<Task>, Status>;

    fn call(&mut self, _: Request<GetTaskRequest>) -> Self::Future {
        static STORED: LazyLock<Task> = LazyLock::new(|| done(Message::user("artifacts 100")));
        // tonic wants a message of its own.
        async { Ok(Response::new(STORED.clone())) }.boxed()
    }
}

struct Stream;

impl ServerStreamingService<SendMessageRequest> for Stream {
    type Response = StreamResponse;
    type ResponseStream = BoxStream<'static, Result<StreamResponse, Status>>;
    type Future = BoxFuture<Response<Self::ResponseStream>, Status>;

    fn call(&mut self, request: Request<SendMessageRequest>) -> Self::Future {
        let message = request.into_inner().message.unwrap_or_default();
        async move { Ok(Response::new(events(message))) }.boxed()
    }
}

fn events(message: Message) -> BoxStream<'static, Result<StreamResponse, Status>> {
    let text = message.text();
    let (count, ends) = match Order::read(&text) {
        Order::Stream(count) | Order::Gated(count) => (count, true),
        Order::Idle => (0, false),
        _ => (1, true),
    };
    let mut submitted = done(message);
    submitted.artifacts.clear();
    submitted.status = Some(status(TaskState::Submitted));
    let first = stream::iter([StreamResponse::from(submitted)]);
    let chunks = stream::iter(0..count).map(|index| chunk("token ", index > 0, false));
    let end = TaskStatusUpdateEvent {
        task_id: ID.to_owned(),
        context_id: ID.to_owned(),
        status: Some(status(TaskState::Completed)),
        metadata: None,
    };
    let last =
        stream::iter(ends.then(|| [chunk("", true, true), end.into()])).flat_map(stream::iter);
    let rest =
        stream::iter((!ends).then_some(())).then(|()| futures::future::pending::<StreamResponse>());
    first.chain(chunks).chain(last).chain(rest).map(Ok).boxed()
}

fn done(mut message: Message) -> Task {
    let text = message.text();
    message.context_id = ID.to_owned();
    message.task_id = ID.to_owned();
    let artifacts = match Order::read(&text) {
        Order::Echo(text) => vec![Artifact::new(ID, [Part::text(text)])],
        Order::Stream(count) => {
            let mut parts = vec![Part::text("token "); count];
            parts.push(Part::text(""));
            vec![Artifact::new(ID, parts)]
        }
        Order::Artifacts(count) => (0..count)
            .map(|_| Artifact::new(ID, [Part::text("x".repeat(64))]))
            .collect(),
        _ => Vec::new(),
    };
    Task {
        id: ID.to_owned(),
        context_id: ID.to_owned(),
        status: Some(status(TaskState::Completed)),
        artifacts,
        history: vec![message],
        metadata: None,
    }
}

fn status(state: TaskState) -> TaskStatus {
    TaskStatus {
        state: state.into(),
        message: None,
        timestamp: TIME.parse().ok(),
    }
}

fn chunk(text: &str, append: bool, last_chunk: bool) -> StreamResponse {
    TaskArtifactUpdateEvent {
        task_id: ID.to_owned(),
        context_id: ID.to_owned(),
        artifact: Some(Artifact::new(ID, [Part::text(text)])),
        append,
        last_chunk,
        metadata: None,
    }
    .into()
}

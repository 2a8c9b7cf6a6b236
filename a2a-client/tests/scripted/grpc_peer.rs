//! A gRPC server whose frames are prepared, trailers and all.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use a2a_client::proto::v1::{
    AgentCapabilities, AgentCard, StreamResponse, Task, TaskState, TaskStatus,
};
use a2a_client::{Binding, Client};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;
use tonic::Status;

pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) message: Bytes,
}

/// An answer: its headers and the frames of its body.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) frames: Frames,
}

#[derive(Default)]
pub(crate) struct Frames(pub(crate) VecDeque<Part>);

pub(crate) enum Part {
    Frame(io::Result<Frame<Bytes>>),
    /// Goes on once the test says so.
    Gate(oneshot::Receiver<()>),
}

impl Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(Part::Gate(gate)) = self.0.front_mut() {
            let _ = ready!(Pin::new(gate).poll(cx));
            self.0.pop_front();
        }
        match self.0.pop_front() {
            Some(Part::Frame(frame)) => Poll::Ready(Some(frame)),
            Some(Part::Gate(_)) => panic!("two gates in a row"),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }
}

pub(crate) fn message(message: &impl prost::Message) -> io::Result<Frame<Bytes>> {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.encoded_len()).unwrap());
    message.encode(&mut frame).unwrap();
    Ok(Frame::data(frame.freeze()))
}

pub(crate) fn trailers(status: Status) -> HeaderMap {
    let mut headers = HeaderMap::new();
    status.add_header(&mut headers).unwrap();
    headers
}

/// Messages, then the status.
pub(crate) fn answer(
    messages: impl IntoIterator<Item = io::Result<Frame<Bytes>>>,
    status: Status,
) -> Answer {
    let end = Ok(Frame::trailers(trailers(status)));
    Answer {
        status: StatusCode::OK,
        headers: HeaderMap::new(),
        frames: Frames(messages.into_iter().chain([end]).map(Part::Frame).collect()),
    }
}

pub(crate) fn ok() -> Status {
    Status::ok("")
}

pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) seen: mpsc::Receiver<Seen>,
    server: JoinHandle<()>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Peer {
    pub(crate) async fn start(script: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script: Arc<Mutex<VecDeque<Answer>>> =
            Arc::new(Mutex::new(script.into_iter().collect()));
        let (sender, seen) = mpsc::channel(1024);
        let server = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (script, sender) = (Arc::clone(&script), sender.clone());
                let service =
                    service_fn(move |request| serve(request, Arc::clone(&script), sender.clone()));
                let connection = http2::Builder::new(TokioExecutor::new());
                connections.spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self {
            address,
            seen,
            server,
        }
    }

    /// With an address as a card should write it.
    pub(crate) fn client(&self) -> Client {
        let mut interface =
            a2a_client::proto::v1::AgentInterface::new(self.address.to_string(), Binding::Grpc);
        interface.tenant = "ns/agent".to_owned();
        let card = AgentCard {
            supported_interfaces: vec![interface],
            capabilities: Some(AgentCapabilities {
                streaming: Some(true),
                push_notifications: Some(true),
                ..AgentCapabilities::default()
            }),
            ..AgentCard::default()
        };
        Client::from_card(card)
            .unwrap()
            .with_extension("u1")
            .with_extension("u2")
    }
}

async fn serve(
    request: http::Request<Incoming>,
    script: Arc<Mutex<VecDeque<Answer>>>,
    seen: mpsc::Sender<Seen>,
) -> Result<Response<Frames>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let request = Seen {
        path: head.uri.path().to_owned(),
        headers: head.headers,
        message: body.slice(body.len().min(5)..),
    };
    let _ = seen.send(request).await;
    let answer = script
        .lock()
        .await
        .pop_front()
        .expect("an answer in the script");
    let mut response = Response::new(answer.frames);
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
        .headers_mut()
        .entry("content-type")
        .or_insert("application/grpc".parse().unwrap());
    Ok(response)
}

pub(crate) fn task(state: TaskState) -> Task {
    let mut task = Task::submitted("t", "c");
    task.status = Some(TaskStatus::new(state));
    task
}

pub(crate) fn event(event: impl Into<StreamResponse>) -> io::Result<Frame<Bytes>> {
    message(&event.into())
}

//! One connection from its accept to its end.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::{HttpService, Tasks};
use crate::limits::Limits;

/// Accepts connections until the server stops.
pub(super) async fn accept<S: HttpService>(
    listener: TcpListener,
    service: S,
    limits: Limits,
    tasks: Tasks,
) {
    let builder = builder(&limits, &tasks);
    loop {
        let accepted = tokio::select! {
            () = tasks.stopping.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                // Events are small and must not wait for more.
                let _ = stream.set_nodelay(true);
                tasks.spawn(serve(
                    stream,
                    builder.clone(),
                    service.clone(),
                    limits.first_request,
                    tasks.stopping.clone(),
                ));
            }
            Err(error) if is_of_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// The caller is gone already; the listener is well.
fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

fn builder(limits: &Limits, tasks: &Tasks) -> Builder<Tasks> {
    let mut builder = Builder::new(tasks.clone());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_buf_size(usize::max(limits.header_bytes as usize, SMALLEST_BUFFER));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(limits.header_bytes)
        .max_concurrent_streams(limits.streams_per_connection)
        .keep_alive_interval(limits.ping_interval)
        .keep_alive_timeout(limits.ping_timeout);
    builder
}

async fn serve<S: HttpService>(
    stream: TcpStream,
    builder: Builder<Tasks>,
    service: S,
    first_request: Duration,
    stopping: CancellationToken,
) {
    let begun = CancellationToken::new();
    let stream = TokioIo::new(Opening::new(stream, begun.clone()));
    let first = begun.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        first.cancel();
        // Neither the endpoint nor a router has to be asked whether it is ready.
        service.clone().call(request.map(Body::new))
    });
    let mut connection = pin!(builder.serve_connection(stream, service));
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = silence(&begun, first_request) => return tracing::debug!("a connection sent no request in time"),
    };
    if let Err(error) = result {
        tracing::debug!(error = &*error, "a connection broke");
    }
}

/// Ends when the connection has been silent for too long at its start; hyper-util waits for its first bytes for ever.
async fn silence(begun: &CancellationToken, limit: Duration) {
    if tokio::time::timeout(limit, begun.cancelled()).await.is_ok() {
        std::future::pending().await
    }
}

/// Runs HTTP/2 streams as tasks that the server owns.
impl<F> Executor<F> for Tasks
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, task: F) {
        self.spawn(task);
    }
}

/// A stream that notices when a whole HTTP/2 preface has come: from then on pings show whether the peer is alive.
struct Opening {
    stream: TcpStream,
    /// What the preface still lacks; `None` once it is there or can't come any more.
    expected: Option<&'static [u8]>,
    begun: CancellationToken,
}

impl Opening {
    fn new(stream: TcpStream, begun: CancellationToken) -> Self {
        Self {
            stream,
            expected: Some(PREFACE),
            begun,
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        let Some(expected) = self.expected else {
            return;
        };
        let seen = bytes.len().min(expected.len());
        let (now, later) = expected.split_at(seen);
        self.expected = bytes.starts_with(now).then_some(later);
        if later.is_empty() && self.expected.take().is_some() {
            self.begun.cancel();
        }
    }
}

impl AsyncRead for Opening {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = out.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, out))?;
        self.read(out.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Opening {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The start of every HTTP/2 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What hyper needs to read at all.
const SMALLEST_BUFFER: usize = 8 * 1024;

/// How long accepting rests when the system has no more sockets.
const PAUSE: Duration = Duration::from_secs(1);

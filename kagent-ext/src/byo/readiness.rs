//! `/readyz` on a listener of its own, on every address of both families (kagent contract 1.1).

use std::convert::Infallible;
use std::future::ready;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::ByoError;
use super::socket::{Reach, bind_families, listen};

/// Answers as long as it lives.
#[derive(Debug)]
pub(super) struct Readiness {
    addrs: Vec<SocketAddr>,
    listeners: Mutex<JoinSet<()>>,
}

impl Readiness {
    /// Listens on these addresses of IPv4 and IPv6. A machine that lacks one of them is served on the other.
    pub(super) fn bind(families: [IpAddr; 2], port: u16) -> Result<Self, ByoError> {
        let listen = |addr| listen(addr, Reach::OwnFamily);
        let bound = bind_families(families, port, listen)
            .map_err(|source| ByoError::Readiness { port, source })?;
        let mut listeners = JoinSet::new();
        let mut addrs = Vec::new();
        for listener in bound {
            let addr = listener
                .local_addr()
                .map_err(|source| ByoError::Readiness { port, source })?;
            addrs.push(addr);
            listeners.spawn(serve(listener));
        }
        Ok(Self {
            addrs,
            listeners: Mutex::new(listeners),
        })
    }

    pub(super) fn addrs(&self) -> &[SocketAddr] {
        &self.addrs
    }

    pub(super) async fn stop(&self) {
        self.listeners.lock().await.shutdown().await;
    }
}

async fn serve(listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS {
            connections.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(answer(stream))),
                Err(error) => {
                    tracing::warn!(%error, "no connection to the readiness port can be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Answers one request: a probe that is kept open would outlive a snapshot.
async fn answer(stream: TcpStream) {
    // A probe with a short limit does not wait for the kernel to gather more.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.keep_alive(false)
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME);
    let service = service_fn(|request| ready(Ok::<_, Infallible>(respond(&request))));
    let connection = http.serve_connection(TokioIo::new(stream), service);
    // A probe that breaks off is none of our business.
    let _ = tokio::time::timeout(CONNECTION_TIME, connection).await;
}

fn respond(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let asks = matches!(*request.method(), Method::GET | Method::HEAD);
    if asks && request.uri().path() == "/readyz" {
        return Response::new(Full::from("OK"));
    }
    let mut response = Response::new(Full::from("Not Found"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

const CONNECTIONS: usize = 64;
const PAUSE: Duration = Duration::from_millis(100);
const HEADER_TIME: Duration = Duration::from_secs(5);
const CONNECTION_TIME: Duration = Duration::from_secs(10);

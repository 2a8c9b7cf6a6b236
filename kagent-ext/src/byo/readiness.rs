//! `/readyz` on a listener of its own, on every address of both families (kagent contract 1.1).

use std::convert::Infallible;
use std::future::ready;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::ByoError;

/// Answers as long as it lives.
#[derive(Debug)]
pub(super) struct Readiness {
    addrs: Vec<SocketAddr>,
    listeners: Mutex<JoinSet<()>>,
}

impl Readiness {
    /// Listens on IPv4 and on IPv6. A machine that lacks one of them is served on the other.
    pub(super) fn bind(port: u16) -> Result<Self, ByoError> {
        let bound =
            bind_families(port, listen).map_err(|source| ByoError::Readiness { port, source })?;
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

/// Binds what there is of both families: a missing one is no failure, a taken port is.
fn bind_families<L>(port: u16, listen: impl Fn(SocketAddr) -> io::Result<L>) -> io::Result<Vec<L>> {
    let families = [
        IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    ];
    let mut bound = Vec::new();
    let mut missing = None;
    for family in families {
        match listen(SocketAddr::new(family, port)) {
            Ok(listener) => bound.push(listener),
            Err(error) if is_missing_family(&error) => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    match missing {
        Some(error) if bound.is_empty() => Err(error),
        _ => Ok(bound),
    }
}

fn is_missing_family(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::AddrNotAvailable | ErrorKind::Unsupported
    ) || error.raw_os_error() == Some(EAFNOSUPPORT)
}

/// The IPv6 listener takes IPv6 only, so that it does not stand in the way of the other.
fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if addr.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // Elsewhere than on Unix the option would let two processes share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
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

const BACKLOG: i32 = 128;
const CONNECTIONS: usize = 64;
const PAUSE: Duration = Duration::from_millis(100);
const HEADER_TIME: Duration = Duration::from_secs(5);
const CONNECTION_TIME: Duration = Duration::from_secs(10);

/// The system knows no such address family; `ErrorKind` has no name for it.
const EAFNOSUPPORT: i32 = if cfg!(windows) {
    10_047
} else if cfg!(any(target_os = "linux", target_os = "android")) {
    97
} else {
    47
};

#[cfg(test)]
mod tests {
    use super::*;

    fn v6_fails(error: i32) -> impl Fn(SocketAddr) -> io::Result<SocketAddr> {
        move |addr| match addr {
            SocketAddr::V4(_) => Ok(addr),
            SocketAddr::V6(_) => Err(io::Error::from_raw_os_error(error)),
        }
    }

    #[test]
    fn a_missing_address_family_is_no_failed_bind() {
        let bound = bind_families(1, v6_fails(EAFNOSUPPORT)).unwrap();
        assert_eq!(bound, ["0.0.0.0:1".parse::<SocketAddr>().unwrap()]);
        let unavailable = |addr: SocketAddr| {
            if addr.is_ipv4() {
                Err(ErrorKind::AddrNotAvailable.into())
            } else {
                Ok(addr)
            }
        };
        assert_eq!(
            bind_families(1, unavailable).unwrap(),
            ["[::]:1".parse::<SocketAddr>().unwrap()]
        );
    }

    #[test]
    fn without_any_address_family_the_bind_fails() {
        let none = |_| Err::<(), _>(io::Error::from(ErrorKind::AddrNotAvailable));
        assert_eq!(
            bind_families(1, none).unwrap_err().kind(),
            ErrorKind::AddrNotAvailable
        );
    }

    #[test]
    fn a_taken_port_is_a_failed_bind() {
        let taken = |addr: SocketAddr| {
            if addr.is_ipv4() {
                Ok(addr)
            } else {
                Err(ErrorKind::AddrInUse.into())
            }
        };
        assert_eq!(
            bind_families(1, taken).unwrap_err().kind(),
            ErrorKind::AddrInUse
        );
    }
}

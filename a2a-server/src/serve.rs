//! The listener: all bindings on one port, HTTP/1.1 and HTTP/2 without TLS.

mod connection;

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use a2a_proto::error::WithCauses;
use axum::body::Body;
use http::{Request, Response};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service;

use crate::agent::BuildError;
use crate::bind::Endpoint;
use crate::limits::Limits;
use crate::router::EndpointService;

impl Endpoint {
    /// Listens on an address such as `127.0.0.1:0` and serves until the [`Server`] is dropped or shut down.
    ///
    /// # Errors
    ///
    /// When the address can't be listened on.
    pub async fn bind(&self, address: impl fmt::Display) -> Result<Server, ServeError> {
        self.listen(address, |service| service).await
    }

    /// Serves on a listener that is bound already, such as one that was made with options of its own or handed over by a
    /// supervisor, until the [`Server`] is dropped or shut down.
    ///
    /// # Errors
    ///
    /// When the listener's address can't be told.
    pub fn serve(&self, listener: TcpListener) -> Result<Server, ServeError> {
        self.serve_on(listener, |service| service)
    }

    /// Listens as [`bind`](Self::bind) does, with what an application adds: tower layers, or routes of its own.
    ///
    /// Without an own route a path is the endpoint's; layers see gRPC as well.
    ///
    /// # Errors
    ///
    /// When the address can't be listened on.
    pub async fn bind_with(
        &self,
        address: impl fmt::Display,
        build: impl FnOnce(axum::Router) -> axum::Router,
    ) -> Result<Server, ServeError> {
        self.listen(address, |service| build(service.into_router()))
            .await
    }

    /// Serves on a listener as [`serve`](Self::serve) does, with what an application adds: see
    /// [`bind_with`](Self::bind_with).
    ///
    /// # Errors
    ///
    /// When the listener's address can't be told.
    pub fn serve_with(
        &self,
        listener: TcpListener,
        build: impl FnOnce(axum::Router) -> axum::Router,
    ) -> Result<Server, ServeError> {
        self.serve_on(listener, |service| build(service.into_router()))
    }

    fn serve_on<S: HttpService>(
        &self,
        listener: TcpListener,
        build: impl FnOnce(EndpointService) -> S,
    ) -> Result<Server, ServeError> {
        let limits = self.limits().clone();
        serve(listener, vec![self.clone()], limits, |bound| {
            build(EndpointService::new(self.clone(), Some(bound)))
        })
        .map_err(|source| ServeError::listen("the listener's", source))
    }

    async fn listen<S: HttpService>(
        &self,
        address: impl fmt::Display,
        build: impl FnOnce(EndpointService) -> S,
    ) -> Result<Server, ServeError> {
        let limits = self.limits().clone();
        listen(address, vec![self.clone()], limits, |bound| {
            build(EndpointService::new(self.clone(), Some(bound)))
        })
        .await
    }
}

/// Listens and serves what is built for the bound address.
pub(crate) async fn listen<S: HttpService>(
    address: impl fmt::Display,
    endpoints: Vec<Endpoint>,
    limits: Limits,
    build: impl FnOnce(SocketAddr) -> S,
) -> Result<Server, ServeError> {
    let address = address.to_string();
    let fault = |source| ServeError::listen(&address, source);
    let listener = TcpListener::bind(&*address).await.map_err(fault)?;
    serve(listener, endpoints, limits, build).map_err(fault)
}

/// Serves what is built for the address of the listener.
fn serve<S: HttpService>(
    listener: TcpListener,
    endpoints: Vec<Endpoint>,
    limits: Limits,
    build: impl FnOnce(SocketAddr) -> S,
) -> io::Result<Server> {
    let local_addr = listener.local_addr()?;
    let service = build(local_addr);
    let tasks = Tasks::default();
    let grace = limits.grace;
    tasks.spawn(connection::accept(listener, service, limits, tasks.clone()));
    // From here on waiting ends when the last task has.
    tasks.tracker.close();
    tracing::info!(%local_addr, "listening");
    Ok(Server {
        endpoints,
        grace,
        local_addr,
        tasks,
    })
}

/// What is served: the endpoint's own service, or a router around it.
pub(crate) trait HttpService:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> HttpService for S where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A server that runs. Dropped, it stops at once: open connections are cut.
#[must_use = "a server stops when it is dropped"]
pub struct Server {
    endpoints: Vec<Endpoint>,
    grace: Duration,
    local_addr: SocketAddr,
    tasks: Tasks,
}

/// The tasks of a server, all of which it owns.
#[derive(Clone, Default)]
struct Tasks {
    tracker: TaskTracker,
    /// No new connections, and the open ones end when their calls have.
    stopping: CancellationToken,
    /// All ends now.
    killed: CancellationToken,
}

impl Server {
    /// The address that is listened on, with the port that the system chose for port 0.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Waits until the server has stopped: after a [`shutdown`](Self::shutdown) from elsewhere.
    ///
    /// # Cancel safety
    ///
    /// Waiting may be given up and taken up again.
    pub async fn wait(&self) {
        self.tasks.tracker.wait().await;
    }

    /// Stops: accepts no more connections, has open streams and calls end, and cuts off after
    /// [`grace`](crate::Limits::grace) what has not.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the server goes on stopping but cuts nothing off; a second call does.
    pub async fn shutdown(&self) {
        self.tasks.stopping.cancel();
        // None takes a call any more while another still stops.
        self.endpoints.iter().for_each(Endpoint::refuse);
        all(self.endpoints.iter().map(Endpoint::shutdown)).await;
        if tokio::time::timeout(self.grace, self.wait()).await.is_err() {
            tracing::warn!("connections are cut that did not end by themselves");
            self.tasks.killed.cancel();
            self.wait().await;
        }
    }
}

/// Waits for all of them at once.
async fn all(futures: impl IntoIterator<Item = impl Future<Output = ()>>) {
    let mut waiting: Vec<_> = futures.into_iter().map(Box::pin).collect();
    poll_fn(|cx| {
        waiting.retain_mut(|future| future.as_mut().poll(cx).is_pending());
        match waiting.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tasks.killed.cancel();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("local_addr", &self.local_addr)
            .finish_non_exhaustive()
    }
}

impl Tasks {
    /// Starts a task that ends with the server at the latest.
    fn spawn(&self, task: impl Future<Output: Send> + Send + 'static) {
        let killed = self.killed.clone();
        self.tracker.spawn(async move {
            killed.run_until_cancelled(task).await;
        });
    }
}

/// Why a server could not be started.
pub struct ServeError(Fault);

enum Fault {
    Build(BuildError),
    Listen { address: String, source: io::Error },
}

impl ServeError {
    fn listen(address: &str, source: io::Error) -> Self {
        let address = address.to_owned();
        Self(Fault::Listen { address, source })
    }
}

impl From<BuildError> for ServeError {
    fn from(error: BuildError) -> Self {
        Self(Fault::Build(error))
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Fault::Build(_) => f.write_str("the agent can't be put together"),
            Fault::Listen { address, source } => {
                write!(f, "can't listen on `{address}`: {}", remedy(source))
            }
        }
    }
}

/// In one line with all causes, as a `main` that returns it prints it.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&WithCauses(self), f)
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Fault::Build(error) => Some(error),
            Fault::Listen { source, .. } => Some(source),
        }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "the port is taken: stop what listens there, or choose another; 0 takes a free one"
        }
        io::ErrorKind::AddrNotAvailable => {
            "no interface of this machine has that address: use 0.0.0.0 for all of them"
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 need a privilege: choose a higher one",
        io::ErrorKind::InvalidInput => "it must be host and port, such as 127.0.0.1:8080",
        _ => "the cause says why",
    }
}

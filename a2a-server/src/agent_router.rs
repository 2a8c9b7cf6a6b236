//! Many agents behind one server.

mod find;
mod nobody;

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use crate::agent::{Agent, BuildError};
use crate::bind::Endpoint;
use crate::limits::Limits;
use crate::router::{EndpointService, ResponseFuture};
use crate::serve::{self, ServeError, Server};

pub(crate) use find::Routed;

/// Many agents behind one server, each with a card, callers, limits and tasks of its own.
///
/// | binding | agent `echo` is reached |
/// |---|---|
/// | the card | at `/echo/.well-known/agent-card.json` |
/// | JSON-RPC | at `/echo`, and at `/` with the tenant `echo` |
/// | HTTP+JSON | below `/echo` |
/// | gRPC | with the tenant `echo` |
///
/// Its card says so. Behind the name a tenant may go on: `echo/acme` is the tenant `acme` of the agent `echo`. Two agents
/// must not share a task store: each would show the tasks of the other.
///
/// ```no_run
/// use a2a_server::{Agent, AgentRouter, executor_fn};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = |answer: &'static str| {
///     Agent::builder(executor_fn(move |_, out| async move { Ok(out.reply(answer).await?) })).build()
/// };
/// let server = AgentRouter::new()
///     .agent("polite", agent("How do you do?")?)
///     .agent("short", agent("Yes?")?)
///     .bind("127.0.0.1:8080")
///     .await?;
/// server.wait().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct AgentRouter {
    agents: Vec<(String, Agent)>,
    fallback: Option<Agent>,
    public_url: Option<String>,
    health_path: Option<String>,
    limits: Limits,
}

impl Default for AgentRouter {
    fn default() -> Self {
        Self::new()
    }
}

impl AgentRouter {
    /// A server of no agent yet.
    pub fn new() -> Self {
        Self {
            agents: Vec::new(),
            fallback: None,
            public_url: None,
            health_path: None,
            limits: Limits::default(),
        }
    }

    /// Adds an agent under a name of letters, digits, `-`, `.`, `_` and `~`.
    ///
    /// The agent's own public URL, where it has one, is taken for its card; its JSON-RPC path stands below the name.
    pub fn agent(mut self, name: impl Into<String>, agent: Agent) -> Self {
        self.agents.push((name.into(), agent));
        self
    }

    /// Sets the agent for what names none of the others: it is reached as if it were alone, with tenants of its own.
    /// Without one such a call is told InvalidParams with the field `tenant`, or 404 at an unknown path.
    pub fn fallback(mut self, agent: Agent) -> Self {
        self.fallback = Some(agent);
        self
    }

    /// Sets the URL under which callers reach this server; that of an agent is below it. Without it cards name the bound
    /// address.
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.public_url = Some(url.into());
        self
    }

    /// Answers GET on this path, such as `/health`, for the whole server.
    pub fn health_path(mut self, path: impl Into<String>) -> Self {
        self.health_path = Some(path.into());
        self
    }

    /// Sets the limits of connections and of the server's shutdown. Those of calls are each agent's.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves all agents on an address such as `127.0.0.1:0`.
    ///
    /// # Errors
    ///
    /// When a name can't be one, or the address can't be listened on.
    pub async fn bind(&self, address: impl fmt::Display) -> Result<Server, ServeError> {
        self.check()?;
        for (_, agent) in &self.agents {
            agent.prepare().await;
        }
        if let Some(agent) = &self.fallback {
            agent.prepare().await;
        }
        let routes = self.routes();
        let endpoints = routes.endpoints();
        let limits = self.limits.clone();
        serve::listen(address, endpoints, limits, |bound| {
            AgentRouterService::new(routes, self.public_url.as_deref(), Some(bound))
        })
        .await
    }

    /// The agents as a tower service, for a server of one's own.
    ///
    /// # Errors
    ///
    /// When a name can't be one.
    pub fn into_service(self) -> Result<AgentRouterService, BuildError> {
        self.check()?;
        let url = self.public_url.as_deref();
        Ok(AgentRouterService::new(self.routes(), url, None))
    }

    fn check(&self) -> Result<(), BuildError> {
        for (index, (name, _)) in self.agents.iter().enumerate() {
            let wrong = |reason| BuildError::AgentName {
                name: name.clone(),
                reason,
            };
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            if name.is_empty() || !name.bytes().all(allowed) {
                return Err(wrong(
                    "it must be of letters, digits, `-`, `.`, `_` and `~`",
                ));
            }
            if RESERVED.contains(&name.as_str()) {
                return Err(wrong("it is a path of the protocol"));
            }
            let before = self.agents.iter().take(index);
            if before.into_iter().any(|(known, _)| known == name) {
                return Err(wrong("another agent has it"));
            }
        }
        Ok(())
    }

    fn routes(&self) -> Routes {
        let largest = self
            .agents
            .iter()
            .map(|(_, agent)| agent.limits().body_bytes.max(agent.limits().http_bytes()));
        let front = self.limits.clone().body_bytes(largest.max().unwrap_or(0));
        Routes {
            agents: self
                .agents
                .iter()
                .map(|(name, agent)| (Arc::from(name.as_str()), agent.endpoint()))
                .collect(),
            fallback: self.fallback.as_ref().map(Agent::endpoint),
            front: nobody::endpoint(front, self.health_path.clone()),
        }
    }
}

/// The endpoints of a router before their cards are known.
struct Routes {
    agents: Vec<(Arc<str>, Endpoint)>,
    fallback: Option<Endpoint>,
    /// Answers for the server as a whole, and to what names no agent.
    front: Endpoint,
}

impl Routes {
    fn endpoints(&self) -> Vec<Endpoint> {
        let agents = self.agents.iter().map(|(_, endpoint)| endpoint);
        let all = agents.chain(&self.fallback).chain([&self.front]);
        all.cloned().collect()
    }
}

/// See [`AgentRouter::into_service`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AgentRouterService(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    agents: Vec<Served>,
    /// Endpoint of what names no agent: the fallback, or one that says so.
    rest: EndpointService,
    front: EndpointService,
    /// Bytes of a body that is read to find its agent.
    largest: usize,
    /// How long such a body may stop coming.
    idle: Duration,
}

#[derive(Debug)]
struct Served {
    name: Arc<str>,
    service: EndpointService,
}

impl AgentRouterService {
    fn new(routes: Routes, public_url: Option<&str>, bound: Option<SocketAddr>) -> Self {
        let front = EndpointService::without_card(routes.front.clone());
        let agents = routes.agents.into_iter().map(|(name, endpoint)| Served {
            service: EndpointService::at(endpoint, public_url, bound, &name),
            name,
        });
        let largest = routes.front.limits().body_bytes;
        let idle = routes.front.limits().idle;
        let fallback = routes.fallback;
        Self(Arc::new(Shared {
            agents: agents.collect(),
            rest: fallback.map_or_else(
                || front.clone(),
                |endpoint| EndpointService::at(endpoint, public_url, bound, ""),
            ),
            front,
            largest,
            idle,
        }))
    }

    /// The agents as an axum router, to be merged into an application's.
    pub fn into_router(self) -> axum::Router {
        axum::Router::new().fallback_service(self)
    }

    async fn handle(self, request: Request<Body>) -> Response<Body> {
        let (service, request) = self.0.find(request).await;
        service.clone().handle(request).await
    }
}

impl<B> Service<Request<B>> for AgentRouterService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        let handled: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(self.clone().handle(request.map(Body::new)));
        ResponseFuture::new(handled)
    }
}

/// What an agent's name would hide.
const RESERVED: [&str; 4] = ["tasks", "extendedAgentCard", ".", ".."];

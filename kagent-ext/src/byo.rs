//! The runtime of a bring-your-own agent: [`run`] is the whole main of one (kagent contract 1, 11.2).
//!
//! On a developer's machine everything is on one port: gRPC, JSON-RPC, HTTP+JSON and the card, with tasks in memory. In
//! a cluster kagent says by environment and files where to listen, and keeps the tasks: they go to its controller
//! ([`ControllerTaskStore`]), and nothing is dialled, read or made up at the start that a snapshot of the fresh process
//! would freeze.

mod banner;
mod error;
mod place;
mod readiness;
mod signal;
mod socket;
#[cfg(not(feature = "otel"))]
mod telemetry;

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use a2a_proto::v1::AgentCard;
use a2a_server::{
    Agent, AgentBuilder, AgentExecutor, BoundaryPolicy, Busy, Limits, Server, TaskScope,
    VersionPolicy,
};
use tokio::net::TcpListener;

use crate::config::{AgentConfig, Config, Environment, RuntimeConfig};
use crate::hitl::HitlExtension;
use crate::task_store::{CALL_TIME, ControllerTaskStore};
#[cfg(feature = "otel")]
use crate::telemetry::Telemetry;
use crate::usage::UsageExtension;

pub use error::ByoError;

use place::Place;
use readiness::Readiness;
use socket::Reach;
#[cfg(not(feature = "otel"))]
use telemetry::Telemetry;

/// Serves an agent until SIGTERM or Ctrl-C: the whole main.
///
/// ```no_run
/// use kagent_ext::a2a_server::executor_fn;
/// use kagent_ext::byo::{self, ByoError};
///
/// fn main() -> Result<(), ByoError> {
///     byo::run(executor_fn(|cx, out| async move {
///         out.reply(format!("You said: {}", cx.message().text())).await?;
///         Ok(())
///     }))
/// }
/// ```
///
/// # Errors
///
/// When the agent can't start; the text says what to do.
pub fn run(executor: impl AgentExecutor) -> Result<(), ByoError> {
    Byo::new(executor).run()
}

/// As [`run`], with tasks in memory and on this machine only, whatever the environment says.
///
/// # Errors
///
/// When the agent can't start; the text says what to do.
pub fn run_local(executor: impl AgentExecutor) -> Result<(), ByoError> {
    Byo::new(executor).local().run()
}

/// What makes an agent one of kagent's: human in the loop and usage, one execution at a time, a new task
/// WORKING before its first event, boundary events held until the executor has returned, and everybody who reaches the agent may see its tasks, since the session is the
/// scope (kagent contract 2.3, 11.1, 11.3).
pub fn preset(agent: AgentBuilder) -> AgentBuilder {
    agent
        .extension(HitlExtension::new())
        .extension(UsageExtension::new())
        .task_scope(TaskScope::Server)
        // The state stays SUBMITTED otherwise, and kagent's UI shows no progress.
        .announce_working(true)
        .busy(Busy::Unsupported)
        .boundary(BoundaryPolicy::held())
        .limits(Limits::default().executions(ONE_EXECUTION))
        // kagent's own helpers check no version on gRPC.
        .version_policy(VersionPolicy::AssumeCurrent)
        // kagent's card says `text`, which is no media type, and files come all the same.
        .check_input_modes(false)
}

/// A byo agent before it starts.
#[must_use]
pub struct Byo {
    agent: AgentBuilder,
    environment: Environment,
    local: bool,
    address: Option<String>,
    readiness_port: Option<u16>,
    task_store_service: Option<String>,
    telemetry: Telemetry,
}

impl Byo {
    /// An agent with the environment of this process.
    pub fn new(executor: impl AgentExecutor) -> Self {
        let telemetry = Telemetry::new();
        Self {
            agent: preset(Agent::builder(telemetry.around(executor)))
                .boundary(telemetry.at_boundary(BoundaryPolicy::held())),
            environment: Environment::process(),
            local: false,
            address: None,
            readiness_port: None,
            task_store_service: None,
            telemetry,
        }
    }

    /// Changes how the agent is put together: its name, skills, limits (of which `executions` stays 1). What kagent's
    /// own card and configuration say comes after and wins.
    pub fn agent(mut self, change: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Self {
        self.agent = change(self.agent);
        self
    }

    /// Sets where configuration comes from.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Keeps tasks in memory and runs on this machine only, whatever the environment says.
    pub fn local(mut self) -> Self {
        self.local = true;
        self
    }

    /// Sets the address to listen on, port 0 for a free one. By default it is `127.0.0.1:8080` locally, and in a cluster
    /// what kagent says: another one is not dialled there.
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Sets the name of the controller's task store, where it is another than
    /// [`task_store::SERVICE`](crate::task_store::SERVICE).
    pub fn task_store_service(mut self, name: impl Into<String>) -> Self {
        self.task_store_service = Some(name.into());
        self
    }

    /// Sets the port of `/readyz`, 0 for a free one of each address family. By default it is 8081 in a cluster, and
    /// locally the port behind the agent's, so 8081 behind 8080, and a free one behind a free one.
    pub fn readiness_port(mut self, port: u16) -> Self {
        self.readiness_port = Some(port);
        self
    }

    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong, or an address can't be listened on.
    pub async fn bind(self) -> Result<ByoServer, ByoError> {
        let config = Config::read(&self.environment)?;
        match Place::find(&self.environment, &config, self.local)? {
            Place::Local => Box::pin(self.bind_locally(config)).await,
            Place::Cluster => Box::pin(self.bind_in_cluster(config)).await,
        }
    }

    async fn bind_locally(self, config: Config) -> Result<ByoServer, ByoError> {
        let agent = described(self.agent, config.agent);
        // The card of kagent names the address inside its cluster.
        let card = config.card.map(|card| AgentCard {
            supported_interfaces: Vec::new(),
            ..card
        });
        let agent = build(match card {
            Some(card) => agent.card(card),
            None => agent,
        })?;
        self.telemetry
            .start(&self.environment, None, &agent.card().name)?;
        let address = self.address.as_deref().unwrap_or(LOCAL_ADDRESS);
        let server = agent.bind(address).await?;
        let port_behind = if address.ends_with(":0") {
            0
        } else {
            server.local_addr().port().wrapping_add(1)
        };
        let port = self.readiness_port.unwrap_or(port_behind);
        Ok(ByoServer {
            place: Place::Local,
            name: agent.card().name.clone(),
            server,
            readiness: Readiness::bind(socket::LOOPBACK, port)?,
            telemetry: self.telemetry,
        })
    }

    async fn bind_in_cluster(self, config: Config) -> Result<ByoServer, ByoError> {
        let runtime = config.runtime.ok_or(ByoError::NoRuntime)?;
        let mut store =
            ControllerTaskStore::new(&runtime.control_plane_url, self.environment.clone())?;
        if let Some(name) = self.task_store_service {
            store = store.with_service(name);
        }
        tracing::info!(
            controller = %runtime.control_plane_url,
            "tasks are kept by kagent's controller; that its messages have the field numbers of kagent.api.v1alpha1 is not confirmed",
        );
        let agent = described(self.agent, config.agent)
            .name(runtime.name.replace('-', "_"))
            .store(self.telemetry.around_store(store))
            .boundary(
                self.telemetry
                    .at_boundary(BoundaryPolicy::held().with_store_deciding()),
            )
            .change_limits(|limits| cluster_limits(limits, &runtime));
        let agent = build(match config.card {
            Some(card) => agent.card(card),
            None => agent,
        })?;
        self.telemetry
            .start(&self.environment, Some(&runtime), &agent.card().name)?;
        let server = match &self.address {
            Some(address) => agent.bind(address).await?,
            None => {
                agent
                    .serve(cluster_listener(&self.environment, &runtime)?)
                    .await?
            }
        };
        let told = place::port_of(&self.environment, READINESS_PORT)?;
        let port = self
            .readiness_port
            .or(told)
            .unwrap_or(CLUSTER_READINESS_PORT);
        Ok(ByoServer {
            place: Place::Cluster,
            name: agent.card().name.clone(),
            server,
            readiness: Readiness::bind(socket::ANYWHERE, port)?,
            telemetry: self.telemetry,
        })
    }

    /// Serves until SIGTERM or Ctrl-C, in a runtime of the caller's; then drains and returns.
    ///
    /// # Errors
    ///
    /// When the agent can't start; the text says what to do.
    pub async fn serve(mut self) -> Result<(), ByoError> {
        self.telemetry = self.telemetry.globally();
        let stop = signal::Stop::listen()?;
        let server = self.bind().await?;
        // In a cluster nobody reads it, and its line to try would not work.
        if server.place == Place::Local {
            banner::print(&server.banner());
        }
        stop.received().await;
        server.shutdown().await;
        Ok(())
    }

    /// As [`serve`](Self::serve), in a runtime of its own.
    ///
    /// # Errors
    ///
    /// When the agent can't start; the text says what to do.
    pub fn run(self) -> Result<(), ByoError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(ByoError::InsideRuntime);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|source| ByoError::Runtime { source })?;
        runtime.block_on(self.serve())
    }
}

impl fmt::Debug for Byo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Byo")
            .field("agent", &self.agent)
            .field("local", &self.local)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// A byo agent that listens. Dropped, it stops at once.
#[derive(Debug)]
#[must_use = "an agent stops when its server is dropped"]
pub struct ByoServer {
    place: Place,
    name: String,
    server: Server,
    readiness: Readiness,
    telemetry: Telemetry,
}

impl ByoServer {
    /// The address of the agent, with the port that the system chose for port 0.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// The addresses of `/readyz`: one for each address family that this machine has.
    #[must_use]
    pub fn readiness_addrs(&self) -> &[SocketAddr] {
        self.readiness.addrs()
    }

    /// What [`Byo::serve`] prints on a developer's machine: where the agent listens, and a line to try it.
    #[must_use]
    pub fn banner(&self) -> String {
        banner::text(&self.name, self.local_addr(), self.readiness_addrs())
    }

    /// Waits until the agent has stopped, after a [`shutdown`](Self::shutdown) from elsewhere.
    ///
    /// # Cancel safety
    ///
    /// Waiting may be given up and taken up again.
    pub async fn wait(&self) {
        self.server.wait().await;
    }

    /// Stops: health says NOT_SERVING, no call is taken any more, executors are asked to stop and have the grace for
    /// it, open streams end; readiness goes then, and telemetry is sent last.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the agent goes on stopping; a second call waits again.
    pub async fn shutdown(&self) {
        self.server.shutdown().await;
        self.readiness.stop().await;
        self.telemetry.shut_down().await;
    }
}

/// Puts what kagent says of the agent into it.
fn described(mut agent: AgentBuilder, described: Option<AgentConfig>) -> AgentBuilder {
    let Some(described) = described else {
        return agent;
    };
    if !described.name.is_empty() {
        agent = agent.name(described.name);
    }
    if !described.description.is_empty() {
        agent = agent.description(described.description);
    }
    agent
}

fn build(agent: AgentBuilder) -> Result<Agent, ByoError> {
    let agent = agent.health_path("/health").build()?;
    match agent.limits().executions {
        ONE_EXECUTION => Ok(agent),
        limit => Err(ByoError::Executions { limit }),
    }
}

/// What the controller and kagent's configuration ask for.
fn cluster_limits(limits: Limits, runtime: &RuntimeConfig) -> Limits {
    let http = match runtime.max_content_length {
        Some(length) => usize::try_from(length).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    limits.http_body_bytes(Some(http)).store_timeout(CALL_TIME)
}

/// Listens where kagent dials.
fn cluster_listener(
    environment: &Environment,
    runtime: &RuntimeConfig,
) -> Result<TcpListener, ByoError> {
    let port = place::port(environment, runtime)?;
    let fault = |address| move |source| ByoError::ClusterPort { address, source };
    if runtime.host.is_empty() {
        let anywhere = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port);
        return socket::listen_everywhere(port).map_err(fault(anywhere));
    }
    let host = runtime.host.trim_matches(['[', ']']);
    let ip: IpAddr = host.parse().map_err(|_| ByoError::Host {
        host: runtime.host.clone(),
    })?;
    let address = SocketAddr::new(ip, port);
    socket::listen(address, Reach::BothFamilies).map_err(fault(address))
}

/// An agent of kagent's serves one session, which has one execution at a time.
const ONE_EXECUTION: usize = 1;
const LOCAL_ADDRESS: &str = "127.0.0.1:8080";
const CLUSTER_READINESS_PORT: u16 = 8081;
/// Not one of kagent's: for who starts several agents on one machine.
const READINESS_PORT: &str = "KAGENT_READINESS_PORT";

#[cfg(test)]
mod tests;

//! The runtime of a bring-your-own agent: [`run`] is the whole main of one (kagent contract 1, 11.2).
//!
//! On a developer's machine everything is on one port: gRPC, JSON-RPC, HTTP+JSON and the card. In a cluster kagent
//! says by environment and files where to listen and where tasks are kept; the task store of its controller is not
//! built in yet, so that [`run`] refuses to start there.

mod banner;
mod error;
mod place;
mod readiness;
mod signal;

use std::fmt;
use std::net::SocketAddr;

use a2a_proto::v1::AgentCard;
use a2a_server::{
    Agent, AgentBuilder, AgentExecutor, BoundaryPolicy, Busy, Limits, Server, TaskScope,
    VersionPolicy,
};

use crate::config::{Config, Environment};
use crate::hitl::HitlExtension;
use crate::usage::UsageExtension;

pub use error::ByoError;

use place::Place;
use readiness::Readiness;

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

/// What makes an agent one of kagent's: human in the loop and usage, one execution at a time, boundary events held
/// until the executor has returned, and everybody who reaches the agent may see its tasks, since the session is the
/// scope (kagent contract 2.3, 11.1, 11.3).
pub fn preset(agent: AgentBuilder) -> AgentBuilder {
    agent
        .extension(HitlExtension::new())
        .extension(UsageExtension::new())
        .task_scope(TaskScope::Server)
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
    address: String,
    readiness_port: Option<u16>,
}

impl Byo {
    /// An agent with the environment of this process.
    pub fn new(executor: impl AgentExecutor) -> Self {
        Self {
            agent: preset(Agent::builder(executor)),
            environment: Environment::process(),
            local: false,
            address: LOCAL_ADDRESS.to_owned(),
            readiness_port: None,
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

    /// Sets the address to listen on when running locally; `127.0.0.1:8080` by default, port 0 for a free one.
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// Sets the port of `/readyz`, 0 for a free one of each address family. By default it is the port behind the
    /// agent's, so 8081 behind 8080, and a free one behind a free one.
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
            Place::Local => {}
            Place::Cluster => return Err(ByoError::NoTaskStore),
        }
        let agent = configured(self.agent, config)
            .health_path("/health")
            .build()?;
        let limit = agent.limits().executions;
        if limit != ONE_EXECUTION {
            return Err(ByoError::Executions { limit });
        }
        let name = agent.card().name.clone();
        let server = agent.bind(&self.address).await?;
        let port_behind = if self.address.ends_with(":0") {
            0
        } else {
            server.local_addr().port().wrapping_add(1)
        };
        let readiness = Readiness::bind(self.readiness_port.unwrap_or(port_behind))?;
        Ok(ByoServer {
            name,
            server,
            readiness,
        })
    }

    /// Serves until SIGTERM or Ctrl-C, in a runtime of the caller's; then drains and returns.
    ///
    /// # Errors
    ///
    /// When the agent can't start; the text says what to do.
    pub async fn serve(self) -> Result<(), ByoError> {
        let stop = signal::Stop::listen()?;
        let server = self.bind().await?;
        banner::print(&server.banner());
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
    name: String,
    server: Server,
    readiness: Readiness,
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

    /// What [`Byo::serve`] prints: where the agent listens, and a line to try it.
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
    /// it, open streams end; readiness goes last.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, the agent goes on stopping; a second call waits again.
    pub async fn shutdown(&self) {
        self.server.shutdown().await;
        self.readiness.stop().await;
    }
}

/// Puts what kagent says of the agent into it. Interfaces are those of the address that is bound.
fn configured(mut agent: AgentBuilder, config: Config) -> AgentBuilder {
    if let Some(described) = config.agent {
        if !described.name.is_empty() {
            agent = agent.name(described.name);
        }
        if !described.description.is_empty() {
            agent = agent.description(described.description);
        }
    }
    match config.card {
        Some(card) => agent.card(AgentCard {
            supported_interfaces: Vec::new(),
            ..card
        }),
        None => agent,
    }
}

/// An agent of kagent's serves one session, which has one execution at a time.
const ONE_EXECUTION: usize = 1;
const LOCAL_ADDRESS: &str = "127.0.0.1:8080";

#[cfg(test)]
mod tests;

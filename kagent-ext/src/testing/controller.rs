use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use a2a_client::Client;
use a2a_proto::v1::{AgentCapabilities, AgentCard, AgentInterface};
use a2a_proto::{Binding, json};
use a2a_server::{Endpoint, Limits, Server};
use serde_json::json;

use super::actors::Actors;
use super::fault::Faults;
use super::front::Front;
use super::gateway::{Gateway, Settings};
use super::sessions::Sessions;
use super::store_service::StoreService;
use super::{StoreCall, StoreFault, StoreMethod};
use crate::byo::Byo;
use crate::config::Environment;
use crate::task_store::wire::task_store_service_server::TaskStoreServiceServer;
use crate::{client, task_store};

/// What a share lets its holder do with another user's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "kagent has these two")]
pub enum ShareAccess {
    /// Reads and subscribes.
    ReadOnly,
    /// Sends and cancels as well.
    ReadWrite,
}

/// kagent's controller on loopback: the gateway that clients call, and the task store that agents call, on one port.
///
/// Dropped, all of it stops at once, the agents that it started included.
#[derive(Debug)]
pub struct Controller {
    server: Server,
    sessions: Arc<Sessions>,
    store: Arc<StoreService>,
    actors: Arc<Actors>,
    gateway: Arc<Gateway>,
}

/// Sets a [`Controller`] up.
#[derive(Clone, Debug)]
#[must_use]
pub struct ControllerBuilder {
    namespace: String,
    name: String,
    service: String,
    reserve_session_while_parked: bool,
    in_cluster_card: bool,
    turn: Duration,
}

impl Controller {
    /// A controller of one agent, `default/agent`, on a free port.
    ///
    /// # Errors
    ///
    /// When no port of loopback can be listened on.
    pub async fn start() -> io::Result<Self> {
        Self::builder().start().await
    }

    /// Starts to set one up.
    pub fn builder() -> ControllerBuilder {
        ControllerBuilder {
            namespace: "default".to_owned(),
            name: "agent".to_owned(),
            service: task_store::SERVICE.to_owned(),
            reserve_session_while_parked: false,
            in_cluster_card: true,
            turn: Duration::from_secs(10),
        }
    }

    /// Runs this agent: a process of its own for each session, started when its first message comes. It is told the
    /// session's environment, of which an agent wants its directory:
    /// [`Environment::data_dir`](crate::config::Environment::data_dir).
    pub fn run(&self, image: impl Fn(&Environment) -> Byo + Send + Sync + 'static) {
        self.actors.run(Arc::new(image));
    }

    /// Sends messages to an agent that runs already, written in whatever language. Before each the session is written to
    /// its identity file.
    pub fn attach(&self, url: impl Into<String>, identity_file: impl Into<PathBuf>) {
        self.actors.attach(url.into(), identity_file.into());
    }

    /// Where the gateway and the task store are, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.server.local_addr())
    }

    /// The address of both.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// A client of the agent through the gateway, by JSON-RPC, with kagent's extensions.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client_over(Binding::JsonRpc)
    }

    /// As [`client`](Self::client), over JSON-RPC or gRPC: the gateway has no other binding.
    ///
    /// # Panics
    ///
    /// When the client can't be made, such as for another binding.
    #[must_use]
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn client_over(&self, binding: Binding) -> Client {
        let settings = self.gateway.settings();
        let (url, tenant) = match binding {
            Binding::Grpc => (self.url(), settings.tenant()),
            _ => (format!("{}{}", self.url(), settings.path()), String::new()),
        };
        let builder = client::preset(Client::builder()).tenant(tenant);
        match builder.from_endpoint(binding, url) {
            Ok(client) => client,
            Err(error) => panic!("no client can be made: {error:?}"),
        }
    }

    /// Begins a session of that user's, to which messages with its id as their context go.
    #[must_use]
    pub fn new_session(&self, user: &str) -> String {
        self.sessions.begin(user)
    }

    /// Makes a token that gives others access to a session, for the header `X-Share-Token`.
    #[must_use]
    pub fn share(&self, session: &str, access: ShareAccess) -> String {
        self.gateway.share(session, access)
    }

    /// The environment in which the agent of a session runs, to start one by hand.
    ///
    /// # Errors
    ///
    /// When its directory can't be made.
    pub async fn environment(&self, session: &str) -> io::Result<Environment> {
        self.actors.environment(session).await
    }

    /// Stops the agent of a session. With its next message it is started from its image, and finds its directory as it
    /// left it and nothing else.
    pub async fn cold_boot(&self, session: &str) {
        self.actors.stop(session).await;
    }

    /// Kills the agent of a session, whatever it is about; then as [`cold_boot`](Self::cold_boot).
    pub async fn kill(&self, session: &str) {
        self.actors.kill(session).await;
    }

    /// Reserves a delivery, as the gateway does for each message; the id goes in `x-kagent-dispatch-id`.
    #[must_use]
    pub fn dispatch(&self, session: &str) -> String {
        self.sessions.dispatch(session)
    }

    /// Takes from a delivery the right to save.
    pub fn revoke(&self, dispatch_id: &str) {
        self.sessions.revoke(dispatch_id);
    }

    /// Lets the next call of a method go wrong; of several faults each takes one call, in their order.
    pub fn fail(&self, method: StoreMethod, fault: StoreFault) {
        self.store.faults.push(method, fault);
    }

    /// The calls of the task store so far.
    #[must_use]
    pub fn calls(&self) -> Vec<StoreCall> {
        self.store
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The calls that changed something or tried to, as text, such as `Update(WORKING)`.
    #[must_use]
    pub fn trace(&self) -> Vec<String> {
        let reads = |call: &StoreCall| matches!(call.method, StoreMethod::Get | StoreMethod::List);
        let calls = self.calls().into_iter().filter(|call| !reads(call));
        calls.map(|call| call.to_string()).collect()
    }

    /// Forgets the calls so far.
    pub fn forget_calls(&self) {
        self.store
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Stops the agents, each with its grace, and then the gateway.
    pub async fn shutdown(&self) {
        self.actors.stop_all().await;
        self.server.shutdown().await;
    }
}

impl ControllerBuilder {
    /// Sets where the agent is: its Kubernetes namespace and name.
    pub fn agent(mut self, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self.name = name.into();
        self
    }

    /// Sets the full name under which the task store is served; any other is UNIMPLEMENTED.
    pub fn task_store_service(mut self, name: impl Into<String>) -> Self {
        self.service = name.into();
        self
    }

    /// Refuses a message for a new task while another task of its session waits for somebody, as runtimes do that hold one
    /// native session. By default it is let through.
    pub fn reserve_session_while_parked(mut self, reserve: bool) -> Self {
        self.reserve_session_while_parked = reserve;
        self
    }

    /// Whether the card names the gateway as the cluster sees it, which nobody outside can reach; it does by default.
    pub fn in_cluster_card(mut self, in_cluster: bool) -> Self {
        self.in_cluster_card = in_cluster;
        self
    }

    /// Sets how long a message waits for another one of its session before it is not accepted; 10 seconds by default.
    pub fn wait_for_turn(mut self, limit: Duration) -> Self {
        self.turn = limit;
        self
    }

    /// Starts it on a free port of loopback.
    ///
    /// # Errors
    ///
    /// When none can be listened on.
    pub async fn start(self) -> io::Result<Controller> {
        // The address is part of what agents are told, so that it has to be known first.
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let sessions = Arc::new(Sessions::new());
        let actors = Arc::new(Actors::new(self.config(&url), self.agent_card()));
        let store = Arc::new(StoreService {
            sessions: Arc::clone(&sessions),
            faults: Faults::default(),
            calls: std::sync::Mutex::default(),
            name: self.service.clone(),
        });
        let settings = Settings {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            reserves: self.reserve_session_while_parked,
            turn: self.turn,
        };
        let card = self.gateway_card(&url, &settings);
        let gateway = Arc::new(Gateway::new(
            settings,
            card.clone(),
            Arc::clone(&sessions),
            Arc::clone(&actors),
        ));
        let path = gateway.settings().path();
        let endpoint = Endpoint::builder(Arc::clone(&gateway) as Arc<_>, card.clone())
            .bindings([Binding::JsonRpc, Binding::Grpc])
            .version_policy(a2a_server::VersionPolicy::AssumeCurrent)
            .limits(Limits::default())
            .json_rpc_path(&path)
            .build();
        let service = TaskStoreServiceServer::from_arc(Arc::clone(&store))
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES);
        let front = Front {
            card: format!("{path}{}", a2a_proto::binding::CARD_PATH),
            document: json::to_string(&card),
            service_name: self.service.clone(),
            service,
        };
        let server = endpoint
            .serve_with(listener, |router| front.around(router))
            .map_err(io::Error::other)?;
        Ok(Controller {
            server,
            sessions,
            store,
            actors,
            gateway,
        })
    }

    /// What kagent puts into `KAGENT_CONFIG_JSON`.
    fn config(&self, url: &str) -> String {
        let document = json!({"runtime": {
            "name": self.name,
            "namespace": self.namespace,
            "control_plane_url": url,
            "gateway_url": url,
        }});
        document.to_string()
    }

    /// What kagent puts into `KAGENT_AGENT_CARD_JSON` (kagent contract 1.4).
    fn agent_card(&self) -> String {
        let interface = AgentInterface {
            url: "http://127.0.0.1:80".to_owned(),
            protocol_binding: "GRPC".to_owned(),
            protocol_version: "1.0".to_owned(),
            ..AgentInterface::default()
        };
        json::to_string(&self.card(vec![interface]))
    }

    /// The card of the gateway (kagent contract 7.2).
    fn gateway_card(&self, url: &str, settings: &Settings) -> AgentCard {
        let origin = match self.in_cluster_card {
            true => "http://kagent-controller.kagent:8083",
            false => url,
        };
        let interface = |binding: &str, url: String, tenant: String| AgentInterface {
            url,
            protocol_binding: binding.to_owned(),
            protocol_version: "1.0".to_owned(),
            tenant,
        };
        let mut card = self.card(vec![
            interface(
                "JSONRPC",
                format!("{origin}{}", settings.path()),
                String::new(),
            ),
            interface("GRPC", origin.to_owned(), settings.tenant()),
        ]);
        if let Some(capabilities) = &mut card.capabilities {
            capabilities.extended_agent_card = Some(true);
        }
        card
    }

    fn card(&self, supported_interfaces: Vec<AgentInterface>) -> AgentCard {
        AgentCard {
            name: self.name.replace('-', "_"),
            description: "An agent under test".to_owned(),
            version: "v1".to_owned(),
            supported_interfaces,
            capabilities: Some(AgentCapabilities {
                streaming: Some(true),
                ..AgentCapabilities::default()
            }),
            default_input_modes: vec!["text".to_owned()],
            default_output_modes: vec!["text".to_owned()],
            ..AgentCard::default()
        }
    }
}

/// What the controller takes and gives in one message.
const MESSAGE_BYTES: usize = 16 << 20;

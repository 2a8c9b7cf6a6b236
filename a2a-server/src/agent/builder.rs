use std::fmt;
use std::sync::Arc;

use a2a_proto::Binding;
use a2a_proto::error::WithCauses;
use a2a_proto::v1::{AgentCapabilities, AgentCard, AgentSkill};

use super::{Agent, ExtendedCard, Inner};
use crate::auth::Authenticator;
use crate::context::CallContext;
use crate::execution::{
    BoundaryPolicy, Busy, ConcurrentMessages, Engine, LagPolicy, LocalPlacement, PersistPolicy,
    Placement, Settings, TaskScope, Window,
};
use crate::executor::{AgentExecutor, DynExecutor};
use crate::extension::Extension;
use crate::limits::Limits;
use crate::observe::{ObservedStore, Observer, Watch};
use crate::serve::{ServeError, Server};
use crate::store::{MemoryStore, TaskStore};
use crate::version::VersionPolicy;

/// Puts an [`Agent`] together.
///
/// Nothing is required but the executor. What the card says of capabilities, extensions and interfaces is derived
/// from what is configured here.
#[must_use]
pub struct AgentBuilder {
    executor: Arc<dyn DynExecutor>,
    card: AgentCard,
    streaming: bool,
    store: Option<Arc<dyn TaskStore>>,
    extensions: Vec<Arc<dyn Extension>>,
    extended_card: Option<ExtendedCard>,
    check_input_modes: bool,
    persist: Option<PersistPolicy>,
    concurrent: ConcurrentMessages,
    lag: LagPolicy,
    scope: TaskScope,
    announce_working: bool,
    busy: Busy,
    boundary: BoundaryPolicy,
    limits: Limits,
    placement: Arc<dyn Placement>,
    serving: Serving,
}

/// What concerns the bindings and not the engine.
#[derive(Clone, Default)]
pub(crate) struct Serving {
    pub(crate) bindings: Option<Vec<Binding>>,
    pub(crate) version: VersionPolicy,
    pub(crate) authenticator: Option<Arc<dyn Authenticator>>,
    pub(crate) public_url: Option<String>,
    pub(crate) trusts_forwarded: bool,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) json_rpc_path: Option<String>,
    pub(crate) health_path: Option<String>,
    #[cfg(feature = "reflection")]
    pub(crate) reflection: bool,
}

/// Why an agent can't be put together.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An extended card would be given to callers that nobody has authenticated.
    #[error("an extended card needs an authenticator: call AgentBuilder::authenticator")]
    ExtendedCardWithoutAuthenticator,
    /// An agent of a router can't have that name.
    #[error("an agent can't be called `{name}`: {reason}")]
    AgentName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// In one line with all causes, as a `main` that returns it prints it.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&WithCauses(self), f)
    }
}

impl AgentBuilder {
    pub(super) fn new(executor: impl AgentExecutor) -> Self {
        let text = || vec!["text/plain".to_owned()];
        let card = AgentCard {
            name: "agent".to_owned(),
            description: "An agent that speaks A2A".to_owned(),
            version: "1.0.0".to_owned(),
            default_input_modes: text(),
            default_output_modes: text(),
            ..AgentCard::default()
        };
        Self {
            executor: Arc::new(executor),
            card,
            streaming: true,
            store: None,
            extensions: Vec::new(),
            extended_card: None,
            check_input_modes: true,
            persist: None,
            concurrent: ConcurrentMessages::default(),
            lag: LagPolicy::default(),
            scope: TaskScope::default(),
            announce_working: false,
            busy: Busy::default(),
            boundary: BoundaryPolicy::default(),
            limits: Limits::default(),
            placement: Arc::new(LocalPlacement),
            serving: Serving::default(),
        }
    }

    /// Takes all that a card says and that is not derived: names, modes, skills, security. Interfaces in it are served
    /// as they are.
    pub fn card(mut self, card: AgentCard) -> Self {
        self.card = card;
        self
    }

    /// Names the agent.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.card.name = name.into();
        self
    }

    /// Says what the agent does.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.card.description = description.into();
        self
    }

    /// Sets the version of the agent itself.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.card.version = version.into();
        self
    }

    /// Adds a skill.
    pub fn skill(mut self, skill: AgentSkill) -> Self {
        self.card.skills.push(skill);
        self
    }

    /// Sets the media types that the agent takes, such as `text/*`. A part with another one is refused.
    pub fn input_modes(mut self, modes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.card.default_input_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the media types that the agent makes.
    pub fn output_modes(mut self, modes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.card.default_output_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// Whether parts are checked against the input modes of the card and its skills; they are by default.
    pub fn check_input_modes(mut self, check: bool) -> Self {
        self.check_input_modes = check;
        self
    }

    /// Whether the two streaming operations are offered; they are by default.
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Sets where tasks are kept; in memory by default.
    pub fn store(mut self, store: impl TaskStore) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Adds a protocol extension.
    pub fn extension(mut self, extension: impl Extension) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// Sets who finds out who calls, such as [`BearerTokens`](crate::auth::BearerTokens). Without one all callers are
    /// the anonymous principal.
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.serving.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// Gives authenticated callers a card of their own. Where it says nothing of capabilities, it says what the public
    /// card does.
    pub fn extended_card(
        mut self,
        provider: impl Fn(&CallContext) -> Option<AgentCard> + Send + Sync + 'static,
    ) -> Self {
        self.extended_card = Some(Box::new(provider));
        self
    }

    /// Sets what is made of a call without a protocol version; it is refused by default.
    pub fn version_policy(mut self, policy: VersionPolicy) -> Self {
        self.serving.version = policy;
        self
    }

    /// Serves only these bindings, most preferred first; by default all that are compiled in.
    pub fn bindings(mut self, bindings: impl IntoIterator<Item = Binding>) -> Self {
        self.serving.bindings = Some(bindings.into_iter().collect());
        self
    }

    /// Sets the address under which the card names the agent, such as `https://agent.example`; by default the one that
    /// is bound.
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.serving.public_url = Some(url.into());
        self
    }

    /// Takes the URL for the interfaces in the card from what a proxy says: `Forwarded`, or `X-Forwarded-Proto`, `-Host`,
    /// `-Port` and `-Prefix`. Off by default: the first value counts, so that the proxy must overwrite what callers send,
    /// and without such a proxy any caller decides. A public URL goes before.
    pub fn trust_forwarded_headers(mut self, trust: bool) -> Self {
        self.serving.trusts_forwarded = trust;
        self
    }

    /// Sets the path of the JSON-RPC binding; `/` by default.
    pub fn json_rpc_path(mut self, path: impl Into<String>) -> Self {
        self.serving.json_rpc_path = Some(path.into());
        self
    }

    /// Answers GET on this path, such as `/health`: 200 until the agent shuts down, then 503. By default there is none.
    pub fn health_path(mut self, path: impl Into<String>) -> Self {
        self.serving.health_path = Some(path.into());
        self
    }

    /// Serves gRPC reflection, so that tools such as grpcurl need no `.proto` files; by default it is not served.
    #[cfg(feature = "reflection")]
    pub fn reflection(mut self, serve: bool) -> Self {
        self.serving.reflection = serve;
        self
    }

    /// Sets when events are stored: by default each one in memory, and coalesced in any other store.
    pub fn persist(mut self, policy: PersistPolicy) -> Self {
        self.persist = Some(policy);
        self
    }

    /// Sets what happens to a message for a task that is being worked on.
    pub fn concurrent_messages(mut self, policy: ConcurrentMessages) -> Self {
        self.concurrent = policy;
        self
    }

    /// Sets what happens when the stream that started an execution is slow.
    pub fn lag(mut self, policy: LagPolicy) -> Self {
        self.lag = policy;
        self
    }

    /// Sets who may see a task. A store of one's own has to be told too.
    pub fn task_scope(mut self, scope: TaskScope) -> Self {
        self.scope = scope;
        self
    }

    /// Whether a new task is said to be WORKING before the first event of its executor, where the executor does not say
    /// it; by default it stays SUBMITTED until it is told otherwise.
    pub fn announce_working(mut self, announce: bool) -> Self {
        self.announce_working = announce;
        self
    }

    /// Sets what a caller is told when all execution slots are taken.
    pub fn busy(mut self, busy: Busy) -> Self {
        self.busy = busy;
        self
    }

    /// Sets what stands between a boundary state and its publication.
    pub fn boundary(mut self, policy: BoundaryPolicy) -> Self {
        self.boundary = policy;
        self
    }

    /// Tells an observer of each call, stream, execution and call of the task store: for metrics.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.serving.observer = Some(Arc::new(observer));
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Changes the limits that are set so far.
    pub fn change_limits(mut self, change: impl FnOnce(Limits) -> Limits) -> Self {
        self.limits = change(self.limits);
        self
    }

    /// Puts the agent together.
    ///
    /// # Errors
    ///
    /// When two settings contradict each other.
    pub fn build(self) -> Result<Agent, BuildError> {
        if self.extended_card.is_some() && self.serving.authenticator.is_none() {
            return Err(BuildError::ExtendedCardWithoutAuthenticator);
        }
        let card = self.derive_card();
        let store = self.store.unwrap_or_else(|| {
            let memory = MemoryStore::with_retention(self.limits.retention.clone());
            Arc::new(memory.scoped(self.scope))
        });
        let watch = self.serving.observer.clone().map(Watch::new);
        let watch = watch.unwrap_or_default();
        let store: Arc<dyn TaskStore> = match watch.is_on() {
            true => Arc::new(ObservedStore::new(store, watch.clone())),
            false => store,
        };
        let persist = self.persist.unwrap_or_else(|| match store.is_immediate() {
            true => PersistPolicy::EveryEvent,
            false => PersistPolicy::coalesce(),
        });
        let settings = Settings {
            agent: card.name.clone(),
            persist,
            concurrent: self.concurrent,
            lag: self.lag,
            scope: self.scope,
            announce_working: self.announce_working,
            busy: self.busy,
            boundary: self.boundary,
            input_modes: self.check_input_modes.then(|| input_modes(&card)),
            window: Window::default(),
            watch,
            limits: self.limits.clone(),
        };
        Ok(Agent(Arc::new(Inner {
            engine: Engine::new(
                self.executor,
                store,
                self.extensions,
                settings,
                self.placement,
            ),
            card,
            limits: self.limits,
            extended_card: self.extended_card,
            serving: self.serving,
        })))
    }

    /// Puts the agent together and serves it on an address such as `127.0.0.1:0`, all bindings on one port.
    ///
    /// # Errors
    ///
    /// When two settings contradict each other, or the address can't be listened on.
    pub async fn bind(self, address: impl fmt::Display) -> Result<Server, ServeError> {
        self.build()?.bind(address).await
    }

    #[cfg(test)]
    pub(crate) fn placement(mut self, placement: Arc<dyn Placement>) -> Self {
        self.placement = placement;
        self
    }

    /// The card with what follows from the configuration.
    fn derive_card(&self) -> AgentCard {
        let mut card = self.card.clone();
        let declared = self
            .extensions
            .iter()
            .map(|extension| extension.declaration());
        let mut extensions = card.capabilities.take().unwrap_or_default().extensions;
        for declaration in declared {
            extensions.retain(|known| known.uri != declaration.uri);
            extensions.push(declaration);
        }
        card.capabilities = Some(AgentCapabilities {
            streaming: Some(self.streaming),
            push_notifications: Some(false),
            extensions,
            extended_agent_card: Some(self.extended_card.is_some()),
        });
        if let Some(authenticator) = &self.serving.authenticator {
            authenticator.announce(&mut card);
        }
        card
    }
}

fn input_modes(card: &AgentCard) -> Vec<String> {
    let skills = card.skills.iter().flat_map(|skill| &skill.input_modes);
    card.default_input_modes
        .iter()
        .chain(skills)
        .cloned()
        .collect()
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("card", &self.card.name)
            .finish_non_exhaustive()
    }
}

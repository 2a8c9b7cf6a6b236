//! The client.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use a2a_proto::v1::{
    AgentCard, AgentInterface, CancelTaskRequest, DecodedCard,
    DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse,
    SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest, Task,
    TaskPushNotificationConfig,
};
use a2a_proto::{A2aError, Binding, Call, Method, Reply, StreamCall};
use http::{HeaderName, HeaderValue};
use tracing::Instrument as _;

use crate::error::{Error, Kind, Result};
use crate::interceptor::{Interceptor, Next, NextStream};
use crate::retry::Retries;
use crate::route::{Route, Routes};
use crate::{CallContext, ClientBuilder, EventStream, Follow, TaskPages, trace};

/// A client of one agent.
///
/// Cheap to clone; clones share their connections. The `with_…` methods give a client whose calls differ in one thing:
///
/// ```no_run
/// # async fn run(client: a2a_client::Client) -> a2a_client::Result<()> {
/// use std::time::Duration;
///
/// let task = client.with_timeout(Duration::from_secs(5)).get_task("t-1").await?;
/// # Ok(())
/// # }
/// ```
///
/// # Time limits
///
/// Sending a message takes as long as the agent takes: it has no limit but one that is
/// [set](Self::with_timeout). All other calls with one answer end after 60 s. A stream has no limit once it is open.
///
/// # Cancel safety
///
/// Dropping the future of a call ends that call and nothing else: neither the task nor any other call.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    context: CallContext,
}

struct Shared {
    card: RwLock<Option<Arc<AgentCard>>>,
    routes: Routes,
    interceptors: Arc<[Arc<dyn Interceptor>]>,
    retries: Option<Retries>,
    read_limit: Duration,
}

/// What a client is made of.
pub(crate) struct Parts {
    pub(crate) card: Option<DecodedCard>,
    pub(crate) routes: Routes,
    pub(crate) interceptors: Arc<[Arc<dyn Interceptor>]>,
    pub(crate) retries: Option<Retries>,
    pub(crate) read_limit: Duration,
}

impl Client {
    /// A client of the agent at that URL, with default settings: see [`ClientBuilder::connect`].
    ///
    /// # Errors
    ///
    /// When the card can't be fetched or read, or names no interface that this client can speak to.
    pub async fn connect(url: impl AsRef<str>) -> Result<Self> {
        Self::builder().connect(url).await
    }

    /// A client of the agent of that card, with default settings.
    ///
    /// # Errors
    ///
    /// When the card names no interface that this client can speak to.
    pub fn from_card(card: impl Into<DecodedCard>) -> Result<Self> {
        Self::builder().from_card(card)
    }

    /// Settings to make a client of.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    pub(crate) fn from_parts(parts: Parts, context: CallContext) -> Self {
        let card = parts.card.map(|card| Arc::new(card.into_card()));
        Self {
            shared: Arc::new(Shared {
                card: RwLock::new(card),
                routes: parts.routes,
                interceptors: parts.interceptors,
                retries: parts.retries,
                read_limit: parts.read_limit,
            }),
            context,
        }
    }

    /// The agent's card: the extended one, once that was fetched. `None` if the client was made without a card.
    #[must_use]
    pub fn card(&self) -> Option<Arc<AgentCard>> {
        self.shared
            .card
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The interface that is used. Until one has been reached, a call that finds none there turns to the next.
    #[must_use]
    pub fn interface(&self) -> &AgentInterface {
        &self.shared.routes.current().interface
    }

    /// The binding that is used; `None` for a transport of the caller's own.
    #[must_use]
    pub fn binding(&self) -> Option<Binding> {
        self.interface().binding()
    }

    /// What goes along with every call.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        &self.context
    }

    /// A client with another context.
    #[must_use]
    pub fn with_context(&self, context: CallContext) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            context,
        }
    }

    /// A client whose calls take at most that long. It counts to the answer; for a stream, to its opening.
    #[must_use]
    pub fn with_timeout(&self, limit: Duration) -> Self {
        let mut client = self.clone();
        client.context.set_timeout(Some(limit));
        client
    }

    /// A client that sends this header too, in place of one of that name.
    #[must_use]
    pub fn with_header(&self, name: HeaderName, mut value: HeaderValue) -> Self {
        let mut client = self.clone();
        value.set_sensitive(true);
        client.context.headers_mut().insert(name, value);
        client
    }

    /// A client that asks for this extension too.
    #[must_use]
    pub fn with_extension(&self, uri: impl AsRef<str> + Into<String>) -> Self {
        let mut client = self.clone();
        client.context.extensions_mut().add(uri);
        client
    }

    /// Sends a text and waits for the outcome.
    ///
    /// # Errors
    ///
    /// As for [`send_message`](Self::send_message).
    pub async fn send_text(&self, text: impl Into<String>) -> Result<SendMessageResponse> {
        self.send_message(text.into()).await
    }

    /// Sends a text and streams what follows.
    ///
    /// # Errors
    ///
    /// As for [`send_streaming_message`](Self::send_streaming_message).
    pub async fn stream_text(&self, text: impl Into<String>) -> Result<EventStream> {
        self.send_streaming_message(text.into()).await
    }

    /// Sends a message and waits until the task has come to rest, or the agent has answered (A2A 1.0 §3.1.1).
    ///
    /// # Errors
    ///
    /// The agent's. After one for which [`Error::is_outcome_unknown`] is true, the message may have arrived all the same:
    /// it is never sent again by itself.
    pub async fn send_message(
        &self,
        request: impl Into<SendMessageRequest>,
    ) -> Result<SendMessageResponse> {
        match self.call(Call::SendMessage(request.into())).await? {
            Reply::Sent(response) => Ok(response),
            _ => Err(wrong_reply()),
        }
    }

    /// Sends a message and streams what follows (A2A 1.0 §3.1.2).
    ///
    /// # Errors
    ///
    /// The agent's; and, before anything is sent, UnsupportedOperation when its card says that it does not stream.
    pub async fn send_streaming_message(
        &self,
        request: impl Into<SendMessageRequest>,
    ) -> Result<EventStream> {
        self.open(StreamCall::SendStreamingMessage(request.into()))
            .await
    }

    /// Reads a task (A2A 1.0 §3.1.3).
    ///
    /// # Errors
    ///
    /// The agent's: TaskNotFound above all.
    pub async fn get_task(&self, request: impl Into<GetTaskRequest>) -> Result<Task> {
        self.task(Call::GetTask(request.into())).await
    }

    /// Reads a page of the caller's tasks (A2A 1.0 §3.1.4).
    ///
    /// # Errors
    ///
    /// The agent's.
    pub async fn list_tasks(&self, request: ListTasksRequest) -> Result<ListTasksResponse> {
        match self.call(Call::ListTasks(request)).await? {
            Reply::Tasks(response) => Ok(response),
            _ => Err(wrong_reply()),
        }
    }

    /// Asks to cancel a task, and gives it as it is then (A2A 1.0 §3.1.5).
    ///
    /// # Errors
    ///
    /// The agent's: TaskNotCancelable when it has ended already.
    pub async fn cancel_task(&self, request: impl Into<CancelTaskRequest>) -> Result<Task> {
        self.task(Call::CancelTask(request.into())).await
    }

    /// Joins the stream of a task that has not ended: first the task as it is, then what follows (A2A 1.0 §3.1.6).
    ///
    /// # Errors
    ///
    /// The agent's: UnsupportedOperation when the task has ended, and, before anything is sent, when its card says that
    /// it does not stream.
    pub async fn subscribe_to_task(
        &self,
        request: impl Into<SubscribeToTaskRequest>,
    ) -> Result<EventStream> {
        self.open(StreamCall::SubscribeToTask(request.into())).await
    }

    /// Follows a task until it is at rest, over streams that are cut and agents that don't stream.
    ///
    /// ```no_run
    /// # async fn run(client: a2a_client::Client) -> a2a_client::Result<()> {
    /// let mut follow = client.follow("t-1");
    /// while let Some(event) = follow.next().await {
    ///     println!("{:?}", event?.state());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn follow(&self, task_id: impl Into<String>) -> Follow {
        Follow::new(self.clone(), task_id.into())
    }

    /// Waits until a task is at rest, and gives it as it is then.
    ///
    /// # Errors
    ///
    /// As for [`Follow::next`].
    pub async fn wait(&self, task_id: impl Into<String>) -> Result<Task> {
        self.follow(task_id).into_task().await
    }

    /// The caller's tasks over all pages, from the one that the request names.
    pub fn list_all_tasks(&self, request: ListTasksRequest) -> TaskPages {
        TaskPages::new(self.clone(), request)
    }

    /// Registers a webhook for a task (A2A 1.0 §3.1.7).
    ///
    /// # Errors
    ///
    /// The agent's; and, before anything is sent, PushNotificationNotSupported when its card says so. The same goes for
    /// the other calls about webhooks.
    pub async fn create_push_config(
        &self,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig> {
        self.push_config(Call::CreateTaskPushNotificationConfig(config))
            .await
    }

    /// Reads the registration of a webhook (A2A 1.0 §3.1.8).
    ///
    /// # Errors
    ///
    /// As for [`create_push_config`](Self::create_push_config).
    pub async fn get_push_config(
        &self,
        task_id: impl Into<String>,
        id: impl Into<String>,
    ) -> Result<TaskPushNotificationConfig> {
        let request = GetTaskPushNotificationConfigRequest {
            task_id: task_id.into(),
            id: id.into(),
            ..Default::default()
        };
        self.push_config(Call::GetTaskPushNotificationConfig(request))
            .await
    }

    /// Reads a page of the registrations for a task (A2A 1.0 §3.1.9).
    ///
    /// # Errors
    ///
    /// As for [`create_push_config`](Self::create_push_config).
    pub async fn list_push_configs(
        &self,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse> {
        match self
            .call(Call::ListTaskPushNotificationConfigs(request))
            .await?
        {
            Reply::PushConfigs(response) => Ok(response),
            _ => Err(wrong_reply()),
        }
    }

    /// Removes the registration of a webhook (A2A 1.0 §3.1.10).
    ///
    /// # Errors
    ///
    /// As for [`create_push_config`](Self::create_push_config).
    pub async fn delete_push_config(
        &self,
        task_id: impl Into<String>,
        id: impl Into<String>,
    ) -> Result<()> {
        let request = DeleteTaskPushNotificationConfigRequest {
            task_id: task_id.into(),
            id: id.into(),
            ..Default::default()
        };
        match self
            .call(Call::DeleteTaskPushNotificationConfig(request))
            .await?
        {
            Reply::Deleted => Ok(()),
            _ => Err(wrong_reply()),
        }
    }

    /// Reads the card that is for callers the agent knows; it takes the place of the public one (A2A 1.0 §3.1.11).
    ///
    /// # Errors
    ///
    /// The agent's; and, before anything is sent, UnsupportedOperation when the public card names none.
    pub async fn get_extended_agent_card(&self) -> Result<Arc<AgentCard>> {
        let request = GetExtendedAgentCardRequest::default();
        match self.call(Call::GetExtendedAgentCard(request)).await? {
            Reply::Card(card) => {
                let card = Arc::new(card);
                let mut known = self
                    .shared
                    .card
                    .write()
                    .unwrap_or_else(PoisonError::into_inner);
                *known = Some(Arc::clone(&card));
                Ok(card)
            }
            _ => Err(wrong_reply()),
        }
    }

    async fn task(&self, call: Call) -> Result<Task> {
        match self.call(call).await? {
            Reply::Task(task) => Ok(task),
            _ => Err(wrong_reply()),
        }
    }

    async fn push_config(&self, call: Call) -> Result<TaskPushNotificationConfig> {
        match self.call(call).await? {
            Reply::PushConfig(config) => Ok(config),
            _ => Err(wrong_reply()),
        }
    }

    async fn call(&self, call: Call) -> Result<Reply> {
        let method = call.method();
        self.retried(method, call, |place, call| self.call_at(place, call))
            .await
    }

    async fn open(&self, call: StreamCall) -> Result<EventStream> {
        let method = call.method();
        self.retried(method, call, |place, call| self.open_at(place, call))
            .await
    }

    /// Makes a call, and again as far as the retries allow it.
    async fn retried<C: Clone, T, F>(
        &self,
        method: Method,
        call: C,
        run: impl Fn(usize, C) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let Some(retries) = &self.shared.retries else {
            return self.routed(call, run).await;
        };
        let begun = tokio::time::Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match self.routed(call.clone(), &run).await {
                Ok(answer) => {
                    retries.earn();
                    return Ok(answer);
                }
                Err(error) => error,
            };
            let Some(pause) = retries.pause(method, &error, attempts, begun) else {
                return Err(error);
            };
            tracing::debug!(%error, attempts, ?pause, "the call is made again");
            tokio::time::sleep(pause).await;
        }
    }

    /// Makes a call where the last one was made, or, until an interface has been reached, at the first that can be.
    async fn routed<C: Clone, T, F>(&self, mut call: C, run: impl Fn(usize, C) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let routes = &self.shared.routes;
        let mut place = routes.place();
        loop {
            let next = routes.after(place).map(|next| (next, call.clone()));
            let outcome = run(place, call).await;
            let unreached = outcome.as_ref().is_err_and(Error::is_connect);
            match next {
                Some((next, again)) if unreached => (place, call) = (next, again),
                _ => {
                    if !unreached {
                        routes.stay(place);
                    }
                    return outcome;
                }
            }
        }
    }

    async fn call_at(&self, place: usize, mut call: Call) -> Result<Reply> {
        let route = self.shared.routes.at(place);
        let method = call.method();
        let mut cx = self.begin(route, method, call.tenant_mut())?;
        let limit = cx.timeout().or_else(|| match method {
            Method::SendMessage => None,
            _ => Some(self.shared.read_limit),
        });
        let next = Next::new(&self.shared.interceptors, &*route.transport);
        self.limited(route, method, limit, next.run(call, &mut cx))
            .await
    }

    async fn open_at(&self, place: usize, mut call: StreamCall) -> Result<EventStream> {
        let route = self.shared.routes.at(place);
        let method = call.method();
        let mut cx = self.begin(route, method, call.tenant_mut())?;
        let next = NextStream::new(&self.shared.interceptors, &*route.transport);
        let limit = cx.timeout();
        let events = self
            .limited(route, method, limit, next.run(call, &mut cx))
            .await?;
        let activated = std::mem::take(cx.activated_extensions_mut());
        Ok(events.of(method, &route.endpoint, activated))
    }

    /// Checks the call against the card, and fills in the tenant.
    fn begin(&self, route: &Route, method: Method, tenant: &mut String) -> Result<CallContext> {
        self.check(method)
            .map_err(|error| Error::refused(error).during(method, &route.endpoint))?;
        if tenant.is_empty() {
            let named = self.context.tenant().unwrap_or(&route.interface.tenant);
            tenant.push_str(named);
        }
        Ok(self.context.clone())
    }

    fn check(&self, method: Method) -> Result<(), A2aError> {
        let Some(card) = self.card() else {
            return Ok(());
        };
        let refusal = match method {
            Method::SendStreamingMessage | Method::SubscribeToTask
                if !card.supports_streaming() =>
            {
                A2aError::unsupported_operation("the agent's card says that it does not stream")
            }
            Method::CreateTaskPushNotificationConfig
            | Method::GetTaskPushNotificationConfig
            | Method::ListTaskPushNotificationConfigs
            | Method::DeleteTaskPushNotificationConfig
                if !card.supports_push_notifications() =>
            {
                A2aError::push_notification_not_supported(
                    "the agent's card says that it sends no push notifications",
                )
            }
            Method::GetExtendedAgentCard if !card.has_extended_card() => {
                A2aError::unsupported_operation("the agent's card names no extended card")
            }
            _ => return Ok(()),
        };
        Err(refusal)
    }

    async fn limited<T>(
        &self,
        route: &Route,
        method: Method,
        limit: Option<Duration>,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let span = trace::call(method, route.interface.binding());
        let call = call.instrument(span.clone());
        let outcome = match limit {
            Some(limit) => tokio::time::timeout(limit, call)
                .await
                .unwrap_or_else(|_| Err(Error::new(Kind::Timeout))),
            None => call.await,
        };
        outcome
            .map_err(|error| error.during(method, &route.endpoint).advertised(route))
            .inspect_err(|error| trace::failed(&span, error))
    }
}

fn wrong_reply() -> Error {
    Error::decode("an interceptor or transport gave the answer to another operation")
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.shared.routes.current().endpoint)
            .field("binding", &self.binding())
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

const _: fn() = || {
    fn handle<T: Clone + fmt::Debug + Send + Sync + 'static>() {}
    fn sent<T: fmt::Debug + Send + 'static>() {}
    handle::<Client>();
    handle::<ClientBuilder>();
    handle::<CallContext>();
    sent::<EventStream>();
    sent::<Error>();
    fn spawned(_: impl Future + Send) {}
    fn calls(client: &Client) {
        spawned(client.send_text(""));
        spawned(client.stream_text(""));
    }
    let _: fn(&Client) = calls;
};

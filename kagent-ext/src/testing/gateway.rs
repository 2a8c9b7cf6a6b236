//! The gateway: what stands between clients and the agents of their sessions (kagent contract 7).

mod access;
mod delivery;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::{
    AgentCard, CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest,
    ListTasksResponse, SendMessageRequest, SubscribeToTaskRequest, Task,
};
use a2a_server::{
    CallContext, Event, EventStream, RequestHandler, SendReply, TaskReply, async_trait,
};
use prost::Message as _;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::actors::Actors;
use super::sessions::{Sessions, is_quiet};
use super::{ShareAccess, listing};

use access::Need;
use delivery::{Live, Running};

/// Which agent the gateway is for.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) namespace: String,
    pub(super) name: String,
    /// A session in which a task waits takes no other message.
    pub(super) reserves: bool,
    /// How long a message waits for another one of its session.
    pub(super) turn: Duration,
}

/// Who calls.
#[derive(Clone, Debug)]
pub(super) struct User(pub(super) String);

pub(super) struct Gateway {
    settings: Settings,
    card: AgentCard,
    sessions: Arc<Sessions>,
    actors: Arc<Actors>,
    /// The streams of the tasks that run.
    running: Arc<Mutex<HashMap<String, Arc<Live>>>>,
    /// First messages, by their user and id.
    first: Mutex<HashMap<(String, String), FirstMessage>>,
    shares: Mutex<HashMap<String, (String, ShareAccess)>>,
    tasks: TaskTracker,
    /// Ends what is on its way.
    ended: CancellationToken,
}

/// A message that began a session.
#[derive(Clone)]
struct FirstMessage {
    request: Vec<u8>,
    session: String,
}

impl Gateway {
    pub(super) fn new(
        settings: Settings,
        card: AgentCard,
        sessions: Arc<Sessions>,
        actors: Arc<Actors>,
    ) -> Self {
        Self {
            settings,
            card,
            sessions,
            actors,
            running: Arc::default(),
            first: Mutex::default(),
            shares: Mutex::default(),
            tasks: TaskTracker::new(),
            ended: CancellationToken::new(),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn share(&self, session: &str, access: ShareAccess) -> String {
        let token = Uuid::new_v4().to_string();
        lock(&self.shares).insert(token.clone(), (session.to_owned(), access));
        token
    }

    /// Brings a message to the agent of its session, or finds out that it has been brought there before.
    async fn deliver(
        &self,
        cx: &CallContext,
        request: SendMessageRequest,
    ) -> Result<Running, A2aError> {
        self.check_tenant(cx)?;
        let message = request.message.as_ref();
        let message = message.ok_or_else(|| A2aError::invalid_params("message is required"))?;
        if message.message_id.is_empty() {
            return Err(A2aError::invalid_params("message.messageId is required"));
        }
        let session = match (&*message.task_id, &*message.context_id) {
            ("", "") => match self.first(cx, message.message_id.clone(), &request).await? {
                First::New(session) => session,
                First::Known(running) => return Ok(running),
            },
            ("", context) => {
                if Uuid::parse_str(context).is_err() {
                    return Err(A2aError::invalid_request("invalid context ID"));
                }
                self.allow(cx, context, Need::Write)?;
                context.to_owned()
            }
            (task, context) => {
                let session = self.session_of(cx, task, Need::Write)?;
                if !context.is_empty() && context != session {
                    return Err(A2aError::invalid_params(
                        "message context does not match task",
                    ));
                }
                self.check_answerable(task)?;
                session
            }
        };
        let answers = message.task_id.clone();
        self.wait_for_turn(&session, &answers).await?;
        self.start(cx, &session, request).await
    }

    /// The first message of a session may be sent again: it is the same one by its user and id (kagent contract 7.3).
    async fn first(
        &self,
        cx: &CallContext,
        message_id: String,
        request: &SendMessageRequest,
    ) -> Result<First, A2aError> {
        let user = access::user(cx);
        let request = request.encode_to_vec();
        let known = lock(&self.first)
            .get(&(user.clone(), message_id.clone()))
            .cloned();
        let session = match known {
            Some(first) if first.request == request => first.session,
            Some(_) => {
                return Err(A2aError::invalid_request(
                    "message ID was already used with a different request",
                ));
            }
            None => {
                let session = self.sessions.begin(&user);
                let first = FirstMessage {
                    request,
                    session: session.clone(),
                };
                lock(&self.first).insert((user, message_id), first);
                return Ok(First::New(session));
            }
        };
        // Its delivery may not have saved anything yet.
        let mut changes = self.sessions.changes();
        loop {
            changes.mark_unchanged();
            let tasks = self.sessions.public_tasks(&session);
            if let Some(task) = tasks.into_iter().next() {
                return Ok(First::Known(self.join(task)));
            }
            if tokio::time::timeout(self.settings.turn, changes.changed())
                .await
                .is_err()
            {
                return Err(not_accepted());
            }
        }
    }

    fn check_answerable(&self, task: &str) -> Result<(), A2aError> {
        let state = self.sessions.public(task).map(|task| task.state());
        match state {
            Some(state) if state.is_interrupted() => Ok(()),
            Some(state) if state.is_terminal() => Err(A2aError::unsupported_operation(format!(
                "Task {task} is in terminal state: {}",
                state.as_str_name()
            ))),
            _ => Err(A2aError::invalid_request("task is not waiting for input")),
        }
    }

    /// Waits until nothing runs in the session, and not for ever.
    async fn wait_for_turn(&self, session: &str, answers: &str) -> Result<(), A2aError> {
        let mut changes = self.sessions.changes();
        let wait = async {
            while self.sessions.active(session).is_some() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        if tokio::time::timeout(self.settings.turn, wait)
            .await
            .is_err()
        {
            return Err(not_accepted());
        }
        let parked = self.sessions.parked(session);
        if self.settings.reserves && parked.is_some_and(|parked| parked != answers) {
            return Err(A2aError::unsupported_operation(
                "native session is waiting for another task",
            ));
        }
        Ok(())
    }

    /// The stream of a task that may have ended.
    fn join(&self, task: Arc<Task>) -> Running {
        match lock(&self.running).get(&task.id) {
            Some(live) => live.join(),
            None => Running::ended(task),
        }
    }

    fn check_tenant(&self, cx: &CallContext) -> Result<(), A2aError> {
        let (tenant, ours) = (cx.tenant(), self.settings.tenant());
        let by_path = cx.http_extensions().get::<super::front::ByPath>().is_some();
        match tenant == ours || (by_path && tenant.is_empty()) {
            true => Ok(()),
            false if tenant.split('/').count() == 2 => Err(A2aError::task_not_found()),
            false => Err(A2aError::invalid_request(
                "Agent tenant must be namespace/name",
            )),
        }
    }
}

enum First {
    New(String),
    Known(Running),
}

#[async_trait]
impl RequestHandler for Gateway {
    async fn send_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<SendReply, A2aError> {
        let configuration = request.configuration.clone().unwrap_or_default();
        let running = self.deliver(&cx, request).await?;
        let task = match configuration.return_immediately {
            true => running.first(),
            false => running.last().await?,
        };
        let length = history_length(configuration.history_length);
        Ok(SendReply::Task(
            TaskReply::new(task).with_history_length(length),
        ))
    }

    async fn send_streaming_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<EventStream, A2aError> {
        Ok(self.deliver(&cx, request).await?.into_stream())
    }

    async fn get_task(
        &self,
        cx: CallContext,
        request: GetTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        self.check_tenant(&cx)?;
        self.session_of(&cx, &request.id, Need::Read)?;
        let task = self.sessions.public(&request.id);
        let task = task.ok_or_else(A2aError::task_not_found)?;
        let length = history_length(request.history_length);
        Ok(TaskReply::new(task).with_history_length(length))
    }

    async fn list_tasks(
        &self,
        cx: CallContext,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError> {
        self.check_tenant(&cx)?;
        let session = request.context_id.clone();
        self.allow(&cx, &session, Need::Read)?;
        let tasks = self.sessions.public_tasks(&session);
        listing::page(&session, tasks, &request)
            .map_err(|status| A2aError::invalid_params(status.message()))
    }

    async fn cancel_task(
        &self,
        cx: CallContext,
        request: CancelTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        self.check_tenant(&cx)?;
        let session = self.session_of(&cx, &request.id, Need::Write)?;
        let id = request.id.clone();
        let stands = |task: &Arc<Task>| task.state().is_terminal();
        if let Some(task) = self.sessions.public(&id).filter(stands) {
            return Ok(TaskReply::new(task));
        }
        self.cancel(&cx, &session, request).await?;
        let task = self.sessions.public(&id);
        Ok(TaskReply::new(task.ok_or_else(A2aError::task_not_found)?))
    }

    async fn subscribe_to_task(
        &self,
        cx: CallContext,
        request: SubscribeToTaskRequest,
    ) -> Result<EventStream, A2aError> {
        self.check_tenant(&cx)?;
        self.session_of(&cx, &request.id, Need::Read)?;
        let task = self.sessions.public(&request.id);
        let task = task.ok_or_else(A2aError::task_not_found)?;
        if is_quiet(&task) {
            return Ok(Running::ended(task).into_stream());
        }
        Ok(self.join(task).into_stream())
    }

    async fn get_extended_agent_card(
        &self,
        cx: CallContext,
        _: GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2aError> {
        self.check_tenant(&cx)?;
        Ok(self.card.clone())
    }

    async fn shutdown(&self) {
        self.ended.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Settings {
    /// Where JSON-RPC finds the agent.
    pub(super) fn path(&self) -> String {
        format!("/agents/{}/{}", self.namespace, self.name)
    }

    /// How gRPC names it.
    pub(super) fn tenant(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// Nobody waits for what is on its way.
impl Drop for Gateway {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The one error of a send behind which the same message may be sent again.
fn not_accepted() -> A2aError {
    A2aError::unsupported_operation("the session has active work")
        .with_metadata("reason", "KAGENT_SEND_NOT_ACCEPTED")
        .with_metadata("retryAfterMs", "100")
}

fn history_length(length: Option<i32>) -> Option<usize> {
    length.map(|length| usize::try_from(length).unwrap_or(0))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

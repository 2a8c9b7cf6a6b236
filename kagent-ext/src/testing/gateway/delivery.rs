//! One message on its way to the agent, and what comes back.

use std::sync::{Arc, Mutex};

use a2a_client::{CallContext as ClientContext, Client};
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{CancelTaskRequest, SendMessageRequest, StreamResponse, Task, TaskState};
use futures::{StreamExt as _, stream};
use http::HeaderMap;

use super::{
    A2aError, CallContext, Event, EventStream, Gateway, access, broadcast, is_quiet, lock,
};
use crate::uri::header;

/// A task that an agent works on, for all who read it.
pub(super) struct Live(Mutex<Inner>);

struct Inner {
    /// As the events so far make it.
    task: Task,
    sender: broadcast::Sender<Told>,
}

/// A task as one reader sees it: where it stood when they came, and what came behind.
pub(super) struct Running {
    task: Arc<Task>,
    /// None where it has ended.
    events: Option<broadcast::Receiver<Told>>,
}

/// An event or the error with which the stream ends.
type Told = Result<Arc<StreamResponse>, A2aError>;

impl Live {
    fn new(task: Task) -> Self {
        let (sender, _) = broadcast::channel(WINDOW);
        Self(Mutex::new(Inner { task, sender }))
    }

    /// Begins to read. Nothing falls between the task and what follows.
    pub(super) fn join(&self) -> Running {
        let live = lock(&self.0);
        Running {
            task: Arc::new(live.task.clone()),
            events: Some(live.sender.subscribe()),
        }
    }

    fn tell(&self, told: Told) {
        let mut live = lock(&self.0);
        if let Ok(event) = &told {
            // The store is the judge of what fits; this is for who comes later.
            let _ = live.task.apply(event);
        }
        // Nobody may be listening any more.
        let _ = live.sender.send(told);
    }
}

impl Running {
    /// A task of which no events come any more.
    pub(super) fn ended(task: Arc<Task>) -> Self {
        Self { task, events: None }
    }

    /// The task as it began.
    pub(super) fn first(self) -> Arc<Task> {
        self.task
    }

    /// The task where its agent has stopped to work on it.
    pub(super) async fn last(mut self) -> Result<Arc<Task>, A2aError> {
        while let Some(event) = next(&mut self.events).await? {
            if let Some(Payload::Task(task)) = &event.payload {
                self.task = Arc::new(task.clone());
            }
        }
        Ok(self.task)
    }

    pub(super) fn into_stream(self) -> EventStream {
        let first = Event::from(StreamResponse::from(Task::clone(&self.task)));
        let rest = stream::unfold(self.events, |mut events| async move {
            match next(&mut events).await {
                Ok(Some(event)) => Some((Ok(Event::from((*event).clone())), events)),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        });
        EventStream::new(stream::iter([Ok(first)]).chain(rest))
    }
}

async fn next(
    events: &mut Option<broadcast::Receiver<Told>>,
) -> Result<Option<Arc<StreamResponse>>, A2aError> {
    let Some(receiver) = events else {
        return Ok(None);
    };
    match receiver.recv().await {
        Ok(event) => event.map(Some),
        Err(broadcast::error::RecvError::Closed) => Ok(None),
        Err(broadcast::error::RecvError::Lagged(_)) => {
            Err(A2aError::internal("the stream lags too far behind"))
        }
    }
}

impl Gateway {
    /// Sends a message to the agent of its session. What follows goes on whoever listens.
    pub(super) async fn start(
        &self,
        cx: &CallContext,
        session: &str,
        mut request: SendMessageRequest,
    ) -> Result<Running, A2aError> {
        let client = self.actors.client(session).await?;
        let dispatch = self.sessions.dispatch(session);
        request.tenant.clear();
        if let Some(configuration) = &mut request.configuration {
            configuration.return_immediately = false;
        }
        if let Some(message) = &mut request.message {
            message.context_id = session.to_owned();
        }
        let client = client.with_context(forwarded(cx, &client, Some(&dispatch)));
        let opened = client.send_streaming_message(request).await;
        let mut events = opened.map_err(of_agent)?;
        let first = match events.next().await {
            Some(Ok(first)) => first,
            Some(Err(error)) => return Err(of_agent(error)),
            None => return Err(A2aError::internal(ENDED)),
        };
        let task_id = match first.payload {
            Some(Payload::Task(task)) => task.id,
            _ => return Err(A2aError::internal("runtime returned an unexpected task")),
        };
        let task = self.sessions.public(&task_id);
        let task = task.ok_or_else(|| A2aError::internal("runtime returned an unexpected task"))?;
        if task.state().is_terminal() {
            return Ok(Running::ended(task));
        }
        let live = Arc::new(Live::new(Task::clone(&task)));
        let running = live.join();
        lock(&self.running).insert(task_id.clone(), Arc::clone(&live));
        let (sessions, ended) = (Arc::clone(&self.sessions), self.ended.clone());
        let listed = Arc::clone(&self.running);
        self.tasks.spawn(async move {
            let told = tokio::select! {
                told = forward(events, &sessions, &task_id, &live) => told,
                () = ended.cancelled() => Err(A2aError::unavailable("the gateway stops")),
            };
            lock(&listed).remove(&task_id);
            live.tell(told);
        });
        Ok(running)
    }

    pub(super) async fn cancel(
        &self,
        cx: &CallContext,
        session: &str,
        mut request: CancelTaskRequest,
    ) -> Result<(), A2aError> {
        let client = self.actors.client(session).await?;
        request.tenant.clear();
        let dispatch = self.sessions.dispatch(session);
        let client = client.with_context(forwarded(cx, &client, Some(&dispatch)));
        client.cancel_task(request).await.map_err(of_agent)?;
        Ok(())
    }
}

/// Passes on what the agent says until the task is at a boundary; what is told last is the task as it is stored.
async fn forward(
    mut events: a2a_client::EventStream,
    sessions: &super::Sessions,
    task_id: &str,
    live: &Live,
) -> Told {
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| said(error, ENDED))?;
        if event.state().is_some_and(TaskState::is_boundary) {
            let task = sessions.public(task_id).filter(|task| is_quiet(task));
            let task = task.ok_or_else(|| A2aError::internal(ENDED))?;
            return Ok(Arc::new(StreamResponse::from(Task::clone(&task))));
        }
        live.tell(Ok(Arc::new(event)));
    }
    Err(A2aError::internal(ENDED))
}

/// The headers that the agent sees (kagent contract 1.7).
fn forwarded(cx: &CallContext, client: &Client, dispatch: Option<&str>) -> ClientContext {
    let mut context = client.context().clone();
    let mut headers = HeaderMap::new();
    for (name, value) in cx.headers() {
        if !is_withheld(name.as_str()) {
            headers.append(name.clone(), value.clone());
        }
    }
    let mut set = |name: &'static str, value: &str| {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    };
    set(header::USER_ID, &access::user(cx));
    if let Some(dispatch) = dispatch {
        set(header::DISPATCH_ID, dispatch);
    }
    context.headers_mut().extend(headers);
    for uri in cx.requested_extensions() {
        context.extensions_mut().add(uri.as_str());
    }
    context
}

/// Those of the connection and of the gateway itself.
fn is_withheld(name: &str) -> bool {
    const NAMES: [&str; 16] = [
        "a2a-extensions",
        "a2a-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        header::USER_ID,
        header::DISPATCH_ID,
        "x-share-token",
        "cookie",
    ];
    NAMES.contains(&name) || name.starts_with("grpc-") || name.starts_with("accept")
}

/// What the agent said, or that it could not be reached.
fn of_agent(error: a2a_client::Error) -> A2aError {
    said(error, "failed to connect to Session runtime")
}

fn said(error: a2a_client::Error, otherwise: &str) -> A2aError {
    match error.protocol() {
        Some(told) => told.clone(),
        None => A2aError::internal(otherwise).with_source(error),
    }
}

const ENDED: &str = "runtime stream ended before a task boundary";
/// How many events a reader may lag behind.
const WINDOW: usize = 16 * 1024;

use std::pin::pin;
use std::sync::Arc;

use a2a_client::Client;
use a2a_proto::v1::send_message_response::Payload;
use a2a_proto::v1::{
    AgentExtension, CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse,
    SendMessageRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task,
    TaskState,
};
use a2a_proto::{A2aError, Binding, Method, Struct};
use a2a_server::store::SqliteStore;
use a2a_server::{Agent, AgentBuilder, CallContext, RequestHandler, SendReply, Server};
use futures::StreamExt as _;

use super::{Directory, first_task};

/// How a scenario reaches the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// Through the trait, in process.
    Direct,
    /// Likewise, with the tasks in a SQLite file.
    Sqlite,
    /// With the client, over a socket on loopback.
    Socket(Binding),
}

/// A served agent, and a caller of it. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Peer {
    /// With the directory of the store, if it has one.
    Direct(
        Agent,
        #[expect(dead_code, reason = "held, and removed with the last handle")]
        Option<Arc<Directory>>,
    ),
    Socket {
        client: Client,
        server: Arc<Server>,
    },
}

impl Via {
    pub(crate) async fn serve(self, builder: AgentBuilder) -> Peer {
        match self {
            Self::Direct => Peer::Direct(builder.build().unwrap(), None),
            Self::Sqlite => {
                let directory = Directory::new();
                let file = directory.path().join("tasks.db");
                let store = SqliteStore::open(file).await.unwrap();
                let agent = builder.store(store).build().unwrap();
                Peer::Direct(agent, Some(Arc::new(directory)))
            }
            Self::Socket(binding) => {
                let server = builder.bind("127.0.0.1:0").await.unwrap();
                let url = format!("http://{}", server.local_addr());
                let client = Client::builder()
                    .prefer([binding])
                    .connect(&url)
                    .await
                    .unwrap();
                assert_eq!(client.binding(), Some(binding));
                Peer::Socket {
                    client,
                    server: Arc::new(server),
                }
            }
        }
    }
}

impl Peer {
    pub(crate) async fn send(
        &self,
        request: SendMessageRequest,
    ) -> Result<SendMessageResponse, A2aError> {
        match self {
            Self::Direct(agent, _) => {
                let cx = CallContext::new(Method::SendMessage);
                let payload = match agent.send_message(cx, request).await? {
                    SendReply::Task(task) => Payload::Task(task.into_task()),
                    SendReply::Message(message) => Payload::Message(message),
                };
                Ok(SendMessageResponse {
                    payload: Some(payload),
                })
            }
            Self::Socket { client, .. } => client.send_message(request).await.map_err(protocol),
        }
    }

    /// Sends and gets a task.
    pub(crate) async fn run(&self, request: SendMessageRequest) -> Result<Task, A2aError> {
        match self.send(request).await?.payload {
            Some(Payload::Task(task)) => Ok(task),
            other => panic!("not a task: {other:?}"),
        }
    }

    pub(crate) async fn stream(&self, request: SendMessageRequest) -> Result<Events, A2aError> {
        match self {
            Self::Direct(agent, _) => {
                let cx = CallContext::new(Method::SendStreamingMessage);
                Ok(Events::direct(
                    agent.send_streaming_message(cx, request).await?,
                ))
            }
            Self::Socket { client, .. } => {
                Events::opened(
                    client
                        .send_streaming_message(request)
                        .await
                        .map_err(protocol)?,
                )
                .await
            }
        }
    }

    pub(crate) async fn subscribe(&self, id: &str) -> Result<Events, A2aError> {
        let request = SubscribeToTaskRequest {
            id: id.to_owned(),
            ..Default::default()
        };
        match self {
            Self::Direct(agent, _) => {
                let cx = CallContext::new(Method::SubscribeToTask);
                Ok(Events::direct(agent.subscribe_to_task(cx, request).await?))
            }
            Self::Socket { client, .. } => {
                Events::opened(client.subscribe_to_task(request).await.map_err(protocol)?).await
            }
        }
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Task, A2aError> {
        let request = GetTaskRequest {
            id: id.to_owned(),
            ..Default::default()
        };
        match self {
            Self::Direct(agent, _) => {
                let cx = CallContext::new(Method::GetTask);
                Ok(agent.get_task(cx, request).await?.into_task())
            }
            Self::Socket { client, .. } => client.get_task(request).await.map_err(protocol),
        }
    }

    pub(crate) async fn list(
        &self,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError> {
        match self {
            Self::Direct(agent, _) => {
                agent
                    .list_tasks(CallContext::new(Method::ListTasks), request)
                    .await
            }
            Self::Socket { client, .. } => client.list_tasks(request).await.map_err(protocol),
        }
    }

    pub(crate) async fn cancel(&self, id: &str) -> Result<Task, A2aError> {
        self.canceled(CancelTaskRequest {
            id: id.to_owned(),
            ..Default::default()
        })
        .await
    }

    /// Cancels and says why.
    pub(crate) async fn cancel_with(&self, id: &str, why: Struct) -> Result<Task, A2aError> {
        self.canceled(CancelTaskRequest {
            id: id.to_owned(),
            metadata: Some(why),
            ..Default::default()
        })
        .await
    }

    async fn canceled(&self, request: CancelTaskRequest) -> Result<Task, A2aError> {
        match self {
            Self::Direct(agent, _) => {
                let cx = CallContext::new(Method::CancelTask);
                Ok(agent.cancel_task(cx, request).await?.into_task())
            }
            Self::Socket { client, .. } => client.cancel_task(request).await.map_err(protocol),
        }
    }

    /// The extensions that the card announces.
    pub(crate) fn extensions(&self) -> Vec<AgentExtension> {
        let card = match self {
            Self::Direct(agent, _) => agent.card().clone(),
            Self::Socket { client, .. } => client.card().expect("a card").as_ref().clone(),
        };
        card.capabilities.unwrap_or_default().extensions
    }

    pub(crate) async fn shutdown(&self) {
        match self {
            Self::Direct(agent, _) => agent.shutdown().await,
            Self::Socket { server, .. } => server.shutdown().await,
        }
    }

    /// Waits for a state by following the task.
    pub(crate) async fn wait_for(&self, id: &str, state: TaskState) -> Task {
        loop {
            let task = self.get(id).await.unwrap();
            if task.state() == state {
                return task;
            }
            assert!(!task.state().is_terminal(), "ended in {:?}", task.state());
            let Ok(mut events) = self.subscribe(id).await else {
                continue;
            };
            while let Some(Ok(event)) = events.next().await {
                if event.state() == Some(state) {
                    break;
                }
            }
        }
    }
}

/// The peer's own error; any other fails the test.
fn protocol(error: a2a_client::Error) -> A2aError {
    match error.protocol() {
        Some(error) => error.clone(),
        None => panic!("not the agent's error: {error:?}"),
    }
}

pub(crate) struct Events {
    /// Read ahead, to tell an error before the stream from one within.
    first: Option<StreamResponse>,
    source: Source,
}

enum Source {
    Direct(a2a_server::EventStream),
    Socket(a2a_client::EventStream),
}

impl Events {
    fn direct(events: a2a_server::EventStream) -> Self {
        Self {
            first: None,
            source: Source::Direct(events),
        }
    }

    async fn opened(events: a2a_client::EventStream) -> Result<Self, A2aError> {
        let mut events = Self {
            first: None,
            source: Source::Socket(events),
        };
        let first = events.next().await.expect("the stream is empty")?;
        events.first = Some(first);
        Ok(events)
    }

    pub(crate) async fn next(&mut self) -> Option<Result<StreamResponse, A2aError>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        match &mut self.source {
            Source::Direct(events) => {
                let mut events = pin!(events);
                Some(events.next().await?.map(|event| event.response().clone()))
            }
            Source::Socket(events) => Some(events.next().await?.map_err(protocol)),
        }
    }

    /// The next event, which must be one.
    pub(crate) async fn event(&mut self) -> StreamResponse {
        self.next()
            .await
            .expect("the stream has ended")
            .expect("the stream has failed")
    }

    /// The snapshot that a stream begins with.
    pub(crate) async fn snapshot(&mut self) -> Task {
        first_task(self.event().await)
    }

    /// Reads until the task has this state.
    pub(crate) async fn until(&mut self, state: TaskState) -> StreamResponse {
        loop {
            let event = self.event().await;
            if event.state() == Some(state) {
                return event;
            }
        }
    }

    /// Folds the stream to its end.
    pub(crate) async fn fold(mut self) -> Result<Task, A2aError> {
        let mut task = self.snapshot().await;
        while let Some(event) = self.next().await {
            task.apply(&event?).expect("the event fits");
        }
        Ok(task)
    }

    /// The error that the stream ends with.
    pub(crate) async fn failure(mut self) -> A2aError {
        loop {
            match self.next().await.expect("the stream ends with an error") {
                Ok(_) => {}
                Err(error) => {
                    assert!(self.next().await.is_none(), "nothing comes behind an error");
                    return error;
                }
            }
        }
    }
}

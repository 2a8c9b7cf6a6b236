use std::pin::pin;

use a2a_proto::v1::send_message_response::Payload;
use a2a_proto::v1::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskState,
};
use a2a_proto::{A2aError, Method};
use a2a_server::{
    Agent, AgentBuilder, CallContext, EventStream, Principal, RequestHandler, SendReply,
};
use futures::StreamExt as _;

use super::first_task;

/// How a scenario reaches the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// Through the trait, in process.
    Direct,
}

/// A served agent, and a caller of it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Peer {
    agent: Agent,
    principal: Principal,
}

impl Via {
    #[expect(clippy::unused_async, reason = "a server has to be bound")]
    pub(crate) async fn serve(self, builder: AgentBuilder) -> Peer {
        let agent = builder.build().unwrap();
        Peer {
            agent,
            principal: Principal::anonymous(),
        }
    }
}

impl Peer {
    fn call(&self, method: Method) -> CallContext {
        CallContext::new(method).with_principal(self.principal.clone())
    }

    pub(crate) async fn send(
        &self,
        request: SendMessageRequest,
    ) -> Result<SendMessageResponse, A2aError> {
        let cx = self.call(Method::SendMessage);
        let payload = match self.agent.send_message(cx, request).await? {
            SendReply::Task(task) => Payload::Task(task.into_task()),
            SendReply::Message(message) => Payload::Message(message),
        };
        Ok(SendMessageResponse {
            payload: Some(payload),
        })
    }

    /// Sends and gets a task.
    pub(crate) async fn run(&self, request: SendMessageRequest) -> Result<Task, A2aError> {
        match self.send(request).await?.payload {
            Some(Payload::Task(task)) => Ok(task),
            other => panic!("not a task: {other:?}"),
        }
    }

    pub(crate) async fn stream(&self, request: SendMessageRequest) -> Result<Events, A2aError> {
        let cx = self.call(Method::SendStreamingMessage);
        Ok(Events::Direct(
            self.agent.send_streaming_message(cx, request).await?,
        ))
    }

    pub(crate) async fn subscribe(&self, id: &str) -> Result<Events, A2aError> {
        let request = SubscribeToTaskRequest {
            id: id.to_owned(),
            ..Default::default()
        };
        Ok(Events::Direct(
            self.agent
                .subscribe_to_task(self.call(Method::SubscribeToTask), request)
                .await?,
        ))
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Task, A2aError> {
        let request = GetTaskRequest {
            id: id.to_owned(),
            ..Default::default()
        };
        Ok(self
            .agent
            .get_task(self.call(Method::GetTask), request)
            .await?
            .into_task())
    }

    pub(crate) async fn list(
        &self,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError> {
        self.agent
            .list_tasks(self.call(Method::ListTasks), request)
            .await
    }

    pub(crate) async fn cancel(&self, id: &str) -> Result<Task, A2aError> {
        let request = CancelTaskRequest {
            id: id.to_owned(),
            ..Default::default()
        };
        Ok(self
            .agent
            .cancel_task(self.call(Method::CancelTask), request)
            .await?
            .into_task())
    }

    pub(crate) async fn shutdown(&self) {
        self.agent.shutdown().await;
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

pub(crate) enum Events {
    Direct(EventStream),
}

impl Events {
    pub(crate) async fn next(&mut self) -> Option<Result<StreamResponse, A2aError>> {
        match self {
            Self::Direct(events) => {
                let mut events = pin!(events);
                Some(events.next().await?.map(|event| event.response().clone()))
            }
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

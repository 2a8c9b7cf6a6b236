//! A handler that notes its calls and answers as told.

use std::sync::Mutex;

use a2a_proto::A2aError;
use a2a_proto::v1::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SubscribeToTaskRequest, Task,
    TaskPushNotificationConfig, TaskState, TaskStatus,
};
use a2a_proto::wire::Operation;
use a2a_proto::{Call, StreamCall};
use a2a_server::{
    CallContext, Event, EventStream, RequestHandler, SendReply, TaskReply, async_trait,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What the handler does.
#[derive(Default)]
pub struct Script {
    calls: Mutex<Vec<(CallContext, Operation)>>,
    /// Every call ends with this.
    fail: Option<A2aError>,
    /// Every call panics.
    panic: bool,
    /// No call ends.
    hang: bool,
    /// A stream goes on behind its first event until this is cancelled.
    hold: Option<CancellationToken>,
    /// What a stream that is held ends with.
    last_words: Option<A2aError>,
    /// Notified when a stream or a call that hangs is dropped.
    dropped: std::sync::Arc<Notify>,
    /// Notified when a call has come.
    called: Notify,
    task: Option<Task>,
}

impl Script {
    pub fn failing(error: A2aError) -> Self {
        Self {
            fail: Some(error),
            ..Self::default()
        }
    }

    pub fn hanging() -> Self {
        Self {
            hang: true,
            ..Self::default()
        }
    }

    pub fn panicking() -> Self {
        Self {
            panic: true,
            ..Self::default()
        }
    }

    /// Streams stay open; shutdown ends them with that error.
    pub fn holding(last_words: Option<A2aError>) -> Self {
        Self {
            hold: Some(CancellationToken::new()),
            last_words,
            ..Self::default()
        }
    }

    pub fn with_task(task: Task) -> Self {
        Self {
            task: Some(task),
            ..Self::default()
        }
    }

    pub fn calls(&self) -> Vec<(CallContext, Operation)> {
        self.calls.lock().unwrap().clone()
    }

    /// The one call that came.
    pub fn call(&self) -> (CallContext, Operation) {
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.remove(0)
    }

    /// Waits until a call has come.
    pub async fn called(&self) {
        self.called.notified().await;
    }

    /// Waits until the server has dropped a stream or a call.
    pub async fn dropped(&self) {
        self.dropped.notified().await;
    }

    /// Ends the streams that are held.
    pub fn release(&self) {
        self.hold.as_ref().unwrap().cancel();
    }

    async fn note(&self, cx: CallContext, operation: impl Into<Operation>) -> Result<(), A2aError> {
        self.calls.lock().unwrap().push((cx, operation.into()));
        self.called.notify_one();
        assert!(!self.panic, "secret");
        if self.hang {
            let _guard = Guard(self.dropped.clone());
            std::future::pending::<()>().await;
        }
        self.fail.clone().map_or(Ok(()), Err)
    }

    fn task(&self) -> TaskReply {
        let task = self
            .task
            .clone()
            .unwrap_or_else(|| Task::submitted("t1", "c1"));
        TaskReply::new(task.into())
    }

    fn stream(&self) -> EventStream {
        let mut completed = Task::submitted("t1", "c1");
        completed.status = Some(TaskStatus::new(TaskState::Completed));
        let first = Event::from(a2a_proto::v1::StreamResponse::from(Task::submitted(
            "t1", "c1",
        )));
        let last = Event::from(a2a_proto::v1::StreamResponse::from(completed));
        let hold = self.hold.clone();
        let last_words = self.last_words.clone();
        let guard = Guard(self.dropped.clone());
        EventStream::new(scripted(first, async move {
            let _guard = guard;
            if let Some(hold) = hold {
                hold.cancelled().await;
            }
            last_words.map_or(Ok(last), Err)
        }))
    }
}

struct Guard(std::sync::Arc<Notify>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// An event, then what the future gives.
fn scripted(
    first: Event,
    rest: impl Future<Output = Result<Event, A2aError>> + Send + 'static,
) -> impl futures_core::Stream<Item = Result<Event, A2aError>> + Send {
    struct Scripted<F>(Option<Event>, Option<std::pin::Pin<Box<F>>>);
    impl<F: Future<Output = Result<Event, A2aError>>> futures_core::Stream for Scripted<F> {
        type Item = Result<Event, A2aError>;
        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            if let Some(first) = self.0.take() {
                return std::task::Poll::Ready(Some(Ok(first)));
            }
            let Some(rest) = &mut self.1 else {
                return std::task::Poll::Ready(None);
            };
            let last = std::task::ready!(rest.as_mut().poll(cx));
            self.1 = None;
            std::task::Poll::Ready(Some(last))
        }
    }
    Scripted(Some(first), Some(Box::pin(rest)))
}

#[async_trait]
impl RequestHandler for Script {
    async fn send_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<SendReply, A2aError> {
        self.note(cx, Call::SendMessage(request)).await?;
        Ok(SendReply::Task(self.task()))
    }

    async fn send_streaming_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<EventStream, A2aError> {
        self.note(cx, StreamCall::SendStreamingMessage(request))
            .await?;
        Ok(self.stream())
    }

    async fn get_task(
        &self,
        cx: CallContext,
        request: GetTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        self.note(cx, Call::GetTask(request)).await?;
        Ok(self.task())
    }

    async fn list_tasks(
        &self,
        cx: CallContext,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError> {
        self.note(cx, Call::ListTasks(request)).await?;
        Ok(ListTasksResponse {
            page_size: 50,
            ..ListTasksResponse::default()
        })
    }

    async fn cancel_task(
        &self,
        cx: CallContext,
        request: CancelTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        self.note(cx, Call::CancelTask(request)).await?;
        Ok(self.task())
    }

    async fn subscribe_to_task(
        &self,
        cx: CallContext,
        request: SubscribeToTaskRequest,
    ) -> Result<EventStream, A2aError> {
        self.note(cx, StreamCall::SubscribeToTask(request)).await?;
        Ok(self.stream())
    }

    async fn create_task_push_notification_config(
        &self,
        cx: CallContext,
        request: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2aError> {
        self.note(cx, Call::CreateTaskPushNotificationConfig(request.clone()))
            .await?;
        Ok(request)
    }

    async fn get_task_push_notification_config(
        &self,
        cx: CallContext,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, A2aError> {
        self.note(cx, Call::GetTaskPushNotificationConfig(request))
            .await?;
        Ok(TaskPushNotificationConfig::default())
    }

    async fn list_task_push_notification_configs(
        &self,
        cx: CallContext,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, A2aError> {
        self.note(cx, Call::ListTaskPushNotificationConfigs(request))
            .await?;
        Ok(ListTaskPushNotificationConfigsResponse::default())
    }

    async fn delete_task_push_notification_config(
        &self,
        cx: CallContext,
        request: DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), A2aError> {
        self.note(cx, Call::DeleteTaskPushNotificationConfig(request))
            .await
    }

    async fn get_extended_agent_card(
        &self,
        cx: CallContext,
        request: GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2aError> {
        self.note(cx, Call::GetExtendedAgentCard(request)).await?;
        Ok(super::card())
    }

    async fn shutdown(&self) {
        if self.last_words.is_some() {
            self.release();
        }
    }
}

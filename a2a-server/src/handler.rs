//! The eleven operations as a trait: implemented once by the [`Agent`](crate::Agent), and by whoever writes a proxy.

use std::sync::Arc;

use a2a_proto::A2aError;
use a2a_proto::v1::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, Message, SendMessageRequest, SubscribeToTaskRequest, Task,
    TaskPushNotificationConfig,
};
use async_trait::async_trait;

use crate::context::CallContext;
use crate::event::EventStream;

/// A task as the answer to a call: shared with the engine, and trimmed as the caller asked when it is written.
#[derive(Clone, Debug)]
pub struct TaskReply {
    task: Arc<Task>,
    history_length: Option<usize>,
    include_artifacts: bool,
}

impl TaskReply {
    /// The whole task.
    #[must_use]
    pub fn new(task: Arc<Task>) -> Self {
        Self {
            task,
            history_length: None,
            include_artifacts: true,
        }
    }

    /// Shows at most the newest `length` messages; `None` shows all (A2A 1.0 §3.2.4).
    #[must_use]
    pub fn with_history_length(mut self, length: Option<usize>) -> Self {
        self.history_length = length;
        self
    }

    /// Leaves the artifacts out.
    #[must_use]
    pub fn without_artifacts(mut self) -> Self {
        self.include_artifacts = false;
        self
    }

    /// The task, untrimmed.
    #[must_use]
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// How many of the newest messages are shown; `None` for all.
    #[must_use]
    pub fn history_length(&self) -> Option<usize> {
        self.history_length
    }

    /// Whether the artifacts are shown.
    #[must_use]
    pub fn include_artifacts(&self) -> bool {
        self.include_artifacts
    }

    /// Whether all of the task is shown.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let all_messages = self
            .history_length
            .is_none_or(|length| length >= self.task.history.len());
        all_messages && (self.include_artifacts || self.task.artifacts.is_empty())
    }

    /// The task as it is shown: a copy of the shown part, or the task itself where nobody else holds it.
    #[must_use]
    pub fn into_task(self) -> Task {
        if self.is_whole() {
            return Arc::unwrap_or_clone(self.task);
        }
        let task = &*self.task;
        let skipped = self
            .history_length
            .map_or(0, |length| task.history.len().saturating_sub(length));
        Task {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            status: task.status.clone(),
            artifacts: if self.include_artifacts {
                task.artifacts.clone()
            } else {
                Vec::new()
            },
            history: task.history.iter().skip(skipped).cloned().collect(),
            metadata: task.metadata.clone(),
        }
    }
}

/// The answer to SendMessage.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum SendReply {
    /// The agent answered without a task.
    Message(Message),
    /// The task, at the boundary that ended the wait.
    Task(TaskReply),
}

/// The eleven operations, independent of the binding that carries them (A2A 1.0 §3.1).
///
/// A binding has authenticated the caller, checked the version and the required extensions, decoded the request and
/// validated its REQUIRED fields before it calls. Dropping a returned future or stream ends that call and nothing
/// else: an execution goes on.
#[async_trait]
pub trait RequestHandler: Send + Sync + 'static {
    /// SendMessage.
    async fn send_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<SendReply, A2aError>;

    /// SendStreamingMessage. An error comes before the first event; later ones come in the stream.
    async fn send_streaming_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<EventStream, A2aError>;

    /// GetTask.
    async fn get_task(
        &self,
        cx: CallContext,
        request: GetTaskRequest,
    ) -> Result<TaskReply, A2aError>;

    /// ListTasks.
    async fn list_tasks(
        &self,
        cx: CallContext,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError>;

    /// CancelTask.
    async fn cancel_task(
        &self,
        cx: CallContext,
        request: CancelTaskRequest,
    ) -> Result<TaskReply, A2aError>;

    /// SubscribeToTask. An error comes before the first event; later ones come in the stream.
    async fn subscribe_to_task(
        &self,
        cx: CallContext,
        request: SubscribeToTaskRequest,
    ) -> Result<EventStream, A2aError>;

    /// CreateTaskPushNotificationConfig.
    async fn create_task_push_notification_config(
        &self,
        cx: CallContext,
        request: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2aError> {
        let _ = (cx, request);
        Err(push_not_supported())
    }

    /// GetTaskPushNotificationConfig.
    async fn get_task_push_notification_config(
        &self,
        cx: CallContext,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, A2aError> {
        let _ = (cx, request);
        Err(push_not_supported())
    }

    /// ListTaskPushNotificationConfigs.
    async fn list_task_push_notification_configs(
        &self,
        cx: CallContext,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, A2aError> {
        let _ = (cx, request);
        Err(push_not_supported())
    }

    /// DeleteTaskPushNotificationConfig.
    async fn delete_task_push_notification_config(
        &self,
        cx: CallContext,
        request: DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), A2aError> {
        let _ = (cx, request);
        Err(push_not_supported())
    }

    /// GetExtendedAgentCard.
    async fn get_extended_agent_card(
        &self,
        cx: CallContext,
        request: GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2aError>;

    /// The server stops: new calls are refused with UNAVAILABLE from now on. Returns when the open streams and calls
    /// have been told how they end.
    async fn shutdown(&self) {}
}

pub(crate) fn push_not_supported() -> A2aError {
    A2aError::push_notification_not_supported("this agent sends no push notifications")
}

//! The operations as values: what a binding decodes and a transport encodes.

use crate::Method;
use crate::v1::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

/// A call that has one answer.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new operation must be handled by every binding"
)]
#[expect(
    clippy::large_enum_variant,
    reason = "a call is moved a few times and kept by nobody"
)]
pub enum Call {
    /// See [`Method::SendMessage`].
    SendMessage(SendMessageRequest),
    /// See [`Method::GetTask`].
    GetTask(GetTaskRequest),
    /// See [`Method::ListTasks`].
    ListTasks(ListTasksRequest),
    /// See [`Method::CancelTask`].
    CancelTask(CancelTaskRequest),
    /// See [`Method::CreateTaskPushNotificationConfig`].
    CreateTaskPushNotificationConfig(TaskPushNotificationConfig),
    /// See [`Method::GetTaskPushNotificationConfig`].
    GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest),
    /// See [`Method::ListTaskPushNotificationConfigs`].
    ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest),
    /// See [`Method::DeleteTaskPushNotificationConfig`].
    DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest),
    /// See [`Method::GetExtendedAgentCard`].
    GetExtendedAgentCard(GetExtendedAgentCardRequest),
}

/// A call whose answer is a stream of events.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new operation must be handled by every binding"
)]
#[expect(
    clippy::large_enum_variant,
    reason = "a call is moved a few times and kept by nobody"
)]
pub enum StreamCall {
    /// See [`Method::SendStreamingMessage`].
    SendStreamingMessage(SendMessageRequest),
    /// See [`Method::SubscribeToTask`].
    SubscribeToTask(SubscribeToTaskRequest),
}

/// The answer to a [`Call`].
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new operation must be handled by every binding"
)]
pub enum Reply {
    /// To [`Call::SendMessage`].
    Sent(SendMessageResponse),
    /// To [`Call::GetTask`] and [`Call::CancelTask`].
    Task(Task),
    /// To [`Call::ListTasks`].
    Tasks(ListTasksResponse),
    /// To [`Call::CreateTaskPushNotificationConfig`] and [`Call::GetTaskPushNotificationConfig`].
    PushConfig(TaskPushNotificationConfig),
    /// To [`Call::ListTaskPushNotificationConfigs`].
    PushConfigs(ListTaskPushNotificationConfigsResponse),
    /// To [`Call::DeleteTaskPushNotificationConfig`].
    Deleted,
    /// To [`Call::GetExtendedAgentCard`].
    Card(AgentCard),
}

impl Call {
    /// The operation that is called.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::SendMessage(_) => Method::SendMessage,
            Self::GetTask(_) => Method::GetTask,
            Self::ListTasks(_) => Method::ListTasks,
            Self::CancelTask(_) => Method::CancelTask,
            Self::CreateTaskPushNotificationConfig(_) => Method::CreateTaskPushNotificationConfig,
            Self::GetTaskPushNotificationConfig(_) => Method::GetTaskPushNotificationConfig,
            Self::ListTaskPushNotificationConfigs(_) => Method::ListTaskPushNotificationConfigs,
            Self::DeleteTaskPushNotificationConfig(_) => Method::DeleteTaskPushNotificationConfig,
            Self::GetExtendedAgentCard(_) => Method::GetExtendedAgentCard,
        }
    }

    /// The tenant of the request; empty for none.
    #[must_use]
    pub fn tenant(&self) -> &str {
        match self {
            Self::SendMessage(request) => &request.tenant,
            Self::GetTask(request) => &request.tenant,
            Self::ListTasks(request) => &request.tenant,
            Self::CancelTask(request) => &request.tenant,
            Self::CreateTaskPushNotificationConfig(request) => &request.tenant,
            Self::GetTaskPushNotificationConfig(request) => &request.tenant,
            Self::ListTaskPushNotificationConfigs(request) => &request.tenant,
            Self::DeleteTaskPushNotificationConfig(request) => &request.tenant,
            Self::GetExtendedAgentCard(request) => &request.tenant,
        }
    }

    /// The tenant of the request, to be filled in.
    pub fn tenant_mut(&mut self) -> &mut String {
        match self {
            Self::SendMessage(request) => &mut request.tenant,
            Self::GetTask(request) => &mut request.tenant,
            Self::ListTasks(request) => &mut request.tenant,
            Self::CancelTask(request) => &mut request.tenant,
            Self::CreateTaskPushNotificationConfig(request) => &mut request.tenant,
            Self::GetTaskPushNotificationConfig(request) => &mut request.tenant,
            Self::ListTaskPushNotificationConfigs(request) => &mut request.tenant,
            Self::DeleteTaskPushNotificationConfig(request) => &mut request.tenant,
            Self::GetExtendedAgentCard(request) => &mut request.tenant,
        }
    }
}

impl StreamCall {
    /// The operation that is called.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::SendStreamingMessage(_) => Method::SendStreamingMessage,
            Self::SubscribeToTask(_) => Method::SubscribeToTask,
        }
    }

    /// The tenant of the request; empty for none.
    #[must_use]
    pub fn tenant(&self) -> &str {
        match self {
            Self::SendStreamingMessage(request) => &request.tenant,
            Self::SubscribeToTask(request) => &request.tenant,
        }
    }

    /// The tenant of the request, to be filled in.
    pub fn tenant_mut(&mut self) -> &mut String {
        match self {
            Self::SendStreamingMessage(request) => &mut request.tenant,
            Self::SubscribeToTask(request) => &mut request.tenant,
        }
    }
}

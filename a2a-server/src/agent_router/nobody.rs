//! What is told to a call that names no agent.

use std::sync::Arc;

use a2a_proto::v1::{
    AgentCapabilities, AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SubscribeToTaskRequest,
    TaskPushNotificationConfig,
};
use a2a_proto::{A2aError, FieldViolation};
use async_trait::async_trait;

use crate::bind::Endpoint;
use crate::context::CallContext;
use crate::event::EventStream;
use crate::handler::{RequestHandler, SendReply, TaskReply};
use crate::limits::Limits;
use crate::version::VersionPolicy;

pub(super) fn endpoint(limits: Limits, health_path: Option<String>) -> Endpoint {
    // No operation is refused for what some other agent can't do.
    let card = AgentCard {
        capabilities: Some(AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            extended_agent_card: Some(true),
            ..AgentCapabilities::default()
        }),
        ..AgentCard::default()
    };
    let builder = Endpoint::builder(Arc::new(Nobody), card)
        .version_policy(VersionPolicy::AssumeCurrent)
        .limits(limits);
    match health_path {
        Some(path) => builder.health_path(path),
        None => builder,
    }
    .build()
}

struct Nobody;

fn nobody<T>(cx: &CallContext) -> Result<T, A2aError> {
    let description = match cx.tenant() {
        "" => "must name the agent: this server has several",
        _ => "names no agent of this server",
    };
    Err(A2aError::invalid_fields(vec![FieldViolation::new(
        "tenant",
        description,
    )]))
}

macro_rules! answers {
    ($($name:ident($request:ty) -> $reply:ty;)*) => {
        #[async_trait]
        impl RequestHandler for Nobody {
            $(
                async fn $name(&self, cx: CallContext, _: $request) -> Result<$reply, A2aError> {
                    nobody(&cx)
                }
            )*
        }
    };
}

answers! {
    send_message(SendMessageRequest) -> SendReply;
    send_streaming_message(SendMessageRequest) -> EventStream;
    get_task(GetTaskRequest) -> TaskReply;
    list_tasks(ListTasksRequest) -> ListTasksResponse;
    cancel_task(CancelTaskRequest) -> TaskReply;
    subscribe_to_task(SubscribeToTaskRequest) -> EventStream;
    create_task_push_notification_config(TaskPushNotificationConfig) -> TaskPushNotificationConfig;
    get_task_push_notification_config(GetTaskPushNotificationConfigRequest) -> TaskPushNotificationConfig;
    list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest)
        -> ListTaskPushNotificationConfigsResponse;
    delete_task_push_notification_config(DeleteTaskPushNotificationConfigRequest) -> ();
    get_extended_agent_card(GetExtendedAgentCardRequest) -> AgentCard;
}

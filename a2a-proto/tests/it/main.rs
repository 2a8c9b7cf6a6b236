//! Tests of the crate as its users see it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod corpus;
mod depth;
mod descriptor;
mod differential;
mod protojson;
mod vectors;

/// A message in both of its forms.
pub trait Message: prost::Message + PartialEq + Clone + a2a_proto::json::Message {}

impl<M: prost::Message + PartialEq + Clone + a2a_proto::json::Message> Message for M {}

/// Calls a macro with all messages: proto name and Rust type.
#[macro_export]
macro_rules! for_each_message {
    ($callback:ident) => {
        $callback! {
            SendMessageConfiguration => SendMessageConfiguration;
            Task => Task;
            TaskStatus => TaskStatus;
            Part => Part;
            Message => Message;
            Artifact => Artifact;
            TaskStatusUpdateEvent => TaskStatusUpdateEvent;
            TaskArtifactUpdateEvent => TaskArtifactUpdateEvent;
            AuthenticationInfo => AuthenticationInfo;
            AgentInterface => AgentInterface;
            AgentCard => AgentCard;
            AgentProvider => AgentProvider;
            AgentCapabilities => AgentCapabilities;
            AgentExtension => AgentExtension;
            AgentSkill => AgentSkill;
            AgentCardSignature => AgentCardSignature;
            TaskPushNotificationConfig => TaskPushNotificationConfig;
            StringList => StringList;
            SecurityRequirement => SecurityRequirement;
            SecurityScheme => SecurityScheme;
            APIKeySecurityScheme => ApiKeySecurityScheme;
            HTTPAuthSecurityScheme => HttpAuthSecurityScheme;
            OAuth2SecurityScheme => OAuth2SecurityScheme;
            OpenIdConnectSecurityScheme => OpenIdConnectSecurityScheme;
            MutualTlsSecurityScheme => MutualTlsSecurityScheme;
            OAuthFlows => OAuthFlows;
            AuthorizationCodeOAuthFlow => AuthorizationCodeOAuthFlow;
            ClientCredentialsOAuthFlow => ClientCredentialsOAuthFlow;
            ImplicitOAuthFlow => ImplicitOAuthFlow;
            PasswordOAuthFlow => PasswordOAuthFlow;
            DeviceCodeOAuthFlow => DeviceCodeOAuthFlow;
            SendMessageRequest => SendMessageRequest;
            GetTaskRequest => GetTaskRequest;
            ListTasksRequest => ListTasksRequest;
            ListTasksResponse => ListTasksResponse;
            CancelTaskRequest => CancelTaskRequest;
            GetTaskPushNotificationConfigRequest => GetTaskPushNotificationConfigRequest;
            DeleteTaskPushNotificationConfigRequest => DeleteTaskPushNotificationConfigRequest;
            SubscribeToTaskRequest => SubscribeToTaskRequest;
            ListTaskPushNotificationConfigsRequest => ListTaskPushNotificationConfigsRequest;
            GetExtendedAgentCardRequest => GetExtendedAgentCardRequest;
            SendMessageResponse => SendMessageResponse;
            StreamResponse => StreamResponse;
            ListTaskPushNotificationConfigsResponse => ListTaskPushNotificationConfigsResponse;
        }
    };
}

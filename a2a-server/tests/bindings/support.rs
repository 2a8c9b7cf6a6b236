//! A scripted handler, a server around it, and a client for each binding.

pub mod grpc;
pub mod script;
pub mod web;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::v1::{
    AgentCapabilities, AgentCard, AgentExtension, CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, Message, SendMessageRequest, SubscribeToTaskRequest,
    TaskPushNotificationConfig,
};
use a2a_proto::wire::{self, Operation};
use a2a_proto::{A2aError, Binding, Call, StreamCall};
use a2a_server::{Endpoint, EndpointBuilder, Server};

pub use script::Script;
pub use web::{Response, Web};

pub const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

/// The headers that every 1.0 client sends.
pub const CURRENT: &[(&str, &str)] = &[("a2a-version", "1.0")];

pub const OPTIONAL_EXTENSION: &str = "https://extensions.test/optional";

/// Fails a test that hangs.
pub async fn within<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(3600), test)
        .await
        .expect("the test hangs")
}

/// A server with all capabilities.
pub struct Peer {
    pub endpoint: Endpoint,
    pub server: Server,
    pub script: Arc<Script>,
}

impl Peer {
    pub async fn start(script: Script) -> Self {
        Self::configured(script, card(), |builder| builder).await
    }

    pub async fn configured(
        script: Script,
        card: AgentCard,
        configure: impl FnOnce(EndpointBuilder) -> EndpointBuilder,
    ) -> Self {
        let script = Arc::new(script);
        let endpoint = configure(Endpoint::builder(script.clone(), card)).build();
        let server = endpoint.bind("127.0.0.1:0").await.unwrap();
        Self {
            endpoint,
            server,
            script,
        }
    }

    pub fn web(&self) -> Web {
        Web(self.server.local_addr())
    }

    /// Makes a call, streaming or not, and gives the error that comes instead of its answer.
    pub async fn call(
        &self,
        binding: Binding,
        operation: Operation,
        headers: &[(&str, &str)],
    ) -> Result<(), A2aError> {
        match binding {
            Binding::Grpc => grpc::call(self.server.local_addr(), &operation, headers).await,
            Binding::JsonRpc => {
                let id = wire::jsonrpc::Id::from(7);
                let body = wire::jsonrpc::request(&id, &operation);
                let response = self.web().post("/", headers, &body).await;
                let json = if response.is_event_stream() {
                    response.frames().first().unwrap().data.clone()
                } else {
                    response.text()
                };
                let reply = wire::jsonrpc::Response::parse(json.as_bytes()).unwrap();
                match reply.outcome {
                    wire::jsonrpc::Outcome::Error(error) => Err(error),
                    wire::jsonrpc::Outcome::Result(_) => Ok(()),
                }
            }
            Binding::HttpJson => {
                let request = wire::rest::request(operation).unwrap();
                let response = self
                    .web()
                    .send(
                        request.verb.as_str(),
                        &request.path,
                        headers,
                        request.body.as_deref(),
                    )
                    .await;
                match response.status {
                    200 => Ok(()),
                    status => Err(A2aError::from_http(status, &response.body)),
                }
            }
        }
    }
}

/// A card that announces everything.
pub fn card() -> AgentCard {
    AgentCard {
        name: "peer".to_owned(),
        description: "A scripted agent".to_owned(),
        version: "1.0.0".to_owned(),
        default_input_modes: vec!["text/plain".to_owned()],
        default_output_modes: vec!["text/plain".to_owned()],
        capabilities: Some(AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(true),
            extended_agent_card: Some(true),
            extensions: vec![AgentExtension {
                uri: OPTIONAL_EXTENSION.to_owned(),
                ..AgentExtension::default()
            }],
        }),
        ..AgentCard::default()
    }
}

pub fn send(message: Message) -> SendMessageRequest {
    SendMessageRequest {
        message: Some(message),
        ..SendMessageRequest::default()
    }
}

/// A push configuration.
pub fn push() -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        url: "https://hooks.test/1".to_owned(),
        ..TaskPushNotificationConfig::default()
    }
}

/// A valid request for each of the eleven operations.
pub fn operations() -> Vec<Operation> {
    let task_id = || "t1".to_owned();
    let id = || "p1".to_owned();
    vec![
        Call::SendMessage(send(Message::user("hello"))).into(),
        StreamCall::SendStreamingMessage(send(Message::user("hello"))).into(),
        Call::GetTask(GetTaskRequest {
            id: task_id(),
            ..Default::default()
        })
        .into(),
        Call::ListTasks(ListTasksRequest::default()).into(),
        Call::CancelTask(CancelTaskRequest {
            id: task_id(),
            ..Default::default()
        })
        .into(),
        StreamCall::SubscribeToTask(SubscribeToTaskRequest {
            id: task_id(),
            ..Default::default()
        })
        .into(),
        Call::CreateTaskPushNotificationConfig(TaskPushNotificationConfig {
            task_id: task_id(),
            url: "https://hooks.test/1".to_owned(),
            ..Default::default()
        })
        .into(),
        Call::GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest {
            task_id: task_id(),
            id: id(),
            ..Default::default()
        })
        .into(),
        Call::ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest {
            task_id: task_id(),
            ..Default::default()
        })
        .into(),
        Call::DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest {
            task_id: task_id(),
            id: id(),
            ..Default::default()
        })
        .into(),
        Call::GetExtendedAgentCard(GetExtendedAgentCardRequest::default()).into(),
    ]
}

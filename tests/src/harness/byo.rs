use a2a_client::{Binding, Client, ClientBuilder};
use a2a_proto::A2aError;
use a2a_proto::v1::{SendMessageRequest, Task};
use a2a_server::AgentExecutor;
use kagent_ext::byo::{Byo, ByoServer};
use kagent_ext::config::Environment;

/// A byo agent on loopback, and the binding over which a scenario reaches it.
pub(crate) struct ByoPeer {
    server: ByoServer,
    binding: Binding,
}

/// Makes a test for each binding of a byo agent.
macro_rules! for_each_wire {
    ($($(#[$attribute:meta])* async fn $name:ident($binding:ident: Binding) $body:block)*) => {
        $(
            mod $name {
                use super::*;

                $(#[$attribute])*
                async fn scenario($binding: Binding) $body

                #[tokio::test]
                async fn json_rpc() {
                    within(scenario(Binding::JsonRpc)).await;
                }

                #[tokio::test]
                async fn http_json() {
                    within(scenario(Binding::HttpJson)).await;
                }

                #[tokio::test]
                async fn grpc() {
                    within(scenario(Binding::Grpc)).await;
                }
            }
        )*
    };
}
pub(crate) use for_each_wire;

impl ByoPeer {
    pub(crate) async fn start(binding: Binding, executor: impl AgentExecutor) -> Self {
        let byo = Byo::new(executor)
            .environment(Environment::empty())
            .listen("127.0.0.1:0");
        Self {
            server: byo.bind().await.unwrap(),
            binding,
        }
    }

    /// A client as kagent's are.
    pub(crate) async fn client(&self) -> Client {
        self.connect(kagent_ext::client::preset(Client::builder()))
            .await
    }

    /// A client that knows nothing of kagent.
    pub(crate) async fn plain_client(&self) -> Client {
        self.connect(Client::builder()).await
    }

    /// A client whose calls the gateway says are those of this user.
    pub(crate) async fn client_of(&self, user: &str) -> Client {
        let client = kagent_ext::client::preset(Client::builder());
        self.connect(client.header("x-user-id", user)).await
    }

    pub(crate) async fn shutdown(&self) {
        self.server.shutdown().await;
    }

    async fn connect(&self, client: ClientBuilder) -> Client {
        let url = format!("http://{}", self.server.local_addr());
        let client = client.prefer([self.binding]).connect(url).await.unwrap();
        assert_eq!(client.binding(), Some(self.binding));
        client
    }
}

/// Sends and gets a task, or what the agent says against it.
pub(crate) async fn run(
    client: &Client,
    request: impl Into<SendMessageRequest>,
) -> Result<Task, A2aError> {
    match client.send_message(request).await {
        Ok(response) => Ok(response.into_task().expect("the agent answers with a task")),
        Err(error) => Err(error
            .protocol()
            .cloned()
            .unwrap_or_else(|| panic!("not an answer: {error:?}"))),
    }
}

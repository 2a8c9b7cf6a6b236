mod boundaries;
mod collector;
mod exporting;
mod log;
mod metrics;
mod settings;
mod spans;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use a2a_client::{Binding, Client};
use a2a_proto::v1::{Message, SendMessageRequest, Task};
use a2a_server::AgentExecutor;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::byo::{Byo, ByoServer};
use crate::config::Environment;
use crate::testing::Controller;

use collector::Collector;

/// An agent in a cluster, its controller, and its collector.
struct Peer {
    kagent: Controller,
    session: String,
    server: ByoServer,
    collector: Collector,
}

impl Peer {
    async fn start(executor: impl AgentExecutor) -> Self {
        Self::start_with(
            executor,
            Collector::start().await,
            |environment, endpoint| environment.with_var("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
        )
        .await
    }

    async fn start_with(
        executor: impl AgentExecutor,
        collector: Collector,
        told: impl FnOnce(Environment, &str) -> Environment,
    ) -> Self {
        let kagent = Controller::builder()
            .agent("team-a", "my-agent")
            .start()
            .await
            .unwrap();
        let session = kagent.new_session("ada");
        let environment = kagent.environment(&session).await.unwrap();
        let byo = Byo::new(executor)
            .environment(told(environment, &collector.url()))
            .listen("127.0.0.1:0")
            .readiness_port(0);
        Self {
            server: byo.bind().await.unwrap(),
            kagent,
            session,
            collector,
        }
    }

    fn client(&self) -> Client {
        self.client_with([])
    }

    fn client_with<const N: usize>(&self, headers: [(&'static str, &'static str); N]) -> Client {
        let builder = crate::client::preset(Client::builder()).header("x-user-id", "ada");
        headers
            .into_iter()
            .fold(builder, |builder, (name, value)| {
                builder.header(name, value)
            })
            .from_endpoint(
                Binding::Grpc,
                format!("http://{}", self.server.local_addr()),
            )
            .unwrap()
    }

    fn message(&self, text: &str) -> Message {
        Message {
            context_id: self.session.clone(),
            ..Message::user(text)
        }
    }

    /// Asks for all that is no message: health, readiness, the card.
    async fn look_around(&self) {
        let agent = self.server.local_addr();
        let mut readiness = self.server.readiness_addrs().iter();
        let readiness = readiness.find(|addr| addr.is_ipv4()).unwrap();
        let readiness = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), readiness.port());
        for (addr, path) in [
            (agent, "/health"),
            (agent, "/.well-known/agent-card.json"),
            (readiness, "/readyz"),
        ] {
            let mut stream = TcpStream::connect(addr).await.unwrap();
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: agent\r\nconnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).await.unwrap();
            assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        }
    }

    async fn send(&self, text: &str) -> Task {
        send(&self.client(), self.message(text)).await
    }
}

async fn send(client: &Client, message: impl Into<SendMessageRequest>) -> Task {
    let response = client.send_message(message).await.unwrap();
    response.into_task().unwrap()
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work)
        .await
        .expect("took too long")
}

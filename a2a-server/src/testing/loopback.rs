use crate::agent::AgentBuilder;
use crate::serve::Server;

/// An agent that is served on loopback. Dropped, it stops at once.
#[derive(Debug)]
pub struct Loopback {
    server: Server,
    url: String,
}

/// Serves an agent on a free port of loopback, all bindings on one port.
///
/// # Panics
///
/// When the agent can't be put together or served.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub async fn loopback(builder: AgentBuilder) -> Loopback {
    match builder.bind("127.0.0.1:0").await {
        Ok(server) => Loopback {
            url: format!("http://{}", server.local_addr()),
            server,
        },
        Err(error) => panic!("the agent can't be served: {error}: {error:?}"),
    }
}

impl Loopback {
    /// Where the agent is, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Stops the server, as [`Server::shutdown`] does.
    pub async fn shutdown(self) {
        self.server.shutdown().await;
    }
}

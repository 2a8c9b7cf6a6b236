//! An MCP server with two tools.

use std::sync::{Arc, Mutex};

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

pub(crate) struct McpServer {
    url: String,
    seen: Arc<Seen>,
    _server: JoinSet<()>,
}

struct Seen {
    deleted: Mutex<Vec<String>>,
    at_once: Mutex<(usize, usize)>,
    /// Two sums wait for each other: one after the other they would wait for ever.
    both: Barrier,
}

#[derive(Clone)]
struct Tools {
    seen: Arc<Seen>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct File {
    path: String,
}

#[tool_router]
impl Tools {
    #[tool(description = "Adds two numbers")]
    async fn add(&self, Parameters(Sum { a, b }): Parameters<Sum>) -> String {
        {
            let mut at_once = self.seen.at_once.lock().unwrap();
            at_once.0 += 1;
            at_once.1 = at_once.1.max(at_once.0);
        }
        // One and one are added by itself in a test.
        if (a, b) != (1, 1) {
            self.seen.both.wait().await;
        }
        self.seen.at_once.lock().unwrap().0 -= 1;
        (a + b).to_string()
    }

    #[tool(description = "Deletes a file")]
    fn delete_file(&self, Parameters(File { path }): Parameters<File>) -> String {
        self.seen.deleted.lock().unwrap().push(path.clone());
        format!("deleted {path}")
    }
}

#[tool_handler]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

impl McpServer {
    pub(crate) async fn start() -> Self {
        let seen = Arc::new(Seen {
            deleted: Mutex::default(),
            at_once: Mutex::default(),
            both: Barrier::new(2),
        });
        let tools = Tools {
            seen: Arc::clone(&seen),
        };
        let service: StreamableHttpService<Tools, LocalSessionManager> = StreamableHttpService::new(
            move || Ok(tools.clone()),
            Default::default(),
            StreamableHttpServerConfig::default(),
        );
        let router = axum::Router::new().nest_service("/mcp", service);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            seen,
            _server: server,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The files that were deleted.
    pub(crate) fn deleted(&self) -> Vec<String> {
        self.seen.deleted.lock().unwrap().clone()
    }

    /// How many sums were under way at the same time.
    pub(crate) fn most_at_once(&self) -> usize {
        self.seen.at_once.lock().unwrap().1
    }
}

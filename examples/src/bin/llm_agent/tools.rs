//! The tools of the configured MCP servers.

use std::collections::HashMap;
use std::time::Duration;

use kagent_ext::a2a_server::AgentError;
use kagent_ext::caller::{Caller, HeaderPolicy};
use kagent_ext::config::McpServer;
use rmcp::model::{CallToolRequestParams, Tool};
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value, json};

/// Connections that end when this is dropped.
pub(crate) struct Tools {
    servers: Vec<(McpServer, RunningService<RoleClient, ()>)>,
    /// Each tool, and the server that has it.
    tools: Vec<(usize, Tool)>,
}

impl Tools {
    pub(crate) async fn connect(
        servers: &[McpServer],
        caller: &Caller,
    ) -> Result<Self, AgentError> {
        let mut connected = Self {
            servers: Vec::new(),
            tools: Vec::new(),
        };
        for server in servers {
            let mut headers: HashMap<_, _> = caller
                .outgoing_headers(&HeaderPolicy::from(server))
                .into_iter()
                .filter_map(|(name, value)| Some((name?, value)))
                .collect();
            for (name, value) in &server.headers {
                headers.insert(name.parse()?, value.expose().parse()?);
            }
            let config =
                StreamableHttpClientTransportConfig::with_uri(&*server.url).custom_headers(headers);
            let service = ().serve(StreamableHttpClientTransport::from_config(config)).await?;
            let index = connected.servers.len();
            let allowed = |tool: &Tool| {
                server.tools.is_empty() || server.tools.iter().any(|name| *name == tool.name)
            };
            let tools = service.list_all_tools().await?.into_iter().filter(allowed);
            connected.tools.extend(tools.map(|tool| (index, tool)));
            connected.servers.push((server.clone(), service));
        }
        Ok(connected)
    }

    /// The tools as the model is told of them.
    pub(crate) fn declarations(&self) -> Vec<Value> {
        let declare = |(_, tool): &(usize, Tool)| {
            let function = json!({
                "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
            });
            json!({"type": "function", "function": function})
        };
        self.tools.iter().map(declare).collect()
    }

    pub(crate) fn need_approval(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|(server, _)| server.approval_for(name))
    }

    /// What a call gives, or why it failed, for the model.
    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, String> {
        let Some((server, service)) = self.find(name) else {
            return Err(format!("there is no tool {name}"));
        };
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let limit = server.timeout.unwrap_or(LIMIT);
        let result = match tokio::time::timeout(limit, service.call_tool(params)).await {
            Ok(result) => result.map_err(|error| error.to_string())?,
            Err(_) => return Err(format!("no answer within {} s", limit.as_secs())),
        };
        let texts = result.content.iter().filter_map(|block| block.as_text());
        let text = texts
            .map(|text| text.text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        match result.is_error {
            Some(true) => Err(text),
            _ => Ok(text.into()),
        }
    }

    fn find(&self, name: &str) -> Option<(&McpServer, &RunningService<RoleClient, ()>)> {
        let (index, _) = self.tools.iter().find(|(_, tool)| tool.name == name)?;
        self.servers
            .get(*index)
            .map(|(server, service)| (server, service))
    }
}

/// How long a call may take where the configuration does not say.
const LIMIT: Duration = Duration::from_secs(30);

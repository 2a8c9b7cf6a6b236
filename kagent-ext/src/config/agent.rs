use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::fields::{Fields, wrong_type};
use super::{ConfigError, Headers, Secret, Unknown};

/// What the agent is (`agent` of the document).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The system prompt.
    pub instruction: String,
    /// Whether it should stream; `None` when not said.
    pub stream: Option<bool>,
    /// Where sessions may be kept.
    pub session_db_url: Option<Secret>,
    /// Where skills lie; empty for nowhere.
    pub skills_directory: String,
    /// The model.
    pub model: Option<ModelConfig>,
    /// MCP servers.
    pub mcp_servers: Vec<McpServer>,
    /// Other agents that it may call.
    pub remote_agents: Vec<RemoteAgentConfig>,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

/// A model and how to reach it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelConfig {
    /// Its name.
    pub model: String,
    /// The kind of provider, such as `openai` or `gemini_vertex_ai`; empty when not said.
    pub provider: String,
    /// The root of its API.
    pub base_url: Option<String>,
    /// The key for its API.
    pub api_key: Option<Secret>,
    /// Headers for each call.
    pub headers: Headers,
    /// Whether the caller's credential is the key.
    pub api_key_passthrough: bool,
    /// Settings of the provider, such as `temperature`.
    pub settings: Unknown,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

/// An MCP server whose tools the agent may call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct McpServer {
    /// How it is spoken to.
    pub transport: McpTransport,
    /// Where it is.
    pub url: String,
    /// Headers for each call.
    pub headers: Headers,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// The tools that the agent may use; empty for all.
    pub tools: Vec<String>,
    /// Which of them need approval.
    pub require_approval: ApprovalPolicy,
    /// Headers of the caller that are passed on.
    pub allowed_headers: Vec<String>,
    /// Whether the caller's credential is passed on.
    pub token_passthrough: bool,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

/// How an MCP server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpTransport {
    /// Server-sent events (`sse_tools`).
    Sse,
    /// Streamable HTTP (`http_tools`).
    StreamableHttp,
}

/// Which tools of a server need a person's approval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "none, all or some")]
pub enum ApprovalPolicy {
    /// None.
    #[default]
    Never,
    /// All.
    Always,
    /// Those.
    Tools(BTreeSet<String>),
}

/// Another agent that this one may call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RemoteAgentConfig {
    /// Its name, `namespace__NS__name`.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// What it is for.
    pub description: String,
    /// Headers for each call.
    pub headers: Headers,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// Whether each call is a conversation of its own.
    pub isolate_sessions: bool,
    /// Members that this version does not know.
    pub unknown: Unknown,
}

impl AgentConfig {
    /// Reads `agent`, and what 0.x puts beside it: `model` and `stream`.
    pub(super) fn read(document: &mut Fields) -> Result<Option<Self>, ConfigError> {
        let model = document.object("model")?;
        let stream = document.bool("stream")?;
        let Some(mut agent) = document.object("agent")? else {
            let model = model.map(ModelConfig::read).transpose()?;
            return Ok(model.map(|model| Self {
                model: Some(model),
                stream,
                ..Self::default()
            }));
        };
        let model = agent.object("model")?.or(model);
        let mut mcp_servers = servers(&mut agent, "http_tools", McpTransport::StreamableHttp)?;
        mcp_servers.extend(servers(&mut agent, "sse_tools", McpTransport::Sse)?);
        let remote_agents = agent
            .objects("remote_agents")?
            .into_iter()
            .map(RemoteAgentConfig::read);
        Ok(Some(Self {
            name: agent.text("name")?,
            description: agent.text("description")?,
            instruction: agent.text("instruction")?,
            stream: agent.bool("stream")?.or(stream),
            session_db_url: agent.secret("session_db_url")?,
            skills_directory: agent.text("skills_directory")?,
            model: model.map(ModelConfig::read).transpose()?,
            mcp_servers,
            remote_agents: remote_agents.collect::<Result<_, _>>()?,
            unknown: agent.rest(),
        }))
    }
}

impl ModelConfig {
    fn read(mut fields: Fields) -> Result<Self, ConfigError> {
        let named = fields.text("provider")?;
        let mut provider = PROVIDERS
            .into_iter()
            .find(|known| same_provider(known, &named))
            .map_or(named, str::to_owned);
        let mut base_url = fields.string("base_url")?;
        let mut api_key = fields.secret("api_key")?;
        let mut settings = Unknown::default();
        for known in PROVIDERS {
            let Some(mut object) = fields.object(known)? else {
                continue;
            };
            if !provider.is_empty() && provider != known {
                return Err(
                    fields.error(known, format!("another provider is named too: {provider}"))
                );
            }
            known.clone_into(&mut provider);
            base_url = object.string("base_url")?.or(base_url);
            api_key = object.secret("api_key")?.or(api_key);
            settings = object.rest();
        }
        Ok(Self {
            model: fields.required("model")?,
            provider,
            base_url,
            api_key,
            headers: fields.headers("headers")?,
            api_key_passthrough: fields.flag("api_key_passthrough")?,
            settings,
            unknown: fields.rest(),
        })
    }
}

impl McpServer {
    /// Whether a call of that tool needs a person's approval.
    #[must_use]
    pub fn approval_for(&self, tool: &str) -> bool {
        match &self.require_approval {
            ApprovalPolicy::Never => false,
            ApprovalPolicy::Always => true,
            ApprovalPolicy::Tools(tools) => tools.contains(tool),
        }
    }

    fn read(mut fields: Fields, transport: McpTransport) -> Result<Self, ConfigError> {
        let Some(mut params) = fields.object("params")? else {
            return Err(fields.error("params", "is required"));
        };
        Ok(Self {
            transport,
            url: params.required("url")?,
            headers: params.headers("headers")?,
            timeout: params.duration("timeout")?,
            tools: fields.strings("tools")?,
            require_approval: approval(&mut fields)?,
            allowed_headers: fields.strings("allowed_headers")?,
            token_passthrough: fields.flag("token_passthrough")?,
            unknown: fields.rest(),
        })
    }
}

impl RemoteAgentConfig {
    fn read(mut fields: Fields) -> Result<Self, ConfigError> {
        Ok(Self {
            name: fields.required("name")?,
            url: fields.required("url")?,
            description: fields.text("description")?,
            headers: fields.headers("headers")?,
            timeout: fields.duration("timeout")?,
            isolate_sessions: fields.flag("isolate_sessions")?,
            unknown: fields.rest(),
        })
    }
}

fn servers(
    agent: &mut Fields,
    name: &str,
    transport: McpTransport,
) -> Result<Vec<McpServer>, ConfigError> {
    agent
        .objects(name)?
        .into_iter()
        .map(|fields| McpServer::read(fields, transport))
        .collect()
}

/// A flag in 1.0, a list of tool names in 0.x.
fn approval(fields: &mut Fields) -> Result<ApprovalPolicy, ConfigError> {
    const NAME: &str = "require_approval";
    match fields.take(NAME) {
        None | Some(Value::Bool(false)) => Ok(ApprovalPolicy::Never),
        Some(Value::Bool(true)) => Ok(ApprovalPolicy::Always),
        Some(Value::Array(tools)) => {
            let tools: Option<BTreeSet<String>> = tools
                .iter()
                .map(|tool| tool.as_str().map(str::to_owned))
                .collect();
            match tools {
                Some(tools) if tools.is_empty() => Ok(ApprovalPolicy::Never),
                Some(tools) => Ok(ApprovalPolicy::Tools(tools)),
                None => Err(fields.error(NAME, "must be a list of tool names")),
            }
        }
        Some(other) => Err(fields.error(
            NAME,
            wrong_type("true, false or a list of tool names", &other),
        )),
    }
}

/// 0.x names providers in words of its own, such as `OpenAI` and `AzureOpenAI`.
fn same_provider(known: &str, named: &str) -> bool {
    let bare = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
    bare(known) == bare(named)
}

const PROVIDERS: [&str; 11] = [
    "openai",
    "anthropic",
    "gemini_vertex_ai",
    "gemini_anthropic",
    "ollama",
    "azure_openai",
    "foundry",
    "gemini",
    "bedrock",
    "sap_ai_core",
    "mistral",
];

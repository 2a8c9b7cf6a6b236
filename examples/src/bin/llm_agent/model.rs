//! A model behind an API that is compatible with OpenAI's chat completions.

use kagent_ext::a2a_server::AgentError;
use kagent_ext::caller::{Caller, HeaderPolicy};
use kagent_ext::config::ModelConfig;
use reqwest::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) struct Model {
    client: reqwest::Client,
    config: ModelConfig,
}

/// A call of a tool that the model asks for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON, as the model wrote it.
    arguments: String,
}

/// What the model said, when it has said all.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) usage: Value,
    pub(crate) calls: Vec<ToolCall>,
    text: String,
}

/// What the model says, as it comes.
pub(crate) struct Answer {
    response: Response,
    /// What has come and is no whole line yet.
    rest: Vec<u8>,
    reply: Reply,
}

impl Model {
    pub(crate) fn new(config: ModelConfig) -> Self {
        Self {
            client: reqwest::Client::new(),
            config,
        }
    }

    pub(crate) async fn ask(
        &self,
        messages: &[Value],
        tools: &[Value],
        caller: &Caller,
    ) -> Result<Answer, AgentError> {
        let root = self
            .config
            .base_url
            .as_deref()
            .unwrap_or("https://api.openai.com/v1");
        let body = json!({
            "model": self.config.model,
            "messages": messages,
            "tools": tools,
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        let policy = match self.config.api_key_passthrough {
            true => HeaderPolicy::new().with_token(),
            false => HeaderPolicy::new(),
        };
        let mut request = self
            .client
            .post(format!("{}/chat/completions", root.trim_end_matches('/')))
            .headers(caller.outgoing_headers(&policy))
            .header("content-type", "application/json")
            .body(body.to_string());
        if let Some(key) = &self.config.api_key {
            request = request.bearer_auth(key.expose());
        }
        for (name, value) in &self.config.headers {
            request = request.header(name, value.expose());
        }
        let response = request.send().await?.error_for_status()?;
        Ok(Answer {
            response,
            rest: Vec::new(),
            reply: Reply::default(),
        })
    }
}

impl Answer {
    /// The next piece of text; `None` when all is said.
    pub(crate) async fn next_text(&mut self) -> Result<Option<String>, AgentError> {
        loop {
            while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let Some(data) = line.strip_prefix(b"data:") else {
                    continue;
                };
                let data = data.trim_ascii();
                if data == b"[DONE]" {
                    return Ok(None);
                }
                if let Some(text) = self.reply.take(&serde_json::from_slice(data)?) {
                    return Ok(Some(text));
                }
            }
            match self.response.chunk().await? {
                Some(bytes) => self.rest.extend_from_slice(&bytes),
                None => return Err("the model broke off".into()),
            }
        }
    }

    pub(crate) fn into_reply(self) -> Reply {
        self.reply
    }
}

impl Reply {
    /// Adds an event of the stream, and gives the text in it.
    fn take(&mut self, event: &Value) -> Option<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if self.id.is_empty() {
            (self.id, self.model) = (text(&event["id"]), text(&event["model"]));
        }
        if event["usage"].is_object() {
            self.usage = event["usage"].clone();
        }
        let delta = &event["choices"][0]["delta"];
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = call["index"]
                .as_u64()
                .and_then(|index| usize::try_from(index).ok());
            let index = index.unwrap_or_default().min(self.calls.len());
            if index == self.calls.len() {
                self.calls.push(ToolCall::default());
            }
            if let Some(known) = self.calls.get_mut(index) {
                known.id.push_str(&text(&call["id"]));
                known.name.push_str(&text(&call["function"]["name"]));
                known
                    .arguments
                    .push_str(&text(&call["function"]["arguments"]));
            }
        }
        let piece = text(&delta["content"]);
        self.text.push_str(&piece);
        (!piece.is_empty()).then_some(piece)
    }

    /// The reply as the model is told of it later.
    pub(crate) fn as_message(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text});
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            });
            message["tool_calls"] = calls.collect();
        }
        message
    }
}

impl ToolCall {
    /// The arguments; empty where the model wrote no object.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        serde_json::from_str(&self.arguments).unwrap_or_default()
    }
}

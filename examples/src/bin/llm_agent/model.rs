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
        if self.id.is_empty() {
            (self.id, self.model) = (text(event, "/id"), text(event, "/model"));
        }
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            self.usage = usage.clone();
        }
        let calls = event
            .pointer("/choices/0/delta/tool_calls")
            .and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.take_call(call);
        }
        let piece = text(event, "/choices/0/delta/content");
        self.text.push_str(&piece);
        (!piece.is_empty()).then_some(piece)
    }

    /// Adds a piece of a call.
    fn take_call(&mut self, piece: &Value) {
        let index = piece.get("index").and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let index = index.unwrap_or_default().min(self.calls.len());
        if index == self.calls.len() {
            self.calls.push(ToolCall::default());
        }
        if let Some(call) = self.calls.get_mut(index) {
            call.id.push_str(&text(piece, "/id"));
            call.name.push_str(&text(piece, "/function/name"));
            call.arguments.push_str(&text(piece, "/function/arguments"));
        }
    }

    /// The reply as the model is told of it later.
    pub(crate) fn as_message(&self) -> Value {
        let calls = self.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        match self.calls.is_empty() {
            true => json!({"role": "assistant", "content": self.text}),
            false => json!({
                "role": "assistant", "content": self.text, "tool_calls": calls.collect::<Vec<_>>(),
            }),
        }
    }
}

fn text(value: &Value, pointer: &str) -> String {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

impl ToolCall {
    /// The arguments; empty where the model wrote no object.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        serde_json::from_str(&self.arguments).unwrap_or_default()
    }
}

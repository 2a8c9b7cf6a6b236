use std::collections::BTreeSet;

use a2a_proto::v1::Message;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::text::{answerable_questions, hitl_status_text};
use super::{AnswerError, HitlResponse, answer, ask_user, attach, payload};

/// What a paused agent asks (kagent contract 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[expect(clippy::exhaustive_enums, reason = "version 1 has these two")]
pub enum HitlRequest {
    /// Whether tools may be called.
    #[serde(rename = "tool_approval_request")]
    ToolApproval(ToolApprovalRequest),
    /// Questions to the user.
    #[serde(rename = "ask_user_request")]
    AskUser(AskUserRequest),
}

/// Asks whether one or more tools may be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolApprovalRequest {
    /// The text that people see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The calls, at least one.
    #[serde(deserialize_with = "non_empty_list")]
    pub tools: Vec<HitlTool>,
    /// What to decide instead, where a subagent is the one that paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested: Option<NestedHitlRequest>,
}

/// Asks the user one or more questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AskUserRequest {
    /// What the answer refers to.
    #[serde(deserialize_with = "non_empty_string")]
    pub id: String,
    /// The questions.
    pub questions: Vec<Question>,
    /// What the answer refers to instead, where a subagent is the one that paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested: Option<NestedHitlRequest>,
}

/// A tool call that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HitlTool {
    /// What the decision refers to; opaque.
    #[serde(deserialize_with = "non_empty_string")]
    pub id: String,
    /// The id of the call, for display.
    #[serde(deserialize_with = "non_empty_string")]
    pub call_id: String,
    /// The name of the tool.
    #[serde(deserialize_with = "non_empty_string")]
    pub name: String,
    /// Its arguments.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub args: Map<String, Value>,
}

/// The pause of a subagent, inside that of the agent that called it (kagent contract 3.8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NestedHitlRequest {
    /// The subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_name: Option<String>,
    /// Its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// What the person decides, at least one.
    #[serde(deserialize_with = "non_empty_list")]
    pub tools: Vec<HitlTool>,
}

/// A question to the user: an object of any form, by convention with `question`, `choices` and `multiple`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Question(Map<String, Value>);

/// A request that nobody could answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the HITL request can't be answered: {0}")]
pub struct UnanswerableRequest(&'static str);

impl HitlRequest {
    /// The request that a message carries; `None` where it carries none that can be read.
    #[must_use]
    pub fn of(message: &Message) -> Option<Self> {
        Self::deserialize(Value::Object(payload(message)?.clone())).ok()
    }

    /// Puts the request into a message.
    pub fn attach_to(&self, message: &mut Message) {
        if let Ok(payload) = serde_json::to_value(self) {
            attach(message, payload);
        }
    }

    /// Whether a response answers this, each part of it once; `None` is a response that can't be read. An agent with
    /// [`HitlExtension`](super::HitlExtension) lets no other in.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self, response: Option<&HitlResponse>) -> Result<(), AnswerError> {
        answer::check(self, response)
    }

    /// What the person decides: the subagent's calls where it is the one that paused, else the agent's own.
    ///
    /// Of questions it is the one call of `ask_user`, made up where the request names none.
    #[must_use]
    pub fn visible_tools(&self) -> Vec<HitlTool> {
        match self {
            Self::ToolApproval(request) => match &request.nested {
                Some(nested) => nested.tools.clone(),
                None => request.tools.clone(),
            },
            Self::AskUser(request) => match &request.nested {
                Some(nested) => nested.tools.clone(),
                None => vec![request.as_tool()],
            },
        }
    }

    /// The message of the INPUT_REQUIRED status that asks this: text for people always, and the request itself for
    /// a client that activated the extension.
    ///
    /// One call of `ask_user` becomes questions, and questions that nobody could answer an approval (kagent contract
    /// 3.5, 3.6).
    ///
    /// # Errors
    ///
    /// When nobody could answer: it asks nothing, or about a call without an id or name, or twice about the same.
    pub fn into_status_message(self, activated: bool) -> Result<Message, UnanswerableRequest> {
        let (request, text) = match self {
            Self::AskUser(request) => request.published(),
            Self::ToolApproval(request) => request.published(),
        };
        let tools = request.visible_tools();
        if tools.is_empty() {
            return Err(UnanswerableRequest("it asks nothing"));
        }
        let unnamed =
            |tool: &HitlTool| tool.id.is_empty() || tool.call_id.is_empty() || tool.name.is_empty();
        if tools.iter().any(unnamed) {
            return Err(UnanswerableRequest("a tool call has an empty id or name"));
        }
        let ids: BTreeSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
        if ids.len() != tools.len() {
            return Err(UnanswerableRequest("two tool calls have the same id"));
        }
        let mut message = Message::agent(text);
        if activated {
            request.attach_to(&mut message);
        }
        Ok(message)
    }
}

impl ToolApprovalRequest {
    /// A request for these calls.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = HitlTool>) -> Self {
        Self {
            hint: None,
            tools: tools.into_iter().collect(),
            nested: None,
        }
    }

    /// Adds why the agent asks. When the request is published, the names of the tools are added.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says that a subagent is the one that paused.
    #[must_use]
    pub fn with_nested(mut self, nested: NestedHitlRequest) -> Self {
        self.nested = Some(nested);
        self
    }

    fn published(mut self) -> (HitlRequest, String) {
        let text = hitl_status_text(&self.tools, self.hint.as_deref());
        let questions = answerable_questions(&self.tools);
        match self.tools.first() {
            Some(tool) if !questions.is_empty() => {
                let request = AskUserRequest {
                    id: tool.id.clone(),
                    questions,
                    nested: self.nested,
                };
                (request.into(), text)
            }
            _ => {
                self.hint = Some(text.clone());
                (self.into(), text)
            }
        }
    }
}

impl AskUserRequest {
    /// Questions whose answer refers to that id.
    #[must_use]
    pub fn new(id: impl Into<String>, questions: impl IntoIterator<Item = Question>) -> Self {
        Self {
            id: id.into(),
            questions: questions.into_iter().collect(),
            nested: None,
        }
    }

    /// Says that a subagent is the one that paused.
    #[must_use]
    pub fn with_nested(mut self, nested: NestedHitlRequest) -> Self {
        self.nested = Some(nested);
        self
    }

    /// What the answer refers to: the subagent's id where it is the one that paused.
    #[must_use]
    pub fn answer_id(&self) -> &str {
        match self.nested.as_ref().and_then(|nested| nested.tools.first()) {
            Some(tool) => &tool.id,
            None => &self.id,
        }
    }

    fn as_tool(&self) -> HitlTool {
        let questions = self
            .questions
            .iter()
            .map(|question| Value::Object(question.0.clone()));
        let mut args = Map::new();
        args.insert("questions".to_owned(), Value::Array(questions.collect()));
        HitlTool {
            id: self.id.clone(),
            call_id: self.id.clone(),
            name: ask_user::NAME.to_owned(),
            args,
        }
    }

    fn published(self) -> (HitlRequest, String) {
        let request = ToolApprovalRequest {
            hint: None,
            tools: vec![self.as_tool()],
            nested: self.nested,
        };
        request.published()
    }
}

impl HitlTool {
    /// A call of that tool. The id is what the decision refers to, and shown as the id of the call too.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            call_id: id.clone(),
            id,
            name: name.into(),
            args: Map::new(),
        }
    }

    /// Sets the id of the call that is shown.
    #[must_use]
    pub fn with_call_id(mut self, call_id: impl Into<String>) -> Self {
        self.call_id = call_id.into();
        self
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args(mut self, args: Map<String, Value>) -> Self {
        self.args = args;
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// The argument with that name, if it is a string; else an empty one.
    #[must_use]
    pub fn arg_str(&self, name: &str) -> &str {
        self.args
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

impl NestedHitlRequest {
    /// The pause of that subagent in its task.
    #[must_use]
    pub fn new(
        subagent_name: impl Into<String>,
        task_id: impl Into<String>,
        tools: impl IntoIterator<Item = HitlTool>,
    ) -> Self {
        Self {
            subagent_name: Some(subagent_name.into()),
            task_id: Some(task_id.into()),
            context_id: None,
            tools: tools.into_iter().collect(),
        }
    }

    /// Sets the context of the subagent's task.
    #[must_use]
    pub fn with_context_id(mut self, context_id: impl Into<String>) -> Self {
        self.context_id = Some(context_id.into());
        self
    }
}

impl Question {
    /// A question that is answered in free text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let mut question = Map::new();
        question.insert("question".to_owned(), Value::String(text.into()));
        question.insert("choices".to_owned(), Value::Array(Vec::new()));
        question.insert("multiple".to_owned(), Value::Bool(false));
        Self(question)
    }

    /// Offers choices.
    #[must_use]
    pub fn with_choices<S: Into<String>>(mut self, choices: impl IntoIterator<Item = S>) -> Self {
        let choices = choices
            .into_iter()
            .map(|choice| Value::String(choice.into()));
        self.0
            .insert("choices".to_owned(), Value::Array(choices.collect()));
        self
    }

    /// Lets the user pick several of the choices.
    #[must_use]
    pub fn with_multiple(mut self) -> Self {
        self.0.insert("multiple".to_owned(), Value::Bool(true));
        self
    }

    /// The text; empty where the question has none.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0
            .get("question")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The choices; none for a question that is answered in free text.
    pub fn choices(&self) -> impl Iterator<Item = &str> {
        let choices = self.0.get("choices").and_then(Value::as_array);
        choices.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Whether the user may pick several of the choices.
    #[must_use]
    pub fn is_multiple(&self) -> bool {
        self.0
            .get("multiple")
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// The question as the agent wrote it.
    #[must_use]
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl From<Map<String, Value>> for Question {
    fn from(question: Map<String, Value>) -> Self {
        Self(question)
    }
}

impl From<&str> for Question {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<ToolApprovalRequest> for HitlRequest {
    fn from(request: ToolApprovalRequest) -> Self {
        Self::ToolApproval(request)
    }
}

impl From<AskUserRequest> for HitlRequest {
    fn from(request: AskUserRequest) -> Self {
        Self::AskUser(request)
    }
}

pub(super) fn non_empty_string<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.is_empty() {
        return Err(D::Error::custom("must not be empty"));
    }
    Ok(text)
}

pub(super) fn non_empty_list<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let items = Vec::deserialize(from)?;
    if items.is_empty() {
        return Err(D::Error::custom("must not be empty"));
    }
    Ok(items)
}

fn null_is_empty<'de, D: Deserializer<'de>>(from: D) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

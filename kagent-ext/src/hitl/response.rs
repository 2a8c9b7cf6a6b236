use std::collections::BTreeMap;

use a2a_proto::v1::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::request::{non_empty_list, non_empty_string};
use super::{attach, payload};

/// What a person answers to a [`HitlRequest`](super::HitlRequest) (kagent contract 3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[expect(clippy::exhaustive_enums, reason = "version 1 has these two")]
pub enum HitlResponse {
    /// Decisions about tools.
    #[serde(rename = "tool_approval_response")]
    ToolApproval(ToolApprovalResponse),
    /// Answers to questions.
    #[serde(rename = "ask_user_response")]
    AskUser(AskUserResponse),
}

/// Decisions about tool calls, one each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolApprovalResponse {
    /// The decisions, at least one.
    #[serde(deserialize_with = "non_empty_list")]
    pub approvals: Vec<ToolApproval>,
}

/// A decision about one tool call.
///
/// A reason can only be given for a rejection. Read from elsewhere, an approval may have one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolApproval {
    #[serde(deserialize_with = "non_empty_string")]
    id: String,
    approved: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rejection_reason: Option<String>,
}

/// Answers to the questions of an [`AskUserRequest`](super::AskUserRequest), in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AskUserResponse {
    /// The id of the request.
    #[serde(deserialize_with = "non_empty_string")]
    pub id: String,
    /// An answer for each question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<QuestionAnswer>>,
}

/// The answer to one question: what was picked or typed, by convention under `answer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionAnswer(BTreeMap<String, Vec<String>>);

impl HitlResponse {
    /// The response that a message carries; `None` where it carries none that can be read.
    #[must_use]
    pub fn of(message: &Message) -> Option<Self> {
        Self::read(Self::decision(message)?)
    }

    /// Puts the response into a message.
    pub fn attach_to(&self, message: &mut Message) {
        if let Ok(payload) = serde_json::to_value(self) {
            attach(message, payload);
        }
    }

    /// The payload of a message that is meant as an answer, be it well-formed or not.
    pub(crate) fn decision(message: &Message) -> Option<&Map<String, Value>> {
        let payload = payload(message)?;
        let kind = payload.get("type")?.as_str()?;
        matches!(kind, "tool_approval_response" | "ask_user_response").then_some(payload)
    }

    pub(crate) fn read(payload: &Map<String, Value>) -> Option<Self> {
        Self::deserialize(Value::Object(payload.clone())).ok()
    }
}

impl ToolApprovalResponse {
    /// These decisions.
    #[must_use]
    pub fn new(approvals: impl IntoIterator<Item = ToolApproval>) -> Self {
        Self {
            approvals: approvals.into_iter().collect(),
        }
    }
}

impl ToolApproval {
    /// Lets that call happen.
    #[must_use]
    pub fn approve(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            approved: true,
            rejection_reason: None,
        }
    }

    /// Forbids that call. The reason is for the model; empty for none.
    #[must_use]
    pub fn reject(id: impl Into<String>, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let rejection_reason = (!reason.is_empty()).then_some(reason);
        Self {
            id: id.into(),
            approved: false,
            rejection_reason,
        }
    }

    /// Which call.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it may happen.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        self.approved
    }

    /// Why not.
    #[must_use]
    pub fn rejection_reason(&self) -> Option<&str> {
        if self.approved {
            None
        } else {
            self.rejection_reason.as_deref()
        }
    }
}

impl AskUserResponse {
    /// Answers to the questions of the request with that id.
    #[must_use]
    pub fn new(id: impl Into<String>, answers: impl IntoIterator<Item = QuestionAnswer>) -> Self {
        Self {
            id: id.into(),
            answers: Some(answers.into_iter().collect()),
        }
    }
}

impl QuestionAnswer {
    /// An answer of these values.
    #[must_use]
    pub fn new<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self(BTreeMap::from([("answer".to_owned(), values)]))
    }

    /// What was picked or typed.
    #[must_use]
    pub fn values(&self) -> &[String] {
        self.0.get("answer").map_or(&[], Vec::as_slice)
    }
}

impl From<ToolApprovalResponse> for HitlResponse {
    fn from(response: ToolApprovalResponse) -> Self {
        Self::ToolApproval(response)
    }
}

impl From<AskUserResponse> for HitlResponse {
    fn from(response: AskUserResponse) -> Self {
        Self::AskUser(response)
    }
}

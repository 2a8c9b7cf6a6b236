use a2a_proto::v1::{Message, Task, TaskState};
use serde::{Deserialize, Serialize};

use super::answer::check;
use super::{
    AnswerError, AskUserResponse, HitlRequest, HitlResponse, HitlTool, QuestionAnswer,
    ToolApproval, ToolApprovalResponse,
};
use crate::uri;

/// A task that waits for input, as a client sees it.
///
/// It can be written down and answered by another process.
///
/// ```
/// use kagent_ext::hitl::{Decision, Pause};
///
/// fn answer(task: &a2a_proto::v1::Task) -> Option<a2a_proto::v1::Message> {
///     let Some(Pause::Answerable(pause)) = Pause::of(task) else { return None };
///     pause
///         .decide(|tool| match tool.name.as_str() {
///             "delete_file" => Decision::reject("in use"),
///             _ => Decision::Approve,
///         })
///         .ok()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a pause can be answered, or not, or not be read"
)]
pub enum Pause {
    /// It says what it asks.
    Answerable(Answerable),
    /// It has a text and nothing to refer to: the message that led to it did not activate the extension. An answer
    /// in plain text is ordinary input to the agent; for a decision, cancel the task and send the message again with
    /// [`uri::ACTIVATED`].
    Unanswerable {
        /// What the agent wrote.
        text: String,
    },
    /// It carries a request that this version can't read.
    Unreadable {
        /// What the agent wrote.
        text: String,
    },
}

/// A pause that can be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answerable {
    task_id: String,
    context_id: String,
    text: String,
    request: HitlRequest,
}

/// What a person says about one tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a call may happen or not")]
pub enum Decision {
    /// It may happen.
    Approve,
    /// It may not.
    Reject {
        /// Why, for the model; empty for no reason.
        reason: String,
    },
}

impl Pause {
    /// The pause of a task; `None` when it does not wait for input.
    #[must_use]
    pub fn of(task: &Task) -> Option<Self> {
        if task.state() != TaskState::InputRequired {
            return None;
        }
        let Some(message) = task.status_message() else {
            return Some(Self::Unanswerable {
                text: String::new(),
            });
        };
        let text = message.text();
        Some(match HitlRequest::of(message) {
            Some(request) => Self::Answerable(Answerable {
                task_id: task.id.clone(),
                context_id: task.context_id.clone(),
                text,
                request,
            }),
            None if mentions_extension(message) => Self::Unreadable { text },
            None => Self::Unanswerable { text },
        })
    }

    /// What the agent wrote for people to read.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Answerable(pause) => &pause.text,
            Self::Unanswerable { text } | Self::Unreadable { text } => text,
        }
    }
}

impl Answerable {
    /// The task that waits.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// The context of the task.
    #[must_use]
    pub fn context_id(&self) -> &str {
        &self.context_id
    }

    /// What the agent wrote for people to read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the agent asks.
    #[must_use]
    pub fn request(&self) -> &HitlRequest {
        &self.request
    }

    /// The answer that lets every call happen.
    ///
    /// # Errors
    ///
    /// When questions are asked instead, or the request can't be answered.
    pub fn approve_all(&self) -> Result<Message, AnswerError> {
        self.decide(|_| Decision::Approve)
    }

    /// The answer that forbids every call, for one reason.
    ///
    /// # Errors
    ///
    /// When questions are asked instead, or the request can't be answered.
    pub fn reject_all(&self, reason: &str) -> Result<Message, AnswerError> {
        self.decide(|_| Decision::reject(reason))
    }

    /// The answer that decides each call: none can be forgotten, or decided twice.
    ///
    /// # Errors
    ///
    /// When questions are asked instead, or the request can't be answered.
    pub fn decide(
        &self,
        mut decide: impl FnMut(&HitlTool) -> Decision,
    ) -> Result<Message, AnswerError> {
        if let HitlRequest::AskUser(request) = &self.request {
            return Err(AnswerError::WrongQuestion {
                nested: request.nested.is_some(),
            });
        }
        let approvals = self
            .request
            .visible_tools()
            .into_iter()
            .map(|tool| match decide(&tool) {
                Decision::Approve => ToolApproval::approve(tool.id),
                Decision::Reject { reason } => ToolApproval::reject(tool.id, reason),
            });
        self.respond(ToolApprovalResponse::new(approvals))
    }

    /// The answer to questions, in their order: for each what was picked or typed.
    ///
    /// # Errors
    ///
    /// When an approval is asked for instead, or the number of answers is not that of the questions.
    pub fn answer<A, S>(&self, answers: impl IntoIterator<Item = A>) -> Result<Message, AnswerError>
    where
        A: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let HitlRequest::AskUser(request) = &self.request else {
            return Err(AnswerError::NotAnApproval);
        };
        let answers = answers.into_iter().map(QuestionAnswer::new);
        self.respond(AskUserResponse::new(request.answer_id(), answers))
    }

    /// The message with that response, ready to be sent.
    ///
    /// # Errors
    ///
    /// When the response does not answer the request: the agent would refuse it.
    pub fn respond(&self, response: impl Into<HitlResponse>) -> Result<Message, AnswerError> {
        let response = response.into();
        check(&self.request, Some(&response))?;
        let mut message = Message::user(summary(&response));
        message.task_id.clone_from(&self.task_id);
        message.context_id.clone_from(&self.context_id);
        response.attach_to(&mut message);
        Ok(message)
    }
}

impl Decision {
    /// It may not happen, for that reason.
    #[must_use]
    pub fn reject(reason: impl Into<String>) -> Self {
        Self::Reject {
            reason: reason.into(),
        }
    }
}

fn mentions_extension(message: &Message) -> bool {
    let in_metadata = message
        .metadata
        .as_ref()
        .is_some_and(|metadata| metadata.contains_key(uri::HITL));
    in_metadata || message.extensions.iter().any(|uri| uri == uri::HITL)
}

/// The text part of an answer; for people only, agents read the payload.
fn summary(response: &HitlResponse) -> String {
    match response {
        HitlResponse::ToolApproval(response) => {
            let approved = response
                .approvals
                .iter()
                .filter(|approval| approval.is_approved())
                .count();
            match response.approvals.len() {
                total if approved == total => "Approved".to_owned(),
                _ if approved == 0 => "Rejected".to_owned(),
                total => format!("Approved {approved} of {total}"),
            }
        }
        HitlResponse::AskUser(response) => {
            let answers = response.answers.as_deref().unwrap_or_default();
            let answers: Vec<String> = answers
                .iter()
                .map(|answer| answer.values().join(", "))
                .collect();
            answers.join("; ")
        }
    }
}

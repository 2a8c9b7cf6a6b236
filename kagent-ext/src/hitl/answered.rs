use a2a_proto::v1::{Message, Task, TaskState};
use a2a_server::ExecutionContext;
use serde_json::{Value, json};

use super::answer::check;
use super::{
    AnswerError, HitlRequest, HitlResponse, HitlTool, Question, QuestionAnswer, ToolApproval,
};

/// What the user answered to the pause that this execution goes on from.
///
/// ```no_run
/// use kagent_ext::a2a_server::{AgentError, EventSink, ExecutionContext};
/// use kagent_ext::hitl::{self, Hitl, HitlTool, ToolApprovalRequest};
///
/// async fn execute(cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
///     match Hitl::of(&cx) {
///         Hitl::Approvals(approvals) if approvals.all_approved() => out.reply("Deleted.").await?,
///         Hitl::Approvals(_) => out.reply("Left as it is.").await?,
///         _ => {
///             let tool = HitlTool::new("call-1", "delete_file").arg("path", "old.txt");
///             hitl::pause(&cx, &out, ToolApprovalRequest::new([tool])).await?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "version 1 asks for approvals and for answers"
)]
pub enum Hitl {
    /// The message is no answer: a new task, or plain text, which is ordinary input.
    None,
    /// A decision for each tool call that was asked about.
    Approvals(Approvals),
    /// An answer for each question.
    Answers(Answers),
}

/// A decision for each tool call, in the order in which they were asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Approvals(Vec<Approval>);

/// A tool call and what the user decided about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    tool: HitlTool,
    decision: ToolApproval,
}

/// The answers, in the order of the questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    questions: Vec<Question>,
    answers: Vec<QuestionAnswer>,
}

impl Hitl {
    /// What the message that is being worked on answers.
    ///
    /// With [`HitlExtension`](super::HitlExtension) a wrong answer never gets here: its sender is told, and the task
    /// goes on waiting. Without it a wrong answer is none.
    #[must_use]
    pub fn of(cx: &ExecutionContext) -> Self {
        Self::read(cx.task(), cx.message()).unwrap_or(Self::None)
    }

    /// What a message answers to the pause of a stored task.
    pub(super) fn read(task: Option<&Task>, message: &Message) -> Result<Self, AnswerError> {
        let Some(payload) = HitlResponse::decision(message) else {
            return Ok(Self::None);
        };
        let task = task.ok_or(AnswerError::NoTask)?;
        if task.state() != TaskState::InputRequired {
            return Err(AnswerError::NotWaiting);
        }
        let request = task
            .status_message()
            .and_then(HitlRequest::of)
            .ok_or(AnswerError::NoRequest)?;
        let response = HitlResponse::read(payload);
        check(&request, response.as_ref())?;
        Ok(match (request, response) {
            (
                request @ HitlRequest::ToolApproval(_),
                Some(HitlResponse::ToolApproval(response)),
            ) => {
                let decided = |tool: HitlTool| {
                    let decision = response
                        .approvals
                        .iter()
                        .find(|decision| decision.id() == tool.id)?
                        .clone();
                    Some(Approval { tool, decision })
                };
                Self::Approvals(Approvals(
                    request
                        .visible_tools()
                        .into_iter()
                        .filter_map(decided)
                        .collect(),
                ))
            }
            (HitlRequest::AskUser(request), Some(HitlResponse::AskUser(response))) => {
                Self::Answers(Answers {
                    questions: request.questions,
                    answers: response.answers.unwrap_or_default(),
                })
            }
            _ => Self::None,
        })
    }
}

impl Approvals {
    /// The calls and what was decided, in the order in which they were asked about.
    pub fn iter(&self) -> std::slice::Iter<'_, Approval> {
        self.0.iter()
    }

    /// What was decided about the call with that id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Approval> {
        self.iter().find(|approval| approval.tool.id == id)
    }

    /// Whether every call may happen.
    #[must_use]
    pub fn all_approved(&self) -> bool {
        self.iter().all(Approval::is_approved)
    }
}

impl<'a> IntoIterator for &'a Approvals {
    type Item = &'a Approval;
    type IntoIter = std::slice::Iter<'a, Approval>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Approval {
    /// The call.
    #[must_use]
    pub fn tool(&self) -> &HitlTool {
        &self.tool
    }

    /// Whether it may happen.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        self.decision.is_approved()
    }

    /// Why it may not.
    #[must_use]
    pub fn rejection_reason(&self) -> Option<&str> {
        self.decision.rejection_reason()
    }

    /// What the model gets as the result of a call that may not happen; `None` for one that may.
    #[must_use]
    pub fn rejection(&self) -> Option<String> {
        if self.is_approved() {
            return None;
        }
        Some(match self.rejection_reason() {
            Some(reason) => format!("Tool call was rejected by user. Reason: {reason}"),
            None => "Tool call was rejected by user.".to_owned(),
        })
    }
}

impl Answers {
    /// The questions and what was picked or typed for each.
    pub fn iter(&self) -> impl Iterator<Item = (&Question, &[String])> {
        self.questions
            .iter()
            .zip(self.answers.iter().map(QuestionAnswer::values))
    }

    /// What the model gets as the result of its call of `ask_user`.
    #[must_use]
    pub fn tool_result(&self) -> Value {
        self.iter()
            .map(|(question, answer)| json!({"question": question.text(), "answer": answer}))
            .collect()
    }
}

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use a2a_proto::A2aError;

use super::{
    AskUserRequest, AskUserResponse, HitlRequest, HitlResponse, HitlTool, ToolApprovalRequest,
    ToolApprovalResponse, ask_user,
};

/// Why an answer does not fit the pause; the texts are those of every kagent runtime (kagent contract 3.7, 3.8).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The answer belongs to no task.
    #[error("HITL decision requires a stored current task")]
    NoTask,
    /// The task does not wait for input.
    #[error("HITL decision requires a stored input-required task")]
    NotWaiting,
    /// The task waits, but asks nothing that can be answered this way.
    #[error("Stored input-required task has no HITL request")]
    NoRequest,
    /// An approval is asked for and something else answered.
    #[error("Tool approval request requires a tool approval response")]
    NotAnApproval,
    /// The request names an id twice.
    #[error("Stored tool approval request contains duplicate ids")]
    DuplicateRequestIds,
    /// The answer decides a call twice.
    #[error("Tool approval response contains duplicate ids")]
    DuplicateIds,
    /// Calls are left undecided.
    #[error("Tool approval response is missing ids: {}", join(ids))]
    MissingIds {
        /// Those calls.
        ids: BTreeSet<String>,
    },
    /// Calls are decided that the request does not name.
    #[error("Tool approval response contains unknown ids: {}", join(ids))]
    UnknownIds {
        /// Those calls.
        ids: BTreeSet<String>,
    },
    /// Questions are asked, and the answer is to something else.
    #[error("{}ask_user response has invalid correlation", prefix(*nested))]
    WrongQuestion {
        /// Whether a subagent asks.
        nested: bool,
    },
    /// Questions are asked and none is answered.
    #[error("{}ask_user response contains no answers", prefix(*nested))]
    NoAnswers {
        /// Whether a subagent asks.
        nested: bool,
    },
    /// Some questions are not answered, or there are more answers than questions.
    #[error("ask_user response must answer every question")]
    AnswerCount,
    /// The request does not say which task of which subagent paused.
    #[error("Nested HITL request is missing subagent task correlation")]
    NestedCorrelation,
    /// A subagent's questions come with another number of calls than one, or another tool.
    #[error("Nested ask_user request must contain exactly one ask_user tool")]
    NestedQuestion,
    /// A subagent's pause is asked about by another number of calls than one.
    #[error("Nested HITL request must contain exactly one parent tool")]
    NestedParent,
}

/// Whether the response answers the request, each part of it once.
///
/// Leaving a call undecided never means that it may happen. `None` is a response that can't be read.
pub(crate) fn check(
    request: &HitlRequest,
    response: Option<&HitlResponse>,
) -> Result<(), AnswerError> {
    match request {
        HitlRequest::ToolApproval(request) => {
            let approvals = match response {
                Some(HitlResponse::ToolApproval(response)) => Some(response),
                _ => None,
            };
            check_approvals(request, approvals)
        }
        HitlRequest::AskUser(request) => {
            let answers = match response {
                Some(HitlResponse::AskUser(response)) => Some(response),
                _ => None,
            };
            check_answers(request, answers)
        }
    }
}

fn check_approvals(
    request: &ToolApprovalRequest,
    response: Option<&ToolApprovalResponse>,
) -> Result<(), AnswerError> {
    let tools = match &request.nested {
        None => &request.tools,
        Some(nested) => {
            if is_blank(nested.task_id.as_deref()) || is_blank(nested.subagent_name.as_deref()) {
                return Err(AnswerError::NestedCorrelation);
            }
            if request.tools.len() != 1 {
                return Err(AnswerError::NestedParent);
            }
            &nested.tools
        }
    };
    let response = response.ok_or(AnswerError::NotAnApproval)?;
    let asked = ids(tools.iter().map(|tool| tool.id.as_str()));
    if asked.len() != tools.len() {
        return Err(AnswerError::DuplicateRequestIds);
    }
    let decided = ids(response.approvals.iter().map(|approval| approval.id()));
    if decided.len() != response.approvals.len() {
        return Err(AnswerError::DuplicateIds);
    }
    let missing: BTreeSet<String> = asked.difference(&decided).cloned().collect();
    if !missing.is_empty() {
        return Err(AnswerError::MissingIds { ids: missing });
    }
    let unknown: BTreeSet<String> = decided.difference(&asked).cloned().collect();
    if !unknown.is_empty() {
        return Err(AnswerError::UnknownIds { ids: unknown });
    }
    Ok(())
}

fn check_answers(
    request: &AskUserRequest,
    response: Option<&AskUserResponse>,
) -> Result<(), AnswerError> {
    let nested = request.nested.is_some();
    if let Some(nested) = &request.nested {
        if is_blank(nested.task_id.as_deref()) || is_blank(nested.subagent_name.as_deref()) {
            return Err(AnswerError::NestedCorrelation);
        }
        if !matches!(nested.tools.as_slice(), [HitlTool { name, .. }] if name == ask_user::NAME) {
            return Err(AnswerError::NestedQuestion);
        }
    }
    let response = response
        .filter(|response| response.id == request.answer_id())
        .ok_or(AnswerError::WrongQuestion { nested })?;
    let answers = response.answers.as_deref().unwrap_or_default();
    if answers.is_empty() {
        return Err(AnswerError::NoAnswers { nested });
    }
    // How many questions the subagent has is for the subagent to check.
    if !nested && answers.len() != request.questions.len() {
        return Err(AnswerError::AnswerCount);
    }
    Ok(())
}

impl From<AnswerError> for A2aError {
    fn from(error: AnswerError) -> Self {
        Self::invalid_params(error.to_string())
            .with_violation("message.metadata", error.to_string())
    }
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_none_or(str::is_empty)
}

fn ids<'a>(ids: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    ids.map(str::to_owned).collect()
}

fn join(ids: &BTreeSet<String>) -> String {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    ids.join(", ")
}

fn prefix(nested: bool) -> &'static str {
    if nested { "Nested " } else { "" }
}

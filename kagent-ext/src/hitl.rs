//! Human in the loop: an agent pauses for a decision, a person decides (kagent contract 3).
//!
//! A pause is an INPUT_REQUIRED status whose message carries a [`HitlRequest`]; the answer is a message of the user
//! that carries a [`HitlResponse`]. Both carry their payload twice over: in `metadata` under [`uri::HITL`], and by
//! naming that URI in `extensions`. With only one of the two a reader sees plain text.
//!
//! For a client, [`Pause::of`] reads a pause and builds the answer. For an agent, `HitlExtension` checks the answer
//! before the executor is called, and `Hitl::of` hands it over.

mod answer;
#[cfg(feature = "server")]
mod answered;
pub mod ask_user;
#[cfg(feature = "server")]
mod extension;
mod pause;
mod request;
mod response;
mod text;

use a2a_proto::v1::Message;
use serde_json::{Map, Value};

use crate::uri;

pub use answer::AnswerError;
#[cfg(feature = "server")]
pub use answered::{Answers, Approval, Approvals, Hitl};
#[cfg(feature = "server")]
pub use extension::{HitlExtension, pause};
pub use pause::{Answerable, Decision, Pause};
pub use request::{
    AskUserRequest, HitlRequest, HitlTool, NestedHitlRequest, Question, ToolApprovalRequest,
    UnanswerableRequest,
};
pub use response::{
    AskUserResponse, HitlResponse, QuestionAnswer, ToolApproval, ToolApprovalResponse,
};
pub use text::hitl_status_text;

/// The payload of a message that keeps the carrier rule: URI in `extensions`, and an object with a string `type` in
/// `metadata` (kagent contract 3.1).
fn payload(message: &Message) -> Option<&Map<String, Value>> {
    if !message.extensions.iter().any(|uri| uri == uri::HITL) {
        return None;
    }
    let payload = message.metadata.as_ref()?.get(uri::HITL)?.as_object()?;
    payload.get("type")?.is_string().then_some(payload)
}

/// Puts a payload into a message by the carrier rule.
fn attach(message: &mut Message, payload: Value) {
    let payload = a2a_proto::Value::from(payload).into_inner();
    message
        .metadata
        .get_or_insert_default()
        .insert(uri::HITL.to_owned(), payload);
    if !message.extensions.iter().any(|uri| uri == uri::HITL) {
        message.extensions.push(uri::HITL.to_owned());
    }
}

#[cfg(test)]
mod tests;

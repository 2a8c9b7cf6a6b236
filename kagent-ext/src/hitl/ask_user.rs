//! The tool with which a model asks its user, ready to be offered to any model (kagent contract 3.10).

use serde_json::{Map, Value, json};

use super::{HitlRequest, HitlTool, ToolApprovalRequest};

/// The name of the tool.
pub const NAME: &str = "ask_user";

/// The tool as most model APIs want it: `name`, `description`, and `parameters` as a JSON schema.
#[must_use]
pub fn declaration() -> Value {
    json!({
        "name": NAME,
        "description": "Put questions to the user and wait for the answers. Use it when something only the user knows \
            or may decide is missing.",
        "parameters": {
            "type": "object",
            "properties": {
                "questions": {
                    "type": "array",
                    "description": "The questions, in the order in which they are to be shown.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "question": {"type": "string", "description": "The question itself."},
                            "choices": {
                                "type": "array",
                                "items": {"type": "string"},
                                "description": "Answers to pick from; leave out for an answer in free text.",
                            },
                            "multiple": {
                                "type": "boolean",
                                "description": "Whether several choices may be picked; false if left out.",
                            },
                        },
                        "required": ["question"],
                    },
                },
            },
            "required": ["questions"],
        },
    })
}

/// What to pause with when the model calls the tool. The id is that of the call.
#[must_use]
pub fn request(call_id: impl Into<String>, args: Map<String, Value>) -> HitlRequest {
    ToolApprovalRequest::new([HitlTool::new(call_id, NAME).with_args(args)]).into()
}

/// The result of the call while the user has not answered; kagent's UI hides it.
#[must_use]
pub fn pending(args: &Map<String, Value>) -> Value {
    let questions = args.get("questions").cloned().unwrap_or_else(|| json!([]));
    json!({"status": "pending", "questions": questions})
}

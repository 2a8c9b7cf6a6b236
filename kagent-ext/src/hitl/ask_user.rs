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

#[cfg(test)]
mod tests {
    use super::*;

    fn args(args: Value) -> Map<String, Value> {
        args.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_call_of_the_tool_asks_its_questions() {
        let questions =
            args(json!({"questions": [{"question": "Which env?", "choices": ["dev"]}]}));
        let message = request("call-1", questions.clone())
            .into_status_message(true)
            .unwrap();
        let Some(HitlRequest::AskUser(asked)) = HitlRequest::of(&message) else {
            panic!("not questions");
        };
        assert_eq!(
            (asked.id.as_str(), asked.questions[0].text()),
            ("call-1", "Which env?")
        );
        assert_eq!(
            pending(&questions),
            json!({"status": "pending", "questions": questions["questions"]})
        );
    }

    #[test]
    fn a_call_without_questions_asks_for_approval() {
        let message = request("call-1", Map::new())
            .into_status_message(true)
            .unwrap();
        assert!(matches!(
            HitlRequest::of(&message),
            Some(HitlRequest::ToolApproval(_))
        ));
        assert_eq!(
            pending(&Map::new()),
            json!({"status": "pending", "questions": []})
        );
    }

    #[test]
    fn a_model_is_told_what_a_question_is_made_of() {
        let declared = declaration();
        assert_eq!(declared["name"], NAME);
        let question = &declared["parameters"]["properties"]["questions"]["items"];
        for name in ["question", "choices", "multiple"] {
            assert!(question["properties"][name]["type"].is_string(), "{name}");
        }
        assert_eq!(question["required"], json!(["question"]));
    }
}

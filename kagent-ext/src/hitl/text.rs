use serde_json::Value;

use super::{HitlTool, Question, ask_user};

/// The text of a pause, for people and for clients that did not activate the extension; the same in every kagent
/// runtime (kagent contract 3.5).
///
/// ```
/// use kagent_ext::hitl::{HitlTool, hitl_status_text};
///
/// let tools = [HitlTool::new("c1", "delete_file")];
/// assert_eq!(hitl_status_text(&tools, ["It's old."]), "It's old. (delete_file)");
/// assert_eq!(hitl_status_text(&tools, []), "Approval is required for tool(s): delete_file");
/// ```
#[must_use]
pub fn hitl_status_text<'a>(
    tools: &[HitlTool],
    hints: impl IntoIterator<Item = &'a str>,
) -> String {
    let questions = answerable_questions(tools);
    if !questions.is_empty() {
        return join(questions.iter().map(Question::text), "; ");
    }
    let hints = join(hints, "; ");
    let names = join(tools.iter().map(|tool| tool.name.as_str()), ", ");
    match (hints.is_empty(), names.is_empty()) {
        (false, false) => format!("{hints} ({names})"),
        (false, true) => hints,
        (true, false) => format!("Approval is required for tool(s): {names}"),
        (true, true) => "Human input is required before the agent can continue.".to_owned(),
    }
}

/// The questions with text of a pause that is one call of `ask_user`; none for any other pause.
pub(super) fn answerable_questions(tools: &[HitlTool]) -> Vec<Question> {
    let [tool] = tools else { return Vec::new() };
    if tool.name != ask_user::NAME {
        return Vec::new();
    }
    let questions = tool.args.get("questions").and_then(Value::as_array);
    let questions = questions.into_iter().flatten().filter_map(Value::as_object);
    questions
        .cloned()
        .map(Question::from)
        .filter(|question| !question.text().is_empty())
        .collect()
}

fn join<'a>(texts: impl IntoIterator<Item = &'a str>, separator: &str) -> String {
    let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.join(separator)
}

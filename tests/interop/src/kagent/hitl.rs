//! Human-in-the-loop payloads, as both sides take them.

use std::error::Error;

use a2a_proto::v1::Message;
use kagent_ext::hitl::{HitlRequest, HitlResponse, HitlTool, hitl_status_text};
use kagent_ext::uri;
use serde_json::{Value, json};

use super::{Oracle, process};

pub(super) async fn theirs(
    oracle: &Oracle<'_>,
    cases: &[Value],
) -> Result<Vec<Value>, Box<dyn Error>> {
    process::ask(oracle, "hitl.py", cases).await
}

pub(super) fn ours(case: &Value) -> Result<Value, Box<dyn Error>> {
    let member = |name: &str| case.get(name).cloned().unwrap_or_default();
    Ok(match case.get("kind").and_then(Value::as_str) {
        Some("read") => read(member("payload"))?,
        Some("text") => {
            let tools: Vec<HitlTool> = serde_json::from_value(member("tools"))?;
            let hints: Vec<String> = serde_json::from_value(member("hints"))?;
            hitl_status_text(&tools, hints.iter().map(String::as_str)).into()
        }
        Some("answer") => {
            let request = HitlRequest::of(&carrying(member("request")));
            let response = HitlResponse::of(&carrying(member("response")));
            let request = request.ok_or("the request can't be read")?;
            match request.check(response.as_ref()) {
                Ok(()) => Value::Null,
                Err(error) => error.to_string().into(),
            }
        }
        Some("activated") => {
            let header = member("header");
            let header = header.as_str().unwrap_or_default();
            let mut extensions = a2a_proto::header::Extensions::new();
            extensions.add_line(header);
            extensions.contains(uri::HITL).into()
        }
        other => return Err(format!("there is no kind {other:?}").into()),
    })
}

fn read(payload: Value) -> Result<Value, Box<dyn Error>> {
    let message = carrying(payload);
    let request = HitlRequest::of(&message).map(serde_json::to_value);
    let response = HitlResponse::of(&message).map(serde_json::to_value);
    Ok(request.or(response).transpose()?.unwrap_or_default())
}

fn carrying(payload: Value) -> Message {
    Message::user("")
        .with_extension(uri::HITL)
        .with_metadata(uri::HITL, payload)
}

/// Payloads that are right, and what can be wrong with each.
pub(super) fn cases() -> Vec<Value> {
    let tool = |id: &str, name: &str| json!({"id": id, "call_id": id, "name": name, "args": {}});
    let approval = |tools: Value| json!({"type": "tool_approval_request", "tools": tools});
    let question =
        |questions: Value| json!({"type": "ask_user_request", "id": "q", "questions": questions});
    let decided =
        |approvals: Value| json!({"type": "tool_approval_response", "approvals": approvals});
    let answered =
        |answers: Value| json!({"type": "ask_user_response", "id": "q", "answers": answers});
    let yes = |id: &str| json!({"id": id, "approved": true});
    let mut cases = Vec::new();
    let payloads = [
        approval(json!([tool("1", "rm")])),
        approval(json!([])),
        approval(json!([{"id": "", "call_id": "1", "name": "rm"}])),
        approval(json!([{"id": "1", "call_id": "", "name": "rm"}])),
        approval(json!([{"id": "1", "call_id": "1", "name": ""}])),
        approval(json!([{"id": "1", "call_id": "1", "name": "rm", "args": null}])),
        approval(json!([{"id": "1", "call_id": "1", "name": "rm", "args": [1]}])),
        approval(json!([{"id": 1, "call_id": "1", "name": "rm"}])),
        approval(json!("rm")),
        json!({"type": "tool_approval_request", "tools": [tool("1", "rm")], "hint": "careful"}),
        json!({"type": "tool_approval_request", "tools": [tool("1", "rm")], "hint": null}),
        json!({"type": "tool_approval_request", "tools": [tool("1", "rm")], "surprise": 1}),
        json!({"type": "tool_approval_request", "tools": [tool("1", "rm")],
            "nested": {"subagent_name": "s", "task_id": "t", "context_id": "c", "tools": [tool("2", "rm")]}}),
        json!({"type": "tool_approval_request", "tools": [tool("1", "rm")],
            "nested": {"subagent_name": null, "task_id": null, "tools": [tool("2", "rm")]}}),
        json!({"type": "tool_approval_request", "tools": [tool("1", "rm")], "nested": {"tools": []}}),
        question(json!([{"question": "Which?"}])),
        question(json!([{"question": "Which?", "choices": ["a", "b"], "multiple": true}])),
        question(json!([{"anything": ["x", null]}])),
        question(json!([])),
        question(json!(["Which?"])),
        json!({"type": "ask_user_request", "id": "", "questions": [{"question": "Which?"}]}),
        json!({"type": "ask_user_request", "questions": [{"question": "Which?"}]}),
        decided(json!([yes("1")])),
        decided(json!([])),
        decided(json!([{"id": "1", "approved": false, "rejection_reason": "no"}])),
        decided(json!([{"id": "1", "approved": true, "rejection_reason": "no"}])),
        decided(json!([{"id": "1"}])),
        decided(json!([{"id": "1", "approved": null}])),
        decided(json!([{"id": "", "approved": true}])),
        answered(json!([{"answer": ["a"]}])),
        answered(json!([{"answer": []}])),
        answered(json!([{"answer": "a"}])),
        answered(json!([])),
        answered(json!(null)),
        json!({"type": "ask_user_response", "id": "q"}),
        json!({"type": "ask_user_response", "answers": [{"answer": ["a"]}]}),
        json!({"type": "something_else"}),
        json!({"type": 1}),
        json!({}),
        json!(null),
        json!("tool_approval_request"),
    ];
    cases.extend(payloads.map(|payload| json!({"kind": "read", "payload": payload})));

    let texts = [
        (json!([tool("1", "rm")]), json!([])),
        (json!([tool("1", "rm"), tool("2", "cp")]), json!([])),
        (
            json!([tool("1", "rm"), tool("2", "cp")]),
            json!(["careful", ""]),
        ),
        (json!([]), json!(["a", "b"])),
        (json!([]), json!([])),
        (
            json!([{"id": "1", "call_id": "1", "name": "ask_user", "args": {"questions": [
                {"question": "Which?"}, {"question": ""}, {"x": 1}, {"question": "Why?"}]}}]),
            json!(["unused"]),
        ),
        (
            json!([{"id": "1", "call_id": "1", "name": "ask_user", "args": {"questions": [{"question": 7}]}}]),
            json!(["a hint"]),
        ),
        (
            json!([{"id": "1", "call_id": "1", "name": "ask_user", "args": {}}, tool("2", "rm")]),
            json!([]),
        ),
    ];
    cases.extend(
        texts.map(|(tools, hints)| json!({"kind": "text", "tools": tools, "hints": hints})),
    );

    let two = approval(json!([tool("1", "rm"), tool("2", "cp")]));
    let twice = approval(json!([tool("1", "rm"), tool("1", "cp")]));
    let both = question(json!([{"question": "Which?"}, {"question": "Why?"}]));
    let answers = [
        (&two, decided(json!([yes("1"), yes("2")]))),
        (&two, decided(json!([yes("2"), yes("1")]))),
        (&two, decided(json!([yes("1")]))),
        (&two, decided(json!([yes("1"), yes("1")]))),
        (
            &two,
            decided(json!([yes("1"), yes("2"), yes("4"), yes("3")])),
        ),
        (&two, decided(json!([yes("3")]))),
        (&two, answered(json!([{"answer": ["a"]}]))),
        (&two, json!({"type": "nonsense"})),
        (&twice, decided(json!([yes("1")]))),
        (
            &both,
            answered(json!([{"answer": ["a"]}, {"answer": ["b"]}])),
        ),
        (&both, answered(json!([{"answer": ["a"]}]))),
        (&both, answered(json!([]))),
        (&both, answered(json!(null))),
        (
            &both,
            json!({"type": "ask_user_response", "id": "z", "answers": [{"answer": ["a"]}]}),
        ),
        (&both, decided(json!([yes("q")]))),
    ];
    cases.extend(answers.map(
        |(request, response)| json!({"kind": "answer", "request": request, "response": response}),
    ));

    let headers = [
        uri::HITL.to_owned(),
        format!("{}, {}", uri::USAGE, uri::HITL),
        format!(" {} ,x", uri::HITL),
        format!("{}/", uri::HITL),
        uri::HITL.to_uppercase(),
        String::new(),
    ];
    cases.extend(headers.map(|header| json!({"kind": "activated", "header": header})));
    cases
}

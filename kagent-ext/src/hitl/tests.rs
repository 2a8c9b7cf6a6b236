use a2a_proto::v1::{Message, Role, Task, TaskState, TaskStatus};
use serde_json::{Value, json};

use super::answer::check;
use super::*;

fn carried(payload: Value) -> Message {
    let mut message = Message::user("ok");
    attach(&mut message, payload);
    message
}

fn approval_request() -> Value {
    json!({
        "type": "tool_approval_request",
        "hint": "Tool 'delete_file' requires approval before execution. (delete_file)",
        "tools": [{"id": "adk-1", "call_id": "call-1", "name": "delete_file", "args": {"path": "old.txt"}}],
    })
}

fn two_tools() -> HitlRequest {
    ToolApprovalRequest::new([HitlTool::new("a", "read"), HitlTool::new("b", "delete")]).into()
}

fn two_questions() -> HitlRequest {
    let environment = Question::new("Which env?").with_choices(["dev", "prod"]);
    AskUserRequest::new("q", [environment, Question::new("Why?")]).into()
}

fn waiting(message: Message) -> Task {
    let mut task = Task::submitted("t", "c");
    task.status = Some(TaskStatus::with_message(TaskState::InputRequired, message));
    task
}

fn answerable(request: HitlRequest) -> Answerable {
    let message = request.into_status_message(true).unwrap();
    match Pause::of(&waiting(message)) {
        Some(Pause::Answerable(pause)) => pause,
        other => panic!("{other:?}"),
    }
}

fn refusal(request: &HitlRequest, response: Value) -> String {
    let response = HitlResponse::of(&carried(response));
    check(request, response.as_ref()).unwrap_err().to_string()
}

#[test]
fn the_payloads_of_the_contract_are_read_and_written_unchanged() {
    let requests = [
        approval_request(),
        json!({"type": "ask_user_request", "id": "adk-2",
            "questions": [{"question": "Which env?", "choices": ["dev", "prod"], "multiple": false}]}),
        json!({"type": "tool_approval_request", "tools": [{"id": "p", "call_id": "p", "name": "child", "args": {}}],
            "nested": {"subagent_name": "child", "task_id": "t2", "context_id": "c2",
                "tools": [{"id": "n", "call_id": "n", "name": "rm", "args": {}}]}}),
    ];
    for payload in requests {
        let request = HitlRequest::of(&carried(payload.clone())).unwrap();
        assert_eq!(serde_json::to_value(request).unwrap(), payload);
    }
    let responses = [
        json!({"type": "tool_approval_response",
            "approvals": [{"id": "adk-1", "approved": false, "rejection_reason": "in use"}]}),
        json!({"type": "ask_user_response", "id": "adk-2", "answers": [{"answer": ["dev"]}]}),
    ];
    for payload in responses {
        let response = HitlResponse::of(&carried(payload.clone())).unwrap();
        assert_eq!(serde_json::to_value(response).unwrap(), payload);
    }
}

#[test]
fn unknown_fields_are_ignored_and_null_arguments_are_none() {
    let payload = json!({
        "type": "tool_approval_request", "hint": null, "nested": null, "later": 1,
        "tools": [{"id": "1", "call_id": "1", "name": "n", "args": null, "later": [2.5]}],
    });
    let Some(HitlRequest::ToolApproval(request)) = HitlRequest::of(&carried(payload)) else {
        panic!("not read");
    };
    assert_eq!(request, ToolApprovalRequest::new([HitlTool::new("1", "n")]));
}

#[test]
fn a_payload_that_breaks_a_rule_is_absent() {
    let broken = [
        json!({"type": "tool_approval_request", "tools": []}),
        json!({"type": "tool_approval_request"}),
        json!({"type": "tool_approval_request", "tools": [{"id": "", "call_id": "c", "name": "n"}]}),
        json!({"type": "tool_approval_request", "tools": [{"id": "i", "name": "n"}]}),
        json!({"type": "tool_approval_request", "tools": [{"id": "i", "call_id": "c", "name": 7}]}),
        json!({"type": "tool_approval_request", "tools": [{"id": "i", "call_id": "c", "name": "n", "args": []}]}),
        json!({"type": "tool_approval_request", "tools": [{"id": "i", "call_id": "c", "name": "n"}],
            "nested": {"tools": []}}),
        json!({"type": "ask_user_request", "id": "", "questions": []}),
        json!({"type": "ask_user_request", "id": "q", "questions": ["text"]}),
        json!({"type": "ask_user_request", "id": "q"}),
        json!({"type": "another"}),
        json!({"type": 1}),
        json!({}),
        json!("text"),
    ];
    for payload in broken {
        assert_eq!(
            HitlRequest::of(&carried(payload.clone())),
            None,
            "{payload}"
        );
    }
    let broken = [
        json!({"type": "tool_approval_response", "approvals": []}),
        json!({"type": "tool_approval_response", "approvals": [{"id": "a"}]}),
        json!({"type": "tool_approval_response", "approvals": [{"id": "a", "approved": "yes"}]}),
        json!({"type": "ask_user_response"}),
        json!({"type": "ask_user_response", "id": "q", "answers": [{"answer": "x"}]}),
    ];
    for payload in broken {
        assert_eq!(
            HitlResponse::of(&carried(payload.clone())),
            None,
            "{payload}"
        );
    }
}

#[test]
fn a_payload_needs_its_uri_in_extensions_and_in_metadata() {
    let mut message = carried(approval_request());
    assert!(HitlRequest::of(&message).is_some());
    message.extensions.clear();
    assert_eq!(HitlRequest::of(&message), None);
    message.extensions.push(uri::HITL.to_owned());
    message.metadata = None;
    assert_eq!(HitlRequest::of(&message), None);
}

#[test]
fn attaching_keeps_what_else_the_message_carries() {
    let mut message = Message::user("ok");
    message
        .extensions
        .push("https://example.com/other".to_owned());
    message
        .metadata
        .get_or_insert_default()
        .insert("k".to_owned(), json!("v"));
    two_tools().attach_to(&mut message);
    two_tools().attach_to(&mut message);
    assert_eq!(message.extensions, ["https://example.com/other", uri::HITL]);
    assert_eq!(message.metadata.unwrap()["k"], "v");
}

#[test]
fn the_text_follows_the_rules_of_every_runtime() {
    let ask = |questions: Value| HitlTool::new("q", "ask_user").arg("questions", questions);
    let read = HitlTool::new("a", "read");
    let text = |tools: &[HitlTool], hints: &[&str]| hitl_status_text(tools, hints.iter().copied());

    let questions = json!([{"question": "Which env?"}, {"question": ""}, {"choices": []}, "x", {"question": "Why?"}]);
    assert_eq!(text(&[ask(questions)], &["ignored"]), "Which env?; Why?");
    assert_eq!(
        text(&[read.clone(), ask(json!([{"question": "x"}]))], &[]),
        "Approval is required for tool(s): read, ask_user"
    );
    assert_eq!(
        text(&[ask(json!([]))], &[]),
        "Approval is required for tool(s): ask_user"
    );
    assert_eq!(
        text(std::slice::from_ref(&read), &["One.", "", "Two."]),
        "One.; Two. (read)"
    );
    assert_eq!(text(&[], &["One.", "Two."]), "One.; Two.");
    assert_eq!(
        text(&[], &[]),
        "Human input is required before the agent can continue."
    );
}

#[test]
fn a_published_approval_hints_at_what_its_text_says() {
    let request = ToolApprovalRequest::new([HitlTool::new("a", "read")]).with_hint("Secret.");
    let message = HitlRequest::from(request)
        .into_status_message(true)
        .unwrap();
    assert_eq!(message.text(), "Secret. (read)");
    assert_eq!(message.role(), Role::Agent);
    let Some(HitlRequest::ToolApproval(request)) = HitlRequest::of(&message) else {
        panic!("not an approval");
    };
    assert_eq!(request.hint.as_deref(), Some("Secret. (read)"));
}

#[test]
fn a_call_of_ask_user_is_published_as_its_questions() {
    let tool = HitlTool::new("q", "ask_user").arg(
        "questions",
        json!([{"question": "Which env?"}, {"question": ""}]),
    );
    let message = HitlRequest::from(ToolApprovalRequest::new([tool]))
        .into_status_message(true)
        .unwrap();
    let Some(HitlRequest::AskUser(request)) = HitlRequest::of(&message) else {
        panic!("not questions");
    };
    assert_eq!(request.id, "q");
    assert_eq!(request.questions.len(), 1);
    assert_eq!(message.text(), "Which env?");
}

#[test]
fn questions_that_nobody_could_answer_are_published_as_an_approval() {
    let request = AskUserRequest::new("q", [Question::new("")]);
    let message = HitlRequest::from(request)
        .into_status_message(true)
        .unwrap();
    let Some(HitlRequest::ToolApproval(request)) = HitlRequest::of(&message) else {
        panic!("not an approval");
    };
    assert_eq!(request.tools[0].name, "ask_user");
}

#[test]
fn without_activation_a_pause_is_text_only() {
    let message = two_questions().into_status_message(false).unwrap();
    assert_eq!(message.text(), "Which env?; Why?");
    assert_eq!(
        (message.metadata.as_ref(), message.extensions.len()),
        (None, 0)
    );
    assert!(
        matches!(Pause::of(&waiting(message)), Some(Pause::Unanswerable { text }) if text == "Which env?; Why?")
    );
}

#[test]
fn a_request_that_nobody_could_answer_is_not_published() {
    let unanswerable = [
        ToolApprovalRequest::new([]),
        ToolApprovalRequest::new([HitlTool::new("", "n")]),
        ToolApprovalRequest::new([HitlTool::new("a", "")]),
        ToolApprovalRequest::new([HitlTool::new("a", "n"), HitlTool::new("a", "m")]),
    ];
    for request in unanswerable {
        HitlRequest::from(request)
            .into_status_message(true)
            .unwrap_err();
    }
    HitlRequest::from(AskUserRequest::new("", ["Why?".into()]))
        .into_status_message(true)
        .unwrap_err();
}

#[test]
fn decisions_must_match_the_calls_one_to_one() {
    let decide = |ids: &[&str]| {
        let approvals: Vec<Value> = ids
            .iter()
            .map(|id| json!({"id": id, "approved": true}))
            .collect();
        json!({"type": "tool_approval_response", "approvals": approvals})
    };
    let request = two_tools();
    let response = HitlResponse::of(&carried(decide(&["b", "a"])));
    check(&request, response.as_ref()).unwrap();

    assert_eq!(
        refusal(&request, decide(&["a", "b", "a"])),
        "Tool approval response contains duplicate ids"
    );
    assert_eq!(
        refusal(&request, decide(&["z"])),
        "Tool approval response is missing ids: a, b"
    );
    assert_eq!(
        refusal(&request, decide(&["a", "b", "z", "y"])),
        "Tool approval response contains unknown ids: y, z"
    );
    assert_eq!(
        refusal(&request, decide(&[])),
        "Tool approval request requires a tool approval response"
    );
    assert_eq!(
        refusal(
            &request,
            json!({"type": "ask_user_response", "id": "a", "answers": [{"answer": ["x"]}]})
        ),
        "Tool approval request requires a tool approval response",
    );
    let twice = ToolApprovalRequest::new([HitlTool::new("a", "n"), HitlTool::new("a", "m")]).into();
    assert_eq!(
        refusal(&twice, decide(&["a"])),
        "Stored tool approval request contains duplicate ids"
    );
}

#[test]
fn answers_must_match_the_questions() {
    let request = two_questions();
    let answers = |id: &str, answers: Value| json!({"type": "ask_user_response", "id": id, "answers": answers});
    let both = HitlResponse::of(&carried(answers(
        "q",
        json!([{"answer": ["dev"]}, {"answer": []}]),
    )));
    check(&request, both.as_ref()).unwrap();

    let one = json!([{"answer": ["dev"]}]);
    assert_eq!(
        refusal(&request, answers("z", one.clone())),
        "ask_user response has invalid correlation"
    );
    assert_eq!(
        refusal(&request, json!({"type": "ask_user_response"})),
        "ask_user response has invalid correlation"
    );
    assert_eq!(
        refusal(&request, answers("q", Value::Null)),
        "ask_user response contains no answers"
    );
    assert_eq!(
        refusal(&request, answers("q", json!([]))),
        "ask_user response contains no answers"
    );
    assert_eq!(
        refusal(&request, answers("q", one)),
        "ask_user response must answer every question"
    );
}

#[test]
fn a_nested_pause_is_answered_with_the_ids_of_the_subagent() {
    let nested = NestedHitlRequest::new(
        "child",
        "t2",
        [HitlTool::new("n1", "rm"), HitlTool::new("n2", "ls")],
    );
    let request =
        ToolApprovalRequest::new([HitlTool::new("p", "child")]).with_nested(nested.clone());
    let answer = answerable(request.clone().into()).approve_all().unwrap();
    let Some(HitlResponse::ToolApproval(response)) = HitlResponse::of(&answer) else {
        panic!()
    };
    let ids: Vec<&str> = response.approvals.iter().map(ToolApproval::id).collect();
    assert_eq!(ids, ["n1", "n2"]);
    assert_eq!(
        refusal(
            &request.clone().into(),
            json!({"type": "tool_approval_response", "approvals": [{"id": "p", "approved": true}]})
        ),
        "Tool approval response is missing ids: n1, n2",
    );

    let mut unnamed = nested.clone();
    unnamed.task_id = None;
    let approve =
        json!({"type": "tool_approval_response", "approvals": [{"id": "n1", "approved": true}]});
    assert_eq!(
        refusal(
            &request.clone().with_nested(unnamed).into(),
            approve.clone()
        ),
        "Nested HITL request is missing subagent task correlation",
    );
    let parents = ToolApprovalRequest::new([HitlTool::new("p", "x"), HitlTool::new("o", "y")])
        .with_nested(nested);
    assert_eq!(
        refusal(&parents.into(), approve),
        "Nested HITL request must contain exactly one parent tool"
    );
}

#[test]
fn nested_questions_are_answered_with_the_id_of_the_subagent() {
    let nested = NestedHitlRequest::new("child", "t2", [HitlTool::new("n", "ask_user")]);
    let request = AskUserRequest::new("p", ["Why?".into()]).with_nested(nested);
    let answer = answerable(request.clone().into())
        .answer([["because"]])
        .unwrap();
    let Some(HitlResponse::AskUser(response)) = HitlResponse::of(&answer) else {
        panic!()
    };
    assert_eq!(response.id, "n");

    let by_parent = json!({"type": "ask_user_response", "id": "p", "answers": [{"answer": ["x"]}]});
    assert_eq!(
        refusal(&request.clone().into(), by_parent),
        "Nested ask_user response has invalid correlation"
    );
    let none = json!({"type": "ask_user_response", "id": "n"});
    assert_eq!(
        refusal(&request.clone().into(), none.clone()),
        "Nested ask_user response contains no answers"
    );
    let other = NestedHitlRequest::new("child", "t2", [HitlTool::new("n", "rm")]);
    assert_eq!(
        refusal(&request.with_nested(other).into(), none),
        "Nested ask_user request must contain exactly one ask_user tool",
    );
}

#[test]
fn a_client_decides_each_call_and_its_answer_is_ready_to_send() {
    let pause = answerable(two_tools());
    assert_eq!(
        pause.text(),
        "Approval is required for tool(s): read, delete"
    );
    let answer = pause
        .decide(|tool| {
            if tool.name == "delete" {
                Decision::reject("in use")
            } else {
                Decision::Approve
            }
        })
        .unwrap();
    assert_eq!(
        (answer.task_id.as_str(), answer.context_id.as_str()),
        ("t", "c")
    );
    assert_eq!(answer.role(), Role::User);
    assert_eq!(answer.text(), "Approved 1 of 2");
    assert_eq!(
        answer.metadata.as_ref().unwrap()[uri::HITL],
        json!({"type": "tool_approval_response", "approvals": [
            {"id": "a", "approved": true},
            {"id": "b", "approved": false, "rejection_reason": "in use"},
        ]}),
    );
    assert_eq!(pause.reject_all("").unwrap().text(), "Rejected");
    assert_eq!(pause.answer([["x"]]), Err(AnswerError::NotAnApproval));
}

#[test]
fn a_client_answers_questions_in_their_order() {
    let pause = answerable(two_questions());
    let answer = pause.answer([vec!["dev"], vec!["a", "b"]]).unwrap();
    assert_eq!(answer.text(), "dev; a, b");
    assert_eq!(
        answer.metadata.as_ref().unwrap()[uri::HITL],
        json!({"type": "ask_user_response", "id": "q", "answers": [{"answer": ["dev"]}, {"answer": ["a", "b"]}]}),
    );
    assert_eq!(pause.answer([["dev"]]), Err(AnswerError::AnswerCount));
    assert_eq!(
        pause.approve_all(),
        Err(AnswerError::WrongQuestion { nested: false })
    );
}

#[test]
fn an_approval_with_a_reason_can_be_read_and_means_approval() {
    let payload = json!({"type": "tool_approval_response",
        "approvals": [{"id": "a", "approved": true, "rejection_reason": "stray"}]});
    let Some(HitlResponse::ToolApproval(response)) = HitlResponse::of(&carried(payload)) else {
        panic!()
    };
    let approval = &response.approvals[0];
    assert_eq!(
        (approval.is_approved(), approval.rejection_reason()),
        (true, None)
    );
}

#[test]
fn a_pause_survives_being_written_down() {
    for request in [two_tools(), two_questions()] {
        let pause = Pause::Answerable(answerable(request));
        let written = serde_json::to_string(&pause).unwrap();
        assert_eq!(serde_json::from_str::<Pause>(&written).unwrap(), pause);
    }
}

#[test]
fn only_a_waiting_task_is_paused_and_a_broken_request_is_said_to_be() {
    let mut task = waiting(carried(json!({"type": "of the future"})));
    assert!(matches!(Pause::of(&task), Some(Pause::Unreadable { .. })));
    task.status
        .as_mut()
        .unwrap()
        .message
        .as_mut()
        .unwrap()
        .extensions
        .clear();
    assert!(matches!(Pause::of(&task), Some(Pause::Unreadable { .. })));
    task.status = Some(TaskStatus::new(TaskState::InputRequired));
    assert_eq!(Pause::of(&task).unwrap().text(), "");
    for state in [
        TaskState::Working,
        TaskState::AuthRequired,
        TaskState::Completed,
    ] {
        task.status = Some(TaskStatus::with_message(state, carried(approval_request())));
        assert_eq!(Pause::of(&task), None);
    }
}

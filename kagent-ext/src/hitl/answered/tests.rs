use a2a_proto::v1::TaskStatus;
use serde_json::json;

use super::*;
use crate::hitl::{AskUserRequest, AskUserResponse, ToolApprovalRequest, ToolApprovalResponse};

fn paused(request: impl Into<HitlRequest>, activated: bool) -> Task {
    let message = request.into().into_status_message(activated).unwrap();
    let mut task = Task::submitted("t", "c");
    task.status = Some(TaskStatus::with_message(TaskState::InputRequired, message));
    task
}

fn answer(response: impl Into<HitlResponse>) -> Message {
    let mut message = Message::user("answer");
    response.into().attach_to(&mut message);
    message
}

fn tools() -> ToolApprovalRequest {
    ToolApprovalRequest::new([HitlTool::new("a", "read"), HitlTool::new("b", "delete")])
}

fn decisions() -> ToolApprovalResponse {
    ToolApprovalResponse::new([
        ToolApproval::reject("b", "in use"),
        ToolApproval::approve("a"),
    ])
}

#[test]
fn decisions_stand_in_the_order_of_the_calls() {
    let task = paused(tools(), true);
    let Ok(Hitl::Approvals(approvals)) = Hitl::read(Some(&task), &answer(decisions())) else {
        panic!("no approvals");
    };
    let names: Vec<&str> = approvals
        .iter()
        .map(|approval| approval.tool().name.as_str())
        .collect();
    assert_eq!(names, ["read", "delete"]);
    assert!(!approvals.all_approved());
    let read = approvals.get("a").unwrap();
    assert_eq!((read.is_approved(), read.rejection()), (true, None));
    let delete = approvals.get("b").unwrap();
    assert_eq!(delete.rejection_reason(), Some("in use"));
    assert_eq!(
        delete.rejection().unwrap(),
        "Tool call was rejected by user. Reason: in use"
    );
    assert_eq!(approvals.get("c"), None);
}

#[test]
fn a_rejection_without_a_reason_says_so_to_the_model() {
    let task = paused(ToolApprovalRequest::new([HitlTool::new("a", "read")]), true);
    let response = ToolApprovalResponse::new([ToolApproval::reject("a", "")]);
    let Ok(Hitl::Approvals(approvals)) = Hitl::read(Some(&task), &answer(response)) else {
        panic!("no approvals");
    };
    assert_eq!(
        approvals.get("a").unwrap().rejection().unwrap(),
        "Tool call was rejected by user."
    );
}

#[test]
fn answers_stand_beside_their_questions() {
    let task = paused(
        AskUserRequest::new("q", ["Which env?".into(), "Why?".into()]),
        true,
    );
    let response = AskUserResponse::new(
        "q",
        [
            QuestionAnswer::new(["dev"]),
            QuestionAnswer::new(["a", "b"]),
        ],
    );
    let Ok(Hitl::Answers(answers)) = Hitl::read(Some(&task), &answer(response)) else {
        panic!("no answers");
    };
    assert_eq!(
        answers.tool_result(),
        json!([{"question": "Which env?", "answer": ["dev"]}, {"question": "Why?", "answer": ["a", "b"]}]),
    );
}

#[test]
fn plain_text_and_half_carried_payloads_are_no_answer() {
    let task = paused(tools(), true);
    let mut half = answer(decisions());
    half.extensions.clear();
    let mut request = Message::user("a request is no answer");
    HitlRequest::from(tools()).attach_to(&mut request);
    for message in [Message::user("yes"), half, request] {
        assert_eq!(Hitl::read(Some(&task), &message), Ok(Hitl::None));
    }
    assert_eq!(Hitl::read(None, &Message::user("hello")), Ok(Hitl::None));
}

#[test]
fn an_answer_to_nothing_is_refused() {
    let answer = answer(decisions());
    assert_eq!(Hitl::read(None, &answer), Err(AnswerError::NoTask));
    assert_eq!(
        Hitl::read(Some(&Task::submitted("t", "c")), &answer),
        Err(AnswerError::NotWaiting)
    );
    assert_eq!(
        Hitl::read(Some(&paused(tools(), false)), &answer),
        Err(AnswerError::NoRequest)
    );
}

#[test]
fn an_answer_that_can_not_be_read_is_refused_and_not_taken_for_text() {
    let task = paused(tools(), true);
    let mut message = answer(decisions());
    let payload =
        json!({"type": "tool_approval_response", "approvals": [{"id": "a", "approved": "yes"}]});
    message
        .metadata
        .as_mut()
        .unwrap()
        .insert(crate::uri::HITL.to_owned(), payload);
    assert_eq!(
        Hitl::read(Some(&task), &message),
        Err(AnswerError::NotAnApproval)
    );
}

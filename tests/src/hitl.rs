//! Human in the loop, as a client of a byo agent sees it (kagent contract 3).

use std::sync::Arc;

use a2a_client::{Binding, Client};
use a2a_proto::ErrorCode;
use a2a_proto::v1::{Message, Task, TaskState};
use a2a_server::{Agent, AgentError, AgentExecutor, EventSink, ExecutionContext, executor_fn};
use kagent_ext::caller::Caller;
use kagent_ext::hitl::{
    self, Answerable, AskUserRequest, Decision, Hitl, HitlExtension, HitlResponse, HitlTool,
    NestedHitlRequest, Pause, Question, ToolApproval, ToolApprovalRequest, ToolApprovalResponse,
};
use kagent_ext::uri;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::harness::*;

/// Asks for what it is told to ask for, and reports what it was answered.
struct Desk;

impl AgentExecutor for Desk {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        match Hitl::of(&cx) {
            Hitl::Approvals(approvals) => {
                let told = approvals.iter().map(|approval| {
                    let outcome = approval
                        .rejection()
                        .unwrap_or_else(|| "approved".to_owned());
                    format!("{}: {outcome}", approval.tool().name)
                });
                let told = told.collect::<Vec<_>>().join("\n");
                out.reply(format!("{told}\nby {}", Caller::of(&cx).user()))
                    .await?;
            }
            Hitl::Answers(answers) => out.reply(answers.tool_result().to_string()).await?,
            Hitl::None => match cx.message().text().as_str() {
                "one tool" => hitl::pause(&cx, &out, tools(&["read"])).await?,
                "three tools" => {
                    hitl::pause(&cx, &out, tools(&["read", "write", "delete"])).await?
                }
                "ask" => {
                    let environment = Question::new("Which env?").with_choices(["dev", "prod"]);
                    let request = AskUserRequest::new("q", [environment, Question::new("Why?")]);
                    hitl::pause(&cx, &out, request).await?;
                }
                "child" => {
                    let nested =
                        NestedHitlRequest::new("child", "t-2", [HitlTool::new("n-1", "rm")]);
                    hitl::pause(&cx, &out, tools(&["child"]).with_nested(nested)).await?;
                }
                text => out.reply(format!("heard: {text}")).await?,
            },
        }
        Ok(())
    }
}

fn tools(names: &[&str]) -> ToolApprovalRequest {
    ToolApprovalRequest::new(names.iter().map(|name| {
        HitlTool::new(format!("id-{name}"), *name)
            .with_call_id(format!("call-{name}"))
            .arg("path", "old.txt")
    }))
}

fn answerable(task: &Task) -> Answerable {
    assert_state(task, TaskState::InputRequired);
    match Pause::of(task) {
        Some(Pause::Answerable(pause)) => pause,
        other => panic!("not answerable: {other:?}"),
    }
}

async fn pause(client: &Client, text: &str) -> Answerable {
    answerable(&run(client, Message::user(text)).await.unwrap())
}

/// An answer that the client would not let itself send.
fn unchecked(pause: &Answerable, response: impl Into<HitlResponse>) -> Message {
    let mut message = Message::user("answer")
        .with_task_id(pause.task_id())
        .with_context_id(pause.context_id());
    response.into().attach_to(&mut message);
    message
}

fn approve(ids: &[&str]) -> ToolApprovalResponse {
    ToolApprovalResponse::new(ids.iter().map(|id| ToolApproval::approve(*id)))
}

/// The answer is refused with that text, the task is as it was, and can be answered all the same.
async fn assert_refused(client: &Client, pause: &Answerable, wrong: Message, text: &str) {
    let before = client.get_task(pause.task_id()).await.unwrap();
    let refused = run(client, wrong).await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.message()),
        (ErrorCode::InvalidParams, text)
    );
    assert_eq!(refused.violations()[0].field, "message.metadata");
    let after = client.get_task(pause.task_id()).await.unwrap();
    assert_eq!(before, after);
    assert_state(
        &run(client, pause.approve_all().unwrap()).await.unwrap(),
        TaskState::Completed,
    );
}

for_each_wire! {
    async fn hitl_an_approved_call_happens(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        assert_eq!(pause.text(), "Approval is required for tool(s): read");
        let [tool] = pause.request().visible_tools().try_into().unwrap();
        assert_eq!((tool.id.as_str(), tool.call_id.as_str(), tool.arg_str("path")), ("id-read", "call-read", "old.txt"));

        let answer = pause.approve_all().unwrap();
        let done = run(&client, answer.clone()).await.unwrap();
        assert_state(&done, TaskState::Completed);
        assert_eq!(done.id, pause.task_id());
        assert!(done.artifact_text().starts_with("read: approved\n"), "{}", done.artifact_text());
        // Question and answer stay in the history as they were sent.
        let history = client.get_task(pause.task_id()).await.unwrap().history;
        assert!(Pause::of(&waiting_with(&history[1])).is_some_and(|seen| matches!(seen, Pause::Answerable(_))));
        assert_eq!(history[2].metadata, answer.metadata);
        assert_eq!(history[2].extensions, answer.extensions);
    }

    async fn hitl_a_rejected_call_tells_why(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let done = run(&client, pause.reject_all("in use").unwrap()).await.unwrap();
        let reply = done.artifact_text();
        assert!(reply.starts_with("read: Tool call was rejected by user. Reason: in use\n"), "{reply}");
    }

    async fn hitl_several_tools_are_decided_one_by_one_in_their_order(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "three tools").await;
        let answer = pause.decide(|tool| match tool.name.as_str() {
            "delete" => Decision::reject("too late"),
            "write" => Decision::reject(""),
            _ => Decision::Approve,
        });
        let done = run(&client, answer.unwrap()).await.unwrap();
        let reply = done.artifact_text();
        let lines: Vec<&str> = reply.lines().take(3).collect();
        assert_eq!(lines, [
            "read: approved",
            "write: Tool call was rejected by user.",
            "delete: Tool call was rejected by user. Reason: too late",
        ]);
    }

    async fn hitl_questions_are_answered(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "ask").await;
        assert_eq!(pause.text(), "Which env?; Why?");
        let done = run(&client, pause.answer([vec!["dev"], vec!["a", "b"]]).unwrap()).await.unwrap();
        let result: serde_json::Value = serde_json::from_str(&done.artifact_text()).unwrap();
        assert_eq!(result, json!([
            {"question": "Which env?", "answer": ["dev"]},
            {"question": "Why?", "answer": ["a", "b"]},
        ]));
    }

    async fn hitl_the_pause_of_a_subagent_is_answered_with_its_ids(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "child").await;
        let by_parent = unchecked(&pause, approve(&["id-child"]));
        let refused = run(&client, by_parent).await.unwrap_err();
        assert_eq!(refused.message(), "Tool approval response is missing ids: n-1");
        let done = run(&client, pause.approve_all().unwrap()).await.unwrap();
        assert!(done.artifact_text().starts_with("rm: approved\n"), "{}", done.artifact_text());
    }

    async fn hitl_a_wrong_id_is_refused_and_the_task_waits_on(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let wrong = unchecked(&pause, approve(&["id-read", "id-other"]));
        assert_refused(&client, &pause, wrong, "Tool approval response contains unknown ids: id-other").await;
    }

    async fn hitl_a_duplicate_id_is_refused_and_the_task_waits_on(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let twice = ToolApprovalResponse::new([ToolApproval::reject("id-read", ""), ToolApproval::approve("id-read")]);
        let wrong = unchecked(&pause, twice);
        assert_refused(&client, &pause, wrong, "Tool approval response contains duplicate ids").await;
    }

    async fn hitl_a_missing_id_is_refused_and_the_task_waits_on(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "three tools").await;
        let wrong = unchecked(&pause, approve(&["id-write"]));
        assert_refused(&client, &pause, wrong, "Tool approval response is missing ids: id-delete, id-read").await;
    }

    async fn hitl_a_payload_that_can_not_be_read_is_refused_and_the_task_waits_on(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let mut wrong = unchecked(&pause, approve(&["id-read"]));
        let payload = json!({"type": "tool_approval_response", "approvals": [{"id": "id-read", "approved": "yes"}]});
        wrong.metadata.as_mut().unwrap().insert(uri::HITL.to_owned(), payload);
        assert_refused(&client, &pause, wrong, "Tool approval request requires a tool approval response").await;
    }

    async fn hitl_a_wrong_answer_over_a_stream_is_refused_too(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let wrong = unchecked(&pause, approve(&["id-other"]));
        let error = match client.send_streaming_message(wrong).await {
            Ok(mut events) => events.next().await.unwrap().unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.protocol().unwrap().message(), "Tool approval response is missing ids: id-read");
        let events = client.send_streaming_message(pause.approve_all().unwrap()).await.unwrap();
        assert_state(&events.into_task().await.unwrap(), TaskState::Completed);
    }

    async fn hitl_plain_text_to_a_pause_is_ordinary_input(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let done = run(&client, Message::user("never mind").with_task_id(pause.task_id())).await.unwrap();
        assert_state(&done, TaskState::Completed);
        assert_eq!(done.artifact_text(), "heard: never mind");
    }

    async fn hitl_a_payload_without_the_extension_is_plain_text(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        // This client names no extension in messages by itself.
        let client = peer.plain_client().await.with_extension(uri::HITL);
        let pause = pause(&client, "one tool").await;
        let mut answer = pause.approve_all().unwrap();
        answer.extensions.clear();
        let done = run(&client, answer).await.unwrap();
        assert_eq!(done.artifact_text(), "heard: Approved");
    }

    async fn hitl_of_two_answers_one_counts(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let (client, other) = (peer.client().await, peer.client_of("grace").await);
        for _ in 0..50 {
            let pause = pause(&client, "one tool").await;
            let (yes, no) = (pause.approve_all().unwrap(), pause.reject_all("no").unwrap());
            let (yes, no) = tokio::join!(run(&client, yes), run(&other, no));
            let (done, refused) = match (yes, no) {
                (Ok(done), Err(refused)) => {
                    assert!(done.artifact_text().contains("approved"));
                    (done, refused)
                }
                (Err(refused), Ok(done)) => {
                    assert!(done.artifact_text().contains("rejected"));
                    (done, refused)
                }
                both => panic!("not one of two: {both:?}"),
            };
            assert_state(&done, TaskState::Completed);
            assert_eq!(refused.code(), ErrorCode::UnsupportedOperation, "{refused:?}");
            let answers = done.history.iter().filter(|message| HitlResponse::of(message).is_some());
            assert_eq!(answers.count(), 1);
        }
    }

    async fn hitl_a_second_user_may_answer(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let (ada, grace) = (peer.client_of("ada").await, peer.client_of("grace").await);
        let asked = pause(&ada, "one tool").await;
        let seen = answerable(&grace.get_task(asked.task_id()).await.unwrap());
        let done = run(&grace, seen.approve_all().unwrap()).await.unwrap();
        assert_eq!(done.artifact_text(), "read: approved\nby grace");
        assert_eq!(ada.get_task(asked.task_id()).await.unwrap().artifact_text(), "read: approved\nby grace");
    }

    async fn hitl_an_answer_by_nobody_is_that_of_the_context(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let done = run(&client, pause.approve_all().unwrap()).await.unwrap();
        assert_eq!(done.artifact_text(), format!("read: approved\nby A2A_USER_{}", pause.context_id()));
    }

    async fn hitl_an_answer_to_a_finished_task_is_refused(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let done = run(&client, pause.approve_all().unwrap()).await.unwrap();
        let refused = run(&client, pause.approve_all().unwrap()).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::UnsupportedOperation, "{refused:?}");
        let after = client.get_task(pause.task_id()).await.unwrap();
        assert_eq!((after.status, after.history), (done.status, done.history));
    }

    async fn hitl_an_answer_to_no_task_is_refused(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let mut answer = pause.approve_all().unwrap();
        answer.task_id.clear();
        let refused = run(&client, answer).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidParams);
        assert_eq!(refused.message(), "HITL decision requires a stored current task");
    }

    async fn hitl_a_client_that_did_not_activate_sees_text_only_and_can_cancel(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.plain_client().await;
        let task = run(&client, Message::user("ask")).await.unwrap();
        assert_state(&task, TaskState::InputRequired);
        let question = task.status_message().unwrap();
        assert_eq!(question.text(), "Which env?; Why?");
        assert_eq!((question.metadata.as_ref(), question.extensions.len()), (None, 0));
        // Reading it again with the extension does not bring the request back.
        let seen = peer.client().await.get_task(task.id.as_str()).await.unwrap();
        assert_eq!(Pause::of(&seen), Some(Pause::Unanswerable { text: "Which env?; Why?".to_owned() }));

        let mut decision = Message::user("yes").with_task_id(&task.id);
        HitlResponse::from(approve(&["q"])).attach_to(&mut decision);
        let refused = run(&client, decision).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidParams);
        assert_eq!(refused.message(), "Stored input-required task has no HITL request");
        assert_state(&client.cancel_task(task.id.as_str()).await.unwrap(), TaskState::Canceled);
    }

    async fn hitl_the_request_stays_readable_without_activation(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let pause = pause(&peer.client().await, "one tool").await;
        // The answer needs neither the header nor the echo, only the payload.
        let plain = peer.plain_client().await;
        let seen = answerable(&plain.get_task(pause.task_id()).await.unwrap());
        assert_eq!(seen, pause);
        assert_state(&run(&plain, seen.approve_all().unwrap()).await.unwrap(), TaskState::Completed);
    }

    async fn hitl_a_pause_ends_the_stream_and_the_answer_starts_another(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let events = client.stream_text("one tool").await.unwrap();
        let pause = answerable(&events.into_task().await.unwrap());
        let written = serde_json::to_string(&pause).unwrap();
        let elsewhere: Answerable = serde_json::from_str(&written).unwrap();
        let events = client.send_streaming_message(elsewhere.approve_all().unwrap()).await.unwrap();
        let done = events.into_task().await.unwrap();
        assert_state(&done, TaskState::Completed);
        assert!(done.artifact_text().starts_with("read: approved\n"));
    }

    async fn hitl_on_any_server_an_answer_may_come_before_the_executor_has_returned(binding: Binding) {
        let go = Arc::new(Semaphore::new(0));
        let lingering = Arc::clone(&go);
        let agent = Agent::builder(executor_fn(move |cx: ExecutionContext, out: EventSink| {
            let go = Arc::clone(&lingering);
            async move {
                if let Hitl::Approvals(approvals) = Hitl::of(&cx) {
                    return Ok(out.reply(format!("approved: {}", approvals.all_approved())).await?);
                }
                hitl::pause(&cx, &out, tools(&["read"])).await?;
                go.acquire().await?.forget();
                Ok(())
            }
        }));
        let server = agent.extension(HitlExtension::new()).bind("127.0.0.1:0").await.unwrap();
        let client = kagent_ext::client::preset(Client::builder()).prefer([binding]);
        let client = client.connect(format!("http://{}", server.local_addr())).await.unwrap();
        for _ in 0..20 {
            let task = client.stream_text("hello").await.unwrap().into_task().await.unwrap();
            let pause = answerable(&task);
            let leave = async { go.add_permits(1) };
            let (done, ()) = tokio::join!(run(&client, pause.approve_all().unwrap()), leave);
            let done = done.unwrap();
            assert_state(&done, TaskState::Completed);
            assert_eq!(done.artifact_text(), "approved: true");
        }
    }

    async fn hitl_a_new_message_while_a_task_waits_is_a_task_of_its_own(binding: Binding) {
        let peer = ByoPeer::start(binding, Desk).await;
        let client = peer.client().await;
        let pause = pause(&client, "one tool").await;
        let other = run(&client, Message::user("hello").with_context_id(pause.context_id())).await.unwrap();
        assert_ne!(other.id, pause.task_id());
        assert_eq!(other.artifact_text(), "heard: hello");
        assert_state(&run(&client, pause.approve_all().unwrap()).await.unwrap(), TaskState::Completed);
    }
}

fn waiting_with(question: &Message) -> Task {
    let mut task = Task::submitted("t", "c");
    task.status = Some(a2a_proto::v1::TaskStatus::with_message(
        TaskState::InputRequired,
        question.clone(),
    ));
    task
}

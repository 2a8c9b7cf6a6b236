//! Token usage over a task's life, as a client of a byo agent sees it (kagent contract 4).

use a2a_client::{Binding, Client};
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Message, Task, TaskState};
use a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
use kagent_ext::hitl::{self, Hitl, HitlTool, Pause, ToolApprovalRequest};
use kagent_ext::uri;
use kagent_ext::usage::{TokenCounts, Usage, UsageMeter};

use crate::harness::*;

/// Calls a model once an execution, twice by mistake, and then ends as it is told.
struct Spender;

impl AgentExecutor for Spender {
    async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let text = cx.message().text();
        if text == "idle" {
            return Ok(out.reply("free of charge").await?);
        }
        let meter = UsageMeter::of(&cx);
        let model = if cx.task().is_some() {
            "model-b"
        } else {
            "model-a"
        };
        for _ in 0..2 {
            meter.record(
                &cx.message().message_id,
                model,
                TokenCounts::new(10, 5).with_reasoning(1),
            );
        }
        if let Hitl::Approvals(_) = Hitl::of(&cx) {
            return Ok(out.reply("done").await?);
        }
        match text.as_str() {
            "pause" => {
                hitl::pause(
                    &cx,
                    &out,
                    ToolApprovalRequest::new([HitlTool::new("1", "read")]),
                )
                .await?
            }
            "authorize" => out.auth_required(Message::agent("who are you?")).await?,
            "fail" => return Err("a secret".into()),
            "panic" => panic!("on purpose"),
            "decline" => out.reject("no").await?,
            "wait" => {
                out.working("waiting").await?;
                cx.cancelled().await;
            }
            _ => out.reply("done").await?,
        }
        Ok(())
    }
}

fn spent(task: &Task) -> (u64, u64, u64, u64) {
    let total = Usage::of(task).expect("the task says what it used").total();
    (total.input, total.output, total.reasoning, total.total)
}

async fn paused(client: &Client) -> (Task, Message) {
    let task = run(client, Message::user("pause")).await.unwrap();
    match Pause::of(&task) {
        Some(Pause::Answerable(pause)) => (task, pause.approve_all().unwrap()),
        other => panic!("not answerable: {other:?}"),
    }
}

const ONE_CALL: (u64, u64, u64, u64) = (10, 5, 1, 16);
const TWO_CALLS: (u64, u64, u64, u64) = (20, 10, 2, 32);

for_each_wire! {
    async fn usage_is_that_of_the_task_over_pause_and_resume(binding: Binding) {
        let peer = ByoPeer::start(binding, Spender).await;
        let client = peer.client().await;
        let (task, answer) = paused(&client).await;
        assert_eq!(spent(&task), ONE_CALL);
        let done = run(&client, answer).await.unwrap();
        assert_state(&done, TaskState::Completed);
        assert_eq!(spent(&done), TWO_CALLS);
        let stored = client.get_task(done.id.as_str()).await.unwrap();
        let usage = Usage::of(&stored).unwrap();
        let models: Vec<(&str, u64)> = usage.models().map(|(model, counts)| (model, counts.total)).collect();
        assert_eq!(models, [("model-a", 16), ("model-b", 16)]);
    }

    async fn usage_stands_on_the_event_that_ends_an_execution_and_on_no_other(binding: Binding) {
        let peer = ByoPeer::start(binding, Spender).await;
        // Whoever calls: it does not depend on activation.
        let client = peer.plain_client().await;
        let mut events = client.stream_text("reply").await.unwrap();
        let mut stamped = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            let metadata = match &event.payload {
                Some(Payload::Task(task)) => task.metadata.as_ref(),
                Some(Payload::StatusUpdate(update)) => update.metadata.as_ref(),
                Some(Payload::ArtifactUpdate(update)) => update.metadata.as_ref(),
                other => panic!("unexpected: {other:?}"),
            };
            if metadata.is_some_and(|metadata| metadata.contains_key(uri::USAGE)) {
                stamped.push(event.state());
            }
        }
        assert_eq!(stamped, [Some(TaskState::Completed)]);
    }

    async fn what_a_call_used_stands_on_the_event_behind_it_and_on_the_end(binding: Binding) {
        let peer = ByoPeer::start(binding, Spender).await;
        let mut events = peer.plain_client().await.stream_text("reply").await.unwrap();
        let mut told = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            told.push((event.state(), TokenCounts::of_event(&event).map(|counts| counts.total)));
        }
        let ends = |(state, _): &&(Option<TaskState>, _)| state.is_some_and(TaskState::is_boundary);
        assert_eq!(told.iter().find(ends).unwrap().1, Some(ONE_CALL.3));
        let before: Vec<u64> = told.iter().filter(|one| !ends(one)).filter_map(|one| one.1).collect();
        assert_eq!(before, [ONE_CALL.3], "{told:?}");
    }

    async fn usage_stands_on_every_end_however_it_comes(binding: Binding) {
        let peer = ByoPeer::start(binding, Spender).await;
        let client = peer.client().await;
        let ends = [
            ("reply", TaskState::Completed),
            ("authorize", TaskState::AuthRequired),
            ("fail", TaskState::Failed),
            ("panic", TaskState::Failed),
            ("decline", TaskState::Rejected),
        ];
        for (text, state) in ends {
            let task = run(&client, Message::user(text)).await.unwrap();
            assert_state(&task, state);
            assert_eq!(spent(&task), ONE_CALL, "{text}");
            assert!(!task.status_text().contains("secret"), "{text}");
        }
    }

    async fn usage_of_a_canceled_execution_is_what_it_had_used(binding: Binding) {
        let peer = ByoPeer::start(binding, Spender).await;
        let client = peer.client().await;
        let mut events = client.stream_text("wait").await.unwrap();
        let mut id = String::new();
        while events.last_state() != TaskState::Working {
            id = events.next().await.unwrap().unwrap().task_id().to_owned();
        }
        let canceled = client.cancel_task(id.as_str()).await.unwrap();
        assert_state(&canceled, TaskState::Canceled);
        assert_eq!(spent(&canceled), ONE_CALL);
    }

    async fn usage_of_a_task_that_is_canceled_while_it_waits_is_the_stored_one(binding: Binding) {
        let peer = ByoPeer::start(binding, Spender).await;
        let client = peer.client().await;
        let (task, _) = paused(&client).await;
        let canceled = client.cancel_task(task.id.as_str()).await.unwrap();
        assert_state(&canceled, TaskState::Canceled);
        assert_eq!(spent(&canceled), ONE_CALL);
    }

    async fn usage_that_is_none_is_no_key(binding: Binding) {
        let peer = ByoPeer::start(binding, Spender).await;
        let task = run(&peer.client().await, Message::user("idle")).await.unwrap();
        assert_state(&task, TaskState::Completed);
        assert_eq!(Usage::of(&task), None);
        assert!(task.metadata.is_none_or(|metadata| !metadata.contains_key(uri::USAGE)));
    }
}

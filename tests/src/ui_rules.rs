//! What kagent's UI shows of an agent, rule by rule (kagent contract 5), as it goes over the wire.

use a2a_client::Binding;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Artifact, Message, Part, StreamResponse, TaskArtifactUpdateEvent, TaskState};
use a2a_server::{AgentError, EventSink, ExecutionContext, executor_fn};
use futures::StreamExt as _;
use kagent_ext::hitl::{
    self, AskUserRequest, HitlRequest, HitlTool, Question, ToolApprovalRequest,
};
use kagent_ext::part::{FunctionCall, FunctionResponse};
use kagent_ext::text::reply_text;
use kagent_ext::tool::ToolSink as _;
use serde_json::json;

use crate::harness::*;

/// The events of one message to an agent that does this.
async fn events<F>(
    agent: impl Fn(ExecutionContext, EventSink) -> F + Send + Sync + 'static,
) -> Vec<StreamResponse>
where
    F: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let peer = ByoPeer::start(Binding::Grpc, executor_fn(agent)).await;
    let events = peer.client().await.stream_text("go").await.unwrap();
    events.map(Result::unwrap).collect().await
}

fn artifacts(events: &[StreamResponse]) -> Vec<TaskArtifactUpdateEvent> {
    events
        .iter()
        .filter_map(|event| match &event.payload {
            Some(Payload::ArtifactUpdate(update)) => Some(update.clone()),
            _ => None,
        })
        .collect()
}

fn artifact(update: &TaskArtifactUpdateEvent) -> &Artifact {
    update.artifact.as_ref().unwrap()
}

fn shape(update: &TaskArtifactUpdateEvent) -> (String, bool, bool) {
    (artifact(update).text(), update.append, update.last_chunk)
}

/// The state and message of each status.
fn statuses(events: &[StreamResponse]) -> Vec<(TaskState, Option<Message>)> {
    events
        .iter()
        .filter_map(|event| match &event.payload {
            Some(Payload::StatusUpdate(update)) => {
                let status = update.status.as_ref()?;
                Some((status.state(), status.message.clone()))
            }
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_reply_is_an_artifact_and_the_end_says_nothing() {
    within(async {
        let events = events(|_, out| async move { Ok(out.reply("hello").await?) }).await;
        let artifacts = artifacts(&events);
        assert_eq!(
            artifacts.iter().map(shape).collect::<Vec<_>>(),
            [("hello".to_owned(), false, true)]
        );
        let statuses = statuses(&events);
        assert_eq!(
            statuses
                .iter()
                .map(|(state, message)| (*state, message.is_some()))
                .collect::<Vec<_>>(),
            [(TaskState::Working, false), (TaskState::Completed, false)]
        );
    })
    .await;
}

#[tokio::test]
async fn a_streamed_text_is_one_artifact_that_the_whole_text_closes() {
    within(async {
        let events = events(|_, out| async move {
            for texts in [["one ", "two ", "three"], ["a", "b", "c"]] {
                let mut text = out.text();
                for chunk in texts {
                    text.push(chunk).await?;
                }
                text.finish().await?;
            }
            Ok(out.complete().await?)
        })
        .await;
        let artifacts = artifacts(&events);
        let told = |text: &str, append, last| (text.to_owned(), append, last);
        assert_eq!(
            artifacts.iter().map(shape).collect::<Vec<_>>(),
            [
                told("one ", false, false),
                told("two ", true, false),
                told("three", true, false),
                told("one two three", false, true),
                told("a", false, false),
                told("b", true, false),
                told("c", true, false),
                told("abc", false, true),
            ]
        );
        let ids: Vec<&str> = artifacts
            .iter()
            .map(|update| &*artifact(update).artifact_id)
            .collect();
        assert!(ids[..4].iter().all(|id| *id == ids[0]));
        assert!(ids[4..].iter().all(|id| *id == ids[4]));
        assert_ne!(ids[0], ids[4], "a new message has a new id");
    })
    .await;
}

#[tokio::test]
async fn nothing_is_appended_to_what_nobody_has_seen() {
    within(async {
        let events = events(|_, out| async move {
            let update = TaskArtifactUpdateEvent {
                artifact: Some(Artifact::new("unseen", [Part::text("x")])),
                append: true,
                ..TaskArtifactUpdateEvent::default()
            };
            out.send(update).await?;
            Ok(out.complete().await?)
        })
        .await;
        let told: Vec<_> = artifacts(&events).iter().map(shape).collect();
        assert_eq!(told, [("x".to_owned(), false, false)]);
    })
    .await;
}

#[tokio::test]
async fn a_tool_call_and_its_result_are_data_of_one_id_in_artifacts_of_their_own() {
    within(async {
        let events = events(|_, out| async move {
            out.tool_call(FunctionCall::new("call-1", "get_pods").arg("ns", "default"))
                .await?;
            out.tool_result(FunctionResponse::new("call-1", "get_pods", "two"))
                .await?;
            Ok(out.reply("there are two").await?)
        })
        .await;
        let artifacts = artifacts(&events);
        let parts: Vec<&Part> = artifacts
            .iter()
            .flat_map(|update| &artifact(update).parts)
            .collect();
        let call = FunctionCall::of(parts[0]).unwrap();
        let result = FunctionResponse::of(parts[1]).unwrap();
        assert_eq!((call.id.as_str(), result.id.as_str()), ("call-1", "call-1"));
        assert_eq!(
            parts[0].as_data().unwrap(),
            &json!({"id": "call-1", "name": "get_pods", "args": {"ns": "default"}})
        );
        assert_eq!(
            parts[1].as_data().unwrap(),
            &json!({"id": "call-1", "name": "get_pods", "response": {"result": "two"}})
        );
        for update in &artifacts {
            assert!(update.last_chunk && !update.append);
            assert!(!artifact(update).artifact_id.is_empty());
        }
        let mut ids: Vec<&str> = artifacts
            .iter()
            .map(|update| &*artifact(update).artifact_id)
            .collect();
        ids.dedup();
        assert_eq!(ids.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_failed_tool_is_marked_and_says_why() {
    within(async {
        let events = events(|_, out| async move {
            out.tool_result(FunctionResponse::error("call-1", "get_pods", "no such pod"))
                .await?;
            Ok(out.complete().await?)
        })
        .await;
        let update = &artifacts(&events)[0];
        let data = artifact(update).parts[0].as_data().unwrap();
        assert_eq!(
            data["response"],
            json!({"isError": true, "result": "no such pod"})
        );
    })
    .await;
}

#[tokio::test]
async fn a_called_agent_has_a_name_and_a_session_that_the_ui_opens() {
    within(async {
        let events = events(|_, out| async move {
            let response = json!({"status": "pending", "subagent_session_id": "s-1"});
            out.tool_result(FunctionResponse::new(
                "call-1",
                "team__NS__helper",
                response,
            ))
            .await?;
            Ok(out.complete().await?)
        })
        .await;
        let update = &artifacts(&events)[0];
        let result = FunctionResponse::of(&artifact(update).parts[0]).unwrap();
        assert!(result.name.contains("__NS__"));
        assert_eq!(result.subagent_session_id(), Some("s-1"));
    })
    .await;
}

#[tokio::test]
async fn parts_of_an_artifact_stay_in_their_order_and_files_keep_their_names() {
    within(async {
        let events = events(|_, out| async move {
            let parts = [
                Part::text("see"),
                Part::data(json!({"any": 1})),
                Part::raw("a,b")
                    .with_filename("t.csv")
                    .with_media_type("text/csv"),
                Part::url("https://example.com/x").with_filename("x"),
            ];
            out.artifact(Artifact::new("", parts)).await?;
            Ok(out.complete().await?)
        })
        .await;
        let update = &artifacts(&events)[0];
        let parts = &artifact(update).parts;
        assert_eq!(parts[0].as_text(), Some("see"));
        assert_eq!(parts[1].as_data(), Some(&json!({"any": 1})));
        assert_eq!(
            (parts[2].filename.as_str(), parts[3].filename.as_str()),
            ("t.csv", "x")
        );
    })
    .await;
}

#[tokio::test]
async fn working_says_what_goes_on_and_failed_and_auth_required_say_why() {
    within(async {
        let progress = events(|_, out| async move {
            out.working("looking").await?;
            Ok(out.fail("the disk is full").await?)
        })
        .await;
        let told: Vec<(TaskState, String)> = statuses(&progress)
            .into_iter()
            .map(|(state, message)| {
                (
                    state,
                    message.map(|message| message.text()).unwrap_or_default(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (TaskState::Working, "looking".to_owned()),
                (TaskState::Failed, "the disk is full".to_owned())
            ]
        );
        let waiting = events(|_, out| async move { Ok(out.auth_required("log in").await?) }).await;
        let (state, message) = statuses(&waiting).pop().unwrap();
        assert_eq!(
            (state, message.unwrap().text()),
            (TaskState::AuthRequired, "log in".to_owned())
        );
    })
    .await;
}

#[tokio::test]
async fn a_pause_carries_what_the_person_is_to_decide() {
    within(async {
        let approval = events(|cx, out| async move {
            let tool = HitlTool::new("1", "delete_file").arg("path", "old.txt");
            Ok(hitl::pause(&cx, &out, ToolApprovalRequest::new([tool])).await?)
        })
        .await;
        let (state, message) = statuses(&approval).pop().unwrap();
        assert_eq!(state, TaskState::InputRequired);
        assert!(matches!(
            HitlRequest::of(&message.unwrap()),
            Some(HitlRequest::ToolApproval(_))
        ));
        let question = events(|cx, out| async move {
            Ok(hitl::pause(
                &cx,
                &out,
                AskUserRequest::new("q", [Question::new("Which?")]),
            )
            .await?)
        })
        .await;
        let (_, message) = statuses(&question).pop().unwrap();
        assert!(matches!(
            HitlRequest::of(&message.unwrap()),
            Some(HitlRequest::AskUser(_))
        ));
    })
    .await;
}

#[tokio::test]
async fn a_send_that_waits_gets_one_artifact_with_the_whole_text() {
    within(async {
        let agent = executor_fn(|_, out: EventSink| async move {
            let mut text = out.text();
            for chunk in ["one ", "two"] {
                text.push(chunk).await?;
            }
            text.finish().await?;
            Ok(out.complete().await?)
        });
        let peer = ByoPeer::start(Binding::JsonRpc, agent).await;
        let task = run(&peer.client().await, Message::user("go"))
            .await
            .unwrap();
        assert_eq!(task.artifacts.len(), 1);
        assert_eq!(task.artifacts[0].parts.len(), 1);
        assert_eq!(reply_text(&task), "one two");
    })
    .await;
}

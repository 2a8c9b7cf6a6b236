//! A task followed over streams that are cut, and over none.

use a2a_client::proto::v1::{ListTasksRequest, StreamResponse, TaskState};
use a2a_client::{Binding, Client, Error, ErrorCode};
use serde_json::{Value, json};

use crate::peer::{Answer, Peer, chunk, cut_events, events, frame, json_body, status, task, whole};
use crate::run;

/// The events of a task, the error that they end with, and what was asked.
async fn follow(script: Vec<Answer>) -> (Vec<StreamResponse>, Option<Error>, Vec<String>) {
    let mut peer = Peer::start(script).await;
    let mut follow = peer.client(Binding::HttpJson).follow("t");
    let mut seen = Vec::new();
    let error = loop {
        match follow.next().await {
            Some(Ok(event)) => seen.push(event),
            Some(Err(error)) => break Some(error),
            None => break None,
        }
    };
    assert!(follow.next().await.is_none(), "nothing comes after the end");
    let mut asked = Vec::new();
    while peer.waiting() > 0 {
        let line = peer.request().await.line;
        asked.push(line.rsplit('/').next().unwrap().to_owned());
    }
    (seen, error, asked)
}

fn states(events: &[StreamResponse]) -> Vec<TaskState> {
    events.iter().filter_map(StreamResponse::state).collect()
}

/// The task itself, as GetTask answers it.
fn read(state: &str) -> Answer {
    json_body(200, &task(state)["task"])
}

fn with_text(state: &str, text: &str) -> Value {
    let mut event = task(state);
    event["task"]["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": text}]}]);
    event
}

fn failure(status: u16, reason: &str) -> Answer {
    let info = json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org",
    });
    let error = json!({"code": status, "status": "FAILED_PRECONDITION", "message": "no", "details": [info]});
    json_body(status, &json!({"error": error}))
}

#[test]
fn sse_07_what_was_missed_comes_as_a_snapshot_and_nothing_comes_twice() {
    run(async {
        let cut = cut_events([frame(&task("WORKING")), frame(&chunk("one "))]);
        // Nothing new: it was cut again at once.
        let same = cut_events([frame(&with_text("WORKING", "one "))]);
        let more = events([
            frame(&with_text("WORKING", "one two ")),
            frame(&chunk("three")),
            frame(&status("COMPLETED")),
        ]);
        let (seen, error, asked) = follow(vec![cut, same, more]).await;
        assert!(error.is_none(), "{error:?}");
        let texts: Vec<String> = seen.iter().map(StreamResponse::text).collect();
        assert_eq!(texts.len(), 5, "{texts:?}");
        assert_eq!(
            states(&seen),
            [TaskState::Working, TaskState::Working, TaskState::Completed]
        );
        assert_eq!(asked, ["t:subscribe"; 3]);
    });
}

#[test]
fn the_copy_is_what_the_events_make_of_it() {
    run(async {
        let cut = cut_events([frame(&task("WORKING")), frame(&chunk("one "))]);
        let rest = events([
            frame(&with_text("WORKING", "one ")),
            frame(&chunk("two")),
            frame(&status("COMPLETED")),
        ]);
        let peer = Peer::start([cut, rest]).await;
        let task = peer.client(Binding::HttpJson).wait("t").await.unwrap();
        assert_eq!(task.state(), TaskState::Completed);
        assert_eq!(task.artifact_text(), "one two");
    });
}

#[test]
fn a_task_that_has_ended_is_read_once() {
    run(async {
        let ended = failure(400, "UNSUPPORTED_OPERATION");
        let (seen, error, asked) = follow(vec![ended, read("FAILED")]).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(states(&seen), [TaskState::Failed]);
        assert_eq!(asked, ["t:subscribe", "t"]);
    });
}

#[test]
fn a_quiet_task_of_which_the_stream_tells_once_is_at_rest() {
    run(async {
        let (seen, error, _) = follow(vec![events([frame(&task("INPUT_REQUIRED"))])]).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(states(&seen), [TaskState::InputRequired]);
    });
}

#[test]
fn authreq_05_who_has_no_stream_of_a_task_that_waits_for_an_authorization_gets_one() {
    run(async {
        let granted = events([
            frame(&task("AUTH_REQUIRED")),
            frame(&status("WORKING")),
            frame(&status("COMPLETED")),
        ]);
        let (seen, error, asked) = follow(vec![granted]).await;
        assert!(error.is_none(), "{error:?}");
        let passed = [
            TaskState::AuthRequired,
            TaskState::Working,
            TaskState::Completed,
        ];
        assert_eq!(states(&seen), passed);
        assert_eq!(asked, ["t:subscribe"]);
    });
}

#[test]
fn an_agent_that_does_not_stream_is_asked_until_the_task_is_at_rest() {
    run(async {
        let mut peer = Peer::start([read("WORKING"), read("WORKING"), read("COMPLETED")]).await;
        let mut card = peer.card(Binding::HttpJson);
        card.capabilities.as_mut().unwrap().streaming = Some(false);
        let mut follow = Client::from_card(card).unwrap().follow("t");
        let mut seen = Vec::new();
        while let Some(event) = follow.next().await {
            seen.push(event.unwrap());
        }
        assert_eq!(states(&seen), [TaskState::Working, TaskState::Completed]);
        for _ in 0..3 {
            assert!(peer.request().await.line.starts_with("GET "));
        }
    });
}

#[test]
fn w56_a_stream_that_is_closed_at_once_each_time_is_not_asked_for_ever() {
    run(async {
        let closed = || events([frame(&task("WORKING"))]);
        let script = vec![
            closed(),
            closed(),
            closed(),
            read("WORKING"),
            read("COMPLETED"),
        ];
        let (seen, error, asked) = follow(script).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(states(&seen), [TaskState::Working, TaskState::Completed]);
        assert_eq!(
            asked,
            ["t:subscribe", "t:subscribe", "t:subscribe", "t", "t"]
        );
    });
}

#[test]
fn what_the_agent_refuses_is_told_at_once() {
    run(async {
        // Over HTTP+JSON it is asked twice, with POST and with GET: servers know one of them.
        let refused = || failure(404, "TASK_NOT_FOUND");
        let (seen, error, asked) = follow(vec![refused(), refused()]).await;
        assert!(seen.is_empty());
        assert_eq!(error.unwrap().code(), Some(ErrorCode::TaskNotFound));
        assert_eq!(asked, ["t:subscribe"; 2]);
    });
}

#[test]
fn a_server_that_is_overloaded_is_tried_again() {
    run(async {
        let busy = whole(503, "text/plain", "busy");
        let script = vec![busy, events([frame(&status("COMPLETED"))])];
        let (seen, error, _) = follow(script).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(states(&seen), [TaskState::Completed]);
    });
}

#[test]
fn a_list_is_read_over_its_pages_and_one_that_turns_in_a_circle_ends() {
    run(async {
        let page = |ids: &[&str], next: &str| {
            let tasks: Vec<Value> = ids
                .iter()
                .map(|id| json!({"id": id, "contextId": "c"}))
                .collect();
            let page =
                json!({"tasks": tasks, "nextPageToken": next, "pageSize": 2, "totalSize": 3});
            json_body(200, &page)
        };
        let mut peer = Peer::start([page(&["a", "b"], "x"), page(&["c"], "")]).await;
        let mut pages = peer
            .client(Binding::HttpJson)
            .list_all_tasks(ListTasksRequest::default());
        let mut ids = Vec::new();
        while let Some(task) = pages.next().await {
            ids.push(task.unwrap().id);
        }
        assert_eq!(ids, ["a", "b", "c"]);
        assert!(!peer.request().await.line.contains("pageToken"));
        assert!(peer.request().await.line.contains("pageToken=x"));

        let peer = Peer::start([page(&["a"], "x"), page(&[], "x")]).await;
        let mut pages = peer
            .client(Binding::HttpJson)
            .list_all_tasks(ListTasksRequest::default());
        assert_eq!(pages.next().await.unwrap().unwrap().id, "a");
        assert!(pages.next().await.unwrap().unwrap_err().is_decode());
        assert!(pages.next().await.is_none());
    });
}

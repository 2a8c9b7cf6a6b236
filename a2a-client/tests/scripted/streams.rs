use std::sync::Arc;

use a2a_client::proto::v1::{StreamResponse, TaskState};
use a2a_client::{Binding, Error, ErrorCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::peer::{
    self, Answer, Peer, Step, chunk, cut_events, events, frame, json_body, result, status, task,
    text, whole,
};
use crate::run;

/// A frame as the binding wraps it.
fn wrapped(binding: Binding, event: &Value) -> Value {
    match binding {
        Binding::JsonRpc => result(1, event),
        _ => event.clone(),
    }
}

const BINDINGS: [Binding; 2] = [Binding::JsonRpc, Binding::HttpJson];

async fn read(binding: Binding, answer: Answer) -> (Vec<StreamResponse>, Option<Error>) {
    let peer = Peer::start([answer]).await;
    peer::read(&peer.client(binding)).await
}

/// A whole conversation as text, with these line ends.
fn conversation(binding: Binding, end: &str) -> String {
    let events = [
        task("WORKING"),
        chunk("h\u{e9}l"),
        chunk("lo"),
        status("COMPLETED"),
    ];
    let frames = events.map(|event| format!("data: {}{end}{end}", wrapped(binding, &event)));
    frames.concat()
}

#[test]
fn sse_03_w34_every_way_to_write_a_stream_reads_the_same() {
    run(async {
        for binding in BINDINGS {
            let plain = conversation(binding, "\n");
            let first_split = plain.replacen(",\"", ",\ndata: \"", 1);
            let odd = format!(
                "\u{feff}: started\nid: 1\nretry: 5\n\n:\n\nevent: ping\ndata:\n\n{first_split}"
            );
            let variants = [
                plain.clone(),
                conversation(binding, "\r\n"),
                conversation(binding, "\r"),
                plain.replace("data: ", "data:"),
                plain.trim_end().to_owned(),
                odd,
            ];
            for stream in variants {
                let bytes = stream.as_bytes();
                let whole = events([text(&stream)]);
                let single = events(bytes.iter().map(|byte| Step::Write(vec![*byte])));
                for answer in [whole, single] {
                    let peer = Peer::start([answer]).await;
                    let stream = peer.client(binding).stream_text("hi").await.unwrap();
                    let task = stream.into_task().await.unwrap();
                    assert_eq!(task.artifact_text(), "h\u{e9}llo");
                    assert_eq!(task.state(), TaskState::Completed);
                }
            }
        }
    });
}

#[test]
fn sse_05_w36_early_errors_are_typed_in_every_form() {
    run(async {
        let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "m"}});
        for answer in [
            json_body(200, &error),
            json_body(400, &error),
            events([frame(&error)]),
            events([text(&format!("event: error\ndata: {error}\n\n"))]),
            events([text(&format!("data: {error}"))]),
        ] {
            let (found, error) = read(Binding::JsonRpc, answer).await;
            assert!(found.is_empty());
            assert_eq!(
                error.unwrap().protocol().unwrap().code(),
                ErrorCode::UnsupportedOperation
            );
        }
        let error =
            json!({"error": {"code": 400, "status": "FAILED_PRECONDITION", "message": "m"}});
        for answer in [
            json_body(400, &error),
            json_body(200, &error),
            events([frame(&error)]),
            events([text(&format!("event: error\ndata: {error}\n\n"))]),
        ] {
            let (found, error) = read(Binding::HttpJson, answer).await;
            assert!(found.is_empty());
            assert_eq!(
                error.unwrap().protocol().unwrap().code(),
                ErrorCode::UnsupportedOperation
            );
        }
    });
}

#[test]
fn fb_032_pages_and_nothing_are_no_successful_streams() {
    run(async {
        for binding in BINDINGS {
            let (_, error) = read(binding, whole(200, "text/html", "<html>")).await;
            assert!(error.unwrap().is_decode());
            let (_, error) = read(binding, whole(502, "text/html", "<html>")).await;
            assert_eq!(error.unwrap().http_status().unwrap(), 502);
            let (_, error) = read(binding, events([])).await;
            assert!(error.unwrap().is_cut());
            let (_, error) = read(binding, whole(200, "", "")).await;
            assert!(error.unwrap().is_cut());
            let (_, error) = read(binding, events([text("data: <html>\n\n")])).await;
            assert!(error.unwrap().is_decode());
            let (_, error) = read(binding, events([frame(&wrapped(binding, &json!({})))])).await;
            assert!(error.unwrap().is_decode());
        }
    });
}

#[test]
fn fb_032_a_single_result_is_a_stream_of_one_event() {
    run(async {
        for binding in BINDINGS {
            let answer = json_body(200, &wrapped(binding, &task("COMPLETED")));
            let (found, error) = read(binding, answer).await;
            assert_eq!((found.len(), error.is_none()), (1, true));
        }
    });
}

#[test]
fn fb_034_w37_errors_in_the_middle_are_typed_and_end_the_stream() {
    run(async {
        let rpc = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32603, "message": "m"}});
        let rest = json!({"error": {"code": 500, "status": "INTERNAL", "message": "m"}});
        for (binding, failure) in [(Binding::JsonRpc, rpc), (Binding::HttpJson, rest)] {
            for name in ["", "event: error\n"] {
                let first = frame(&wrapped(binding, &task("WORKING")));
                let failure = text(&format!("{name}data: {failure}\n\n"));
                let (found, error) = read(binding, events([first.clone(), failure, first])).await;
                let error = error.unwrap();
                assert_eq!(found.len(), 1);
                assert_eq!(error.protocol().unwrap().code(), ErrorCode::Internal);
                assert!(!error.is_cut());
            }
        }
    });
}

#[test]
fn str_09_cut_and_ended_are_told_apart() {
    run(async {
        for binding in BINDINGS {
            let working = || frame(&wrapped(binding, &task("WORKING")));
            let done = || frame(&wrapped(binding, &status("COMPLETED")));
            let half = || text("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"resu");
            for answer in [
                events([working()]),
                cut_events([working()]),
                events([working(), half()]),
                cut_events([working(), half()]),
            ] {
                let (found, error) = read(binding, answer).await;
                let error = error.unwrap();
                assert_eq!(found.len(), 1);
                assert!(error.is_cut() && !error.is_retryable(), "{error:?}");
                assert!(error.to_string().contains("TASK_STATE_WORKING"), "{error}");
            }
            for answer in [events([working(), done()]), cut_events([working(), done()])] {
                let (found, error) = read(binding, answer).await;
                assert_eq!(found.len(), 2);
                assert!(error.is_none(), "{error:?}");
            }
        }
    });
}

#[test]
fn sse_04_a_large_event_is_read_and_one_beyond_the_limit_is_named() {
    run(async {
        let large = "x".repeat(8 << 20);
        let answer = events([
            frame(&result(1, &chunk(&large))),
            frame(&result(1, &status("COMPLETED"))),
        ]);
        let peer = Peer::start([answer]).await;
        let task = peer
            .client(Binding::JsonRpc)
            .stream_text("hi")
            .await
            .unwrap()
            .into_task()
            .await
            .unwrap();
        assert_eq!(task.artifact_text().len(), large.len());
        let endless = events(std::iter::repeat_n(Step::Write(vec![b'x'; 1 << 20]), 20));
        let (_, error) = read(Binding::JsonRpc, endless).await;
        let error = error.unwrap();
        assert!(error.is_decode(), "{error:?}");
        let limit = std::error::Error::source(&error).unwrap().to_string();
        assert!(limit.contains("16777216"), "{limit}");
    });
}

#[test]
fn two_hundred_thousand_comments_are_nothing() {
    run(async {
        let comments = ": keep-alive\n\n".repeat(200_000);
        let (found, error) = read(
            Binding::HttpJson,
            events([text(&comments), frame(&task("COMPLETED"))]),
        )
        .await;
        assert_eq!((found.len(), error.is_none()), (1, true));
    });
}

#[test]
fn events_arrive_while_the_stream_is_open_and_dropping_it_closes_the_connection() {
    run(async {
        let closed = Arc::new(Notify::new());
        let go = Arc::new(Notify::new());
        let mut answer = cut_events([
            frame(&result(1, &task("WORKING"))),
            Step::Wait(Arc::clone(&go)),
        ]);
        answer.extend(
            cut_events([frame(&result(1, &chunk("late")))])
                .into_iter()
                .skip(1),
        );
        answer.push(Step::UntilClosed);
        answer.push(Step::Signal(Arc::clone(&closed)));
        let peer = Peer::start([answer]).await;
        let mut stream = peer
            .client(Binding::JsonRpc)
            .stream_text("hi")
            .await
            .unwrap();
        stream.next().await.unwrap().unwrap();
        assert_eq!(stream.last_state(), TaskState::Working);
        go.notify_one();
        stream.next().await.unwrap().unwrap();
        drop(stream);
        closed.notified().await;
    });
}

#[test]
fn rest_17_subscribe_falls_back_to_get() {
    run(async {
        let snapshot = || events([frame(&task("COMPLETED"))]);
        for refusal in [
            whole(404, "text/plain", "Not Found"),
            whole(405, "text/plain", "Method Not Allowed"),
        ] {
            let mut peer = Peer::start([refusal, snapshot()]).await;
            let stream = peer
                .client(Binding::HttpJson)
                .subscribe_to_task("t:1")
                .await
                .unwrap();
            stream.into_task().await.unwrap();
            assert_eq!(
                peer.request().await.line,
                "POST /a2a/t%2F1/tasks/t%3A1:subscribe"
            );
            assert_eq!(
                peer.request().await.line,
                "GET /a2a/t%2F1/tasks/t%3A1:subscribe"
            );
        }
        let gone =
            json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "no such task"}});
        let peer =
            Peer::start([json_body(404, &gone), whole(404, "text/plain", "Not Found")]).await;
        let error = peer
            .client(Binding::HttpJson)
            .subscribe_to_task("t")
            .await
            .unwrap_err();
        assert_eq!(error.protocol().unwrap().message(), "no such task");
    });
}

#[test]
fn jrpc_15_an_event_to_another_request_is_refused() {
    run(async {
        let foreign = events([frame(&result(9, &task("COMPLETED")))]);
        let (found, error) = read(Binding::JsonRpc, foreign).await;
        assert!(found.is_empty() && error.unwrap().is_decode());
    });
}

#[test]
fn events_of_0_3_are_told_as_such() {
    run(async {
        let old = json!({"kind": "status-update", "taskId": "t", "contextId": "c", "final": false});
        let (_, error) = read(Binding::JsonRpc, events([frame(&result(1, &old))])).await;
        assert!(error.unwrap().peer_speaks().is_some());
    });
}

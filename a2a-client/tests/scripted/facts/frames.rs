use std::sync::Arc;
use std::time::Duration;

use a2a_client::proto::v1::TaskState;
use a2a_client::{Binding, ErrorCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{BINDINGS, error_info};
use crate::peer::{
    Answer, Peer, Step, chunk, cut_events, events, frame, json_body, read, result, status, task,
    text, whole,
};
use crate::{in_time, run, runtime};

fn wrapped(binding: Binding, event: &Value) -> Value {
    match binding {
        Binding::JsonRpc => result(1, event),
        _ => event.clone(),
    }
}

/// A stream as one of the SDKs writes it: what stands before the first frame, and how a frame is written.
struct Style {
    sdk: &'static str,
    head: &'static str,
    write: fn(usize, &Value) -> String,
    /// Whether a blank line ends the last frame.
    closed: bool,
}

const STYLES: [Style; 4] = [
    Style {
        sdk: "python",
        head: ": ping - 2026-01-02 03:04:05.678901+00:00\r\n\r\n",
        write: |_, event| format!("data: {}\r\n\r\n: ping - 2026-01-02\r\n\r\n", spaced(event)),
        closed: true,
    },
    Style {
        sdk: "go",
        head: "",
        write: |index, event| {
            let event = escaped(event);
            format!("id: 0199-{index}\ndata: {event}\n\n: keep-alive\n\n")
        },
        closed: false,
    },
    Style {
        sdk: "js",
        head: "",
        write: |_, event| format!("data: {event}\n\n"),
        closed: false,
    },
    Style {
        sdk: "java",
        head: ": SSE stream started\n\n",
        write: |index, event| format!("data: {event}\nid: {index}\n\n"),
        closed: true,
    },
];

/// With spaces behind the separators, as Python's `json.dumps` prints.
fn spaced(event: &Value) -> String {
    event
        .to_string()
        .replace("\":", "\": ")
        .replace(",\"", ", \"")
}

/// With `<`, `>` and `&` as Go's encoder writes them.
fn escaped(event: &Value) -> String {
    event
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[test]
fn w34_the_frames_of_each_sdk_are_read_however_they_are_cut() {
    run(async {
        for binding in BINDINGS {
            for style in &STYLES {
                let told = [
                    task("WORKING"),
                    chunk("<h\u{e9}>&"),
                    chunk("llo"),
                    status("COMPLETED"),
                ];
                let frames = told.iter().enumerate();
                let frames: String = frames
                    .map(|(index, event)| (style.write)(index, &wrapped(binding, event)))
                    .collect();
                let mut stream = format!("{}{frames}", style.head);
                if !style.closed {
                    stream.truncate(stream.trim_end_matches([':', ' ', '\n', '-']).len());
                }
                for size in [1, 7, stream.len()] {
                    let pieces = stream.as_bytes().chunks(size);
                    let answer = events(pieces.map(|piece| Step::Write(piece.to_vec())));
                    let peer = Peer::start([answer]).await;
                    let (found, error) = read(&peer.client(binding)).await;
                    let sdk = style.sdk;
                    assert!(error.is_none(), "{sdk} by {size}: {error:?}");
                    assert_eq!(found.len(), 4, "{sdk} by {size}");
                    assert_eq!(found[1].text(), "<h\u{e9}>&", "{sdk} by {size}");
                }
            }
        }
    });
}

#[test]
fn w35_the_head_of_a_stream_is_read_with_and_without_a_charset() {
    run(async {
        for head in [
            "content-type: text/event-stream; charset=utf-8\r\ncache-control: no-store\r\nx-accel-buffering: no\r\n",
            "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n",
            "content-type: Text/Event-Stream;charset=UTF-8\r\ncache-control: no-cache\r\nconnection: keep-alive\r\n",
        ] {
            for binding in BINDINGS {
                let event = wrapped(binding, &task("COMPLETED"));
                let body = format!("data: {event}\n\n");
                let length = body.len();
                let answer = text(&format!(
                    "HTTP/1.1 200 OK\r\n{head}content-length: {length}\r\n\r\n{body}"
                ));
                let peer = Peer::start([vec![answer]]).await;
                let (found, error) = read(&peer.client(binding)).await;
                assert_eq!((found.len(), error.is_none()), (1, true), "{error:?}");
            }
        }
    });
}

#[test]
fn w36_an_error_before_a_stream_is_typed_as_a_body_and_as_a_frame() {
    let details = json!([error_info("TASK_NOT_FOUND")]);
    let rpc = json!({"jsonrpc": "2.0", "id": 1,
        "error": {"code": -32001, "message": "task not found", "data": details}});
    let rest = json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "task not found", "details": details}});
    let of_status = |code: u16| json_body(code, if code == 200 { &rpc } else { &rest });
    run(async {
        let script: [(Binding, Answer); 7] = [
            // Python and JS.
            (Binding::JsonRpc, of_status(200)),
            (Binding::HttpJson, of_status(404)),
            (
                Binding::HttpJson,
                whole(404, "application/a2a+json; charset=utf-8", rest.to_string()),
            ),
            // Go and Java.
            (
                Binding::JsonRpc,
                events([text(&format!("id: 0199\ndata: {rpc}\n\n"))]),
            ),
            (
                Binding::HttpJson,
                events([text(&format!("id: 0199\ndata: {rest}\n\n"))]),
            ),
            (
                Binding::JsonRpc,
                events([text(&format!(
                    ": SSE stream started\n\ndata: {rpc}\nid: 0\n\n"
                ))]),
            ),
            (
                Binding::HttpJson,
                events([text(&format!("event: error\ndata: {rest}\n\n"))]),
            ),
        ];
        for (binding, answer) in script {
            let peer = Peer::start([answer]).await;
            let (found, error) = read(&peer.client(binding)).await;
            let error = error.unwrap();
            assert!(found.is_empty());
            assert_eq!(error.code(), Some(ErrorCode::TaskNotFound), "{error:?}");
            assert_eq!(error.protocol().unwrap().message(), "task not found");
        }
    });
}

#[test]
fn w37_an_error_in_the_middle_of_a_stream_is_typed_with_and_without_its_event_name() {
    let details = json!([error_info("INTERNAL_ERROR")]);
    let failure = json!({"code": -32603, "message": "the model is gone", "data": details});
    let status_of = json!({"code": 500, "status": "INTERNAL", "message": "the model is gone", "details": details});
    run(async {
        for name in ["", "event: error\n", "event: error\nid: 0199\n"] {
            // JS writes the id 0 of a request as null in the errors of a stream.
            for id in [json!(1), json!(null)] {
                for binding in BINDINGS {
                    let body = match binding {
                        Binding::JsonRpc => json!({"jsonrpc": "2.0", "id": id, "error": failure}),
                        _ => json!({"error": status_of}),
                    };
                    let answer = events([
                        frame(&wrapped(binding, &task("WORKING"))),
                        text(&format!("{name}data: {body}\n\n")),
                    ]);
                    let peer = Peer::start([answer]).await;
                    let (found, error) = read(&peer.client(binding)).await;
                    let error = error.unwrap();
                    assert_eq!(found.len(), 1);
                    assert_eq!(error.code(), Some(ErrorCode::Internal), "{error:?}");
                    assert_eq!(error.protocol().unwrap().message(), "the model is gone");
                }
            }
        }
    });
}

#[test]
fn w38_an_event_of_twelve_mebibytes_is_read() {
    run(async {
        let long = "x".repeat(12 * 1024 * 1024);
        for binding in BINDINGS {
            let frames = [task("WORKING"), chunk(&long), status("COMPLETED")];
            let frames = frames.map(|event| frame(&wrapped(binding, &event)));
            let peer = Peer::start([events(frames)]).await;
            let task = peer.client(binding).stream_text("hi").await.unwrap();
            let text = task.into_task().await.unwrap().artifact_text();
            assert_eq!(text.len(), long.len());
        }
    });
}

#[test]
fn w38_an_hour_in_which_nothing_comes_does_not_end_a_stream() {
    runtime().block_on(async {
        for binding in BINDINGS {
            let (quiet, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            let answer = events([
                frame(&wrapped(binding, &task("WORKING"))),
                Step::Signal(Arc::clone(&quiet)),
                Step::Wait(Arc::clone(&go_on)),
                text(": keep-alive\n\n"),
                frame(&wrapped(binding, &status("COMPLETED"))),
            ]);
            let peer = Peer::start([answer]).await;
            let opened = in_time(peer.client(binding).stream_text("hi")).await;
            let mut stream = opened.unwrap();
            assert!(in_time(stream.next()).await.unwrap().is_ok());
            in_time(quiet.notified()).await;
            // What is waited for meanwhile sees the hour go by.
            tokio::time::pause();
            let early = tokio::time::timeout(Duration::from_secs(3600), stream.next());
            assert!(early.await.is_err(), "the stream ended");
            tokio::time::resume();
            go_on.notify_one();
            let end = in_time(stream.next()).await.unwrap().unwrap();
            assert_eq!(end.state(), Some(TaskState::Completed));
        }
    });
}

#[test]
fn w39_a_task_in_the_middle_replaces_and_folding_stays_the_same() {
    let snapshot = |state: &str, text: &str| {
        json!({"task": {"id": "t", "contextId": "c", "status": {"state": state},
            "artifacts": [{"artifactId": "a", "parts": [{"text": text}]}]}})
    };
    run(async {
        for binding in BINDINGS {
            for (told, state, text) in [
                // Python sends the whole task again.
                (
                    vec![
                        task("WORKING"),
                        chunk("he"),
                        snapshot("TASK_STATE_WORKING", "he"),
                        chunk("llo"),
                        status("COMPLETED"),
                    ],
                    TaskState::Completed,
                    "hello",
                ),
                // Go ends with a failed task when the executor errs.
                (
                    vec![
                        task("WORKING"),
                        chunk("he"),
                        snapshot("TASK_STATE_FAILED", "he"),
                    ],
                    TaskState::Failed,
                    "he",
                ),
                // JS sends a task of its own when the executor fails before its first.
                (vec![task("FAILED")], TaskState::Failed, ""),
                // Events behind the terminal one are not the stream's any more.
                (
                    vec![
                        task("WORKING"),
                        status("COMPLETED"),
                        status("WORKING"),
                        chunk("more"),
                    ],
                    TaskState::Completed,
                    "",
                ),
            ] {
                let frames = told.iter().map(|event| frame(&wrapped(binding, event)));
                let peer = Peer::start([events(frames)]).await;
                let stream = peer.client(binding).stream_text("hi").await.unwrap();
                let task = stream.into_task().await.unwrap();
                assert_eq!((task.state(), task.artifact_text().as_str()), (state, text));
            }
        }
    });
}

#[test]
fn w51_an_executor_that_yields_nothing_leaves_a_call_that_the_deadline_ends() {
    run(async {
        for binding in BINDINGS {
            let peer = Peer::start([vec![Step::UntilClosed]]).await;
            let client = peer.client(binding).with_timeout(Duration::from_millis(50));
            let error = client.send_text("hi").await.unwrap_err();
            assert!(error.is_timeout() && !error.is_retryable(), "{error:?}");
        }
    });
}

#[test]
fn w54_w55_a_stream_goes_on_behind_a_paused_first_task_and_in_auth_required() {
    run(async {
        for binding in BINDINGS {
            for paused in ["INPUT_REQUIRED", "AUTH_REQUIRED"] {
                let told = [
                    task(paused),
                    status("WORKING"),
                    chunk("done"),
                    status("COMPLETED"),
                ];
                let frames = told.map(|event| frame(&wrapped(binding, &event)));
                let peer = Peer::start([events(frames)]).await;
                let stream = peer.client(binding).stream_text("hi").await.unwrap();
                let task = stream.into_task().await.unwrap();
                assert_eq!(task.state(), TaskState::Completed, "{paused}");
                assert_eq!(task.artifact_text(), "done");
            }
            let told = [
                task("WORKING"),
                status("AUTH_REQUIRED"),
                status("WORKING"),
                status("COMPLETED"),
            ];
            let frames = told.map(|event| frame(&wrapped(binding, &event)));
            let peer = Peer::start([events(frames)]).await;
            let (found, error) = read(&peer.client(binding)).await;
            assert_eq!((found.len(), error.is_none()), (4, true), "{error:?}");
        }
    });
}

#[test]
fn w55_a_pause_for_input_ends_a_stream_properly() {
    run(async {
        for binding in BINDINGS {
            let told = [task("WORKING"), status("INPUT_REQUIRED")];
            let frames = told.map(|event| frame(&wrapped(binding, &event)));
            let peer = Peer::start([events(frames)]).await;
            let (found, error) = read(&peer.client(binding)).await;
            assert_eq!((found.len(), error.is_none()), (2, true), "{error:?}");
        }
    });
}

#[test]
fn w56_an_end_without_a_final_state_says_ask_again() {
    run(async {
        for binding in BINDINGS {
            for answer in [
                events([frame(&wrapped(binding, &task("WORKING")))]),
                cut_events([frame(&wrapped(binding, &task("WORKING")))]),
            ] {
                // A subscription that closes at once, as of a task that nobody executes any more.
                let peer = Peer::start([answer]).await;
                let client = peer.client(binding);
                let mut stream = client.subscribe_to_task("t").await.unwrap();
                assert_eq!(
                    stream.next().await.unwrap().unwrap().state(),
                    Some(TaskState::Working)
                );
                let error = stream.next().await.unwrap().unwrap_err();
                assert!(error.is_cut() && error.to_string().contains("TASK_STATE_WORKING"));
            }
        }
    });
}

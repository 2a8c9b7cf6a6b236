//! Server-sent events.

use serde_json::json;

use super::{ALL, GO, JS, PYTHON, path, rpc};
use crate::facts::probe::{Probe, text};
use crate::facts::web::Answer;

/// The lines of a stream that say something.
fn lines(answer: &Answer) -> impl Iterator<Item = &str> {
    answer.body.lines().filter(|line| !line.is_empty())
}

pub(super) fn probes() -> Vec<Probe> {
    let stream = || text("stream 3");
    vec![
        rpc(
            "W34",
            &[PYTHON],
            "frames end with CR LF and have spaces behind their separators",
            "SendStreamingMessage",
            stream(),
            |answer| {
                answer.body.contains("\r\n\r\n") && answer.body.contains(r#""jsonrpc": "2.0""#)
            },
        ),
        rpc(
            "W34",
            &[GO],
            "each frame has an id before its data",
            "SendStreamingMessage",
            stream(),
            |answer| {
                lines(answer)
                    .step_by(2)
                    .all(|line| line.starts_with("id: "))
                    && lines(answer)
                        .skip(1)
                        .step_by(2)
                        .all(|line| line.starts_with("data: {"))
            },
        ),
        rpc(
            "W34",
            &[JS],
            "frames are data alone, ended by LF",
            "SendStreamingMessage",
            stream(),
            |answer| {
                lines(answer).all(|line| line.starts_with("data: {")) && !answer.body.contains('\r')
            },
        ),
        rpc(
            "W13",
            ALL,
            "each frame carries the id",
            "SendStreamingMessage",
            stream(),
            |answer| {
                let mut frames = lines(answer).filter_map(|line| line.strip_prefix("data: "));
                frames.all(|frame| {
                    serde_json::from_str(frame)
                        .is_ok_and(|frame: serde_json::Value| frame["id"] == "probe")
                })
            },
        ),
        rpc(
            "W35",
            &[PYTHON],
            "the head names a charset and no-store",
            "SendStreamingMessage",
            stream(),
            |answer| {
                answer.header("content-type") == "text/event-stream; charset=utf-8"
                    && answer.header("cache-control") == "no-store"
            },
        ),
        rpc(
            "W35",
            &[JS, GO],
            "the head says no-cache",
            "SendStreamingMessage",
            stream(),
            |answer| {
                answer
                    .header("content-type")
                    .starts_with("text/event-stream")
                    && answer.header("cache-control").contains("no-cache")
            },
        ),
        rpc(
            "W35",
            &[GO],
            "the head names no charset",
            "SendStreamingMessage",
            stream(),
            |answer| answer.header("content-type") == "text/event-stream",
        ),
        rpc(
            "W35",
            ALL,
            "proxies are told not to buffer",
            "SendStreamingMessage",
            stream(),
            |answer| answer.header("x-accel-buffering") == "no",
        ),
        rpc(
            "W36",
            &[PYTHON, JS],
            "an early error is a plain body",
            "SubscribeToTask",
            json!({"id": "none"}),
            |answer| {
                answer.status == 200
                    && answer
                        .header("content-type")
                        .starts_with("application/json")
                    && answer.code() == Some(-32001)
            },
        ),
        rpc(
            "W36",
            &[GO],
            "an early error is a frame of a stream",
            "SubscribeToTask",
            json!({"id": "none"}),
            |answer| {
                answer
                    .header("content-type")
                    .starts_with("text/event-stream")
                    && answer.body.contains("-32001")
            },
        ),
        path(
            "W36",
            &[PYTHON, JS],
            "an early error of HTTP+JSON has its status",
            ("POST", "/tasks/none:subscribe", ""),
            |answer| answer.status == 404 && answer.json()["error"].is_object(),
        ),
        path(
            "W36",
            &[GO],
            "an early error of HTTP+JSON is a frame of a stream",
            ("POST", "/tasks/none:subscribe", ""),
            |answer| {
                answer.status == 200
                    && answer
                        .header("content-type")
                        .starts_with("text/event-stream")
            },
        ),
        rpc(
            "W37",
            &[PYTHON],
            "an error in the middle is named as one and has the id",
            "SendStreamingMessage",
            text("raise boom"),
            |answer| answer.body.contains("event: error") && answer.body.contains("\"probe\""),
        ),
        rpc(
            "W51",
            &[JS],
            "an executor that raises ends in a failed task with its text",
            "SendStreamingMessage",
            text("raise boom"),
            |answer| answer.body.contains("TASK_STATE_FAILED") && answer.body.contains("boom"),
        ),
        rpc(
            "W51",
            &[GO],
            "an executor that raises ends in a failed task without its text",
            "SendStreamingMessage",
            text("raise boom"),
            |answer| {
                answer.body.contains("TASK_STATE_FAILED") && !answer.body.contains("event: error")
            },
        ),
    ]
}

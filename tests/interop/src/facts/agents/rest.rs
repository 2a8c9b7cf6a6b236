//! HTTP+JSON: types, statuses, paths, queries.

use super::{ALL, GO, JS, PYTHON, path, with};
use crate::facts::probe::Probe;

const MESSAGE: &str =
    r#"{"message":{"messageId":"rest","role":"ROLE_USER","parts":[{"text":"echo x"}]}}"#;
const CONFIG: &str = r#"{"taskId":"other","url":"https://hooks.example/1"}"#;
const CONFIGS: &str = "/tasks/DONE/pushNotificationConfigs";

pub(super) fn probes() -> Vec<Probe> {
    vec![
        path(
            "W24",
            &[PYTHON, JS],
            "a success is application/a2a+json",
            ("GET", "/tasks/DONE", ""),
            |answer| {
                answer.status == 200
                    && answer
                        .header("content-type")
                        .starts_with("application/a2a+json")
            },
        ),
        path(
            "W24",
            &[GO],
            "a success is application/json",
            ("GET", "/tasks/DONE", ""),
            |answer| {
                answer.status == 200
                    && answer
                        .header("content-type")
                        .starts_with("application/json")
            },
        ),
        path(
            "W24",
            &[PYTHON, GO],
            "an error is application/json",
            ("GET", "/tasks/none", ""),
            |answer| {
                answer
                    .header("content-type")
                    .starts_with("application/json")
            },
        ),
        path(
            "W24",
            &[JS],
            "an error is application/a2a+json",
            ("GET", "/tasks/none", ""),
            |answer| {
                answer
                    .header("content-type")
                    .starts_with("application/a2a+json")
            },
        ),
        with(
            &[("content-type", "text/plain")],
            path(
                "W25",
                &[JS],
                "another type than JSON is refused",
                ("POST", "/message:send", MESSAGE),
                |answer| answer.status >= 400,
            ),
        ),
        path(
            "W26",
            &[PYTHON, GO],
            "a created configuration is a 200",
            ("POST", CONFIGS, CONFIG),
            |answer| answer.status == 200,
        ),
        path(
            "W26",
            &[JS],
            "a created configuration is a 201",
            ("POST", CONFIGS, CONFIG),
            |answer| answer.status == 201,
        ),
        path(
            "W26",
            &[PYTHON],
            "a deletion is a 200 with an object",
            ("DELETE", "/tasks/DONE/pushNotificationConfigs/DONE", ""),
            |answer| answer.status == 200 && answer.body.trim() == "{}",
        ),
        path(
            "W26",
            &[JS],
            "a deletion is a 204",
            ("DELETE", "/tasks/DONE/pushNotificationConfigs/DONE", ""),
            |answer| answer.status == 204 || answer.status == 404,
        ),
        path(
            "W26",
            &[GO],
            "a deletion is a 200 with nothing",
            ("DELETE", "/tasks/DONE/pushNotificationConfigs/DONE", ""),
            |answer| answer.status == 200 && answer.body.is_empty(),
        ),
        path(
            "W27",
            ALL,
            "an unknown task is a 404 with its reason",
            ("GET", "/tasks/none", ""),
            |answer| answer.status == 404 && answer.body.contains("TASK_NOT_FOUND"),
        ),
        path(
            "W27",
            &[PYTHON],
            "bad JSON has the reason INVALID_REQUEST",
            ("POST", "/message:send", "{"),
            |answer| answer.body.contains("INVALID_REQUEST"),
        ),
        path(
            "W27",
            &[JS],
            "bad JSON has the reason INVALID_PARAMS",
            ("POST", "/message:send", "{"),
            |answer| answer.body.contains("INVALID_PARAMS"),
        ),
        path(
            "W28",
            ALL,
            "the task of a configuration is that of the path",
            ("POST", CONFIGS, CONFIG),
            |answer| {
                answer.json()["taskId"]
                    .as_str()
                    .is_some_and(|task| task != "other")
            },
        ),
        path(
            "W29",
            &[PYTHON, JS],
            "a subscription may be a GET",
            ("GET", "/tasks/none:subscribe", ""),
            |answer| answer.body.contains("TASK_NOT_FOUND"),
        ),
        path(
            "W29",
            &[GO],
            "a GET of a subscription is one of a task of that name",
            ("GET", "/tasks/DONE:subscribe", ""),
            |answer| answer.status == 404,
        ),
        path(
            "W29",
            ALL,
            "a cancel needs no body",
            ("POST", "/tasks/none:cancel", ""),
            |answer| answer.status == 404 && answer.body.contains("TASK_NOT_FOUND"),
        ),
        path(
            "W31",
            &[PYTHON, JS, GO],
            "unknown names of a query are ignored",
            ("GET", "/tasks/DONE?unknown=1", ""),
            |answer| answer.status == 200,
        ),
        path(
            "W31",
            &[JS],
            "a page size that is none is a 400",
            ("GET", "/tasks?pageSize=abc", ""),
            |answer| answer.status == 400,
        ),
        path(
            "W31",
            &[GO],
            "a number behind a space is a 400",
            ("GET", "/tasks?pageSize=%205", ""),
            |answer| answer.status == 400,
        ),
        path(
            "W32",
            &[PYTHON, GO],
            "an escaped colon is taken",
            ("POST", "/message%3Asend", MESSAGE),
            |answer| answer.status == 200,
        ),
        path(
            "W32",
            &[JS],
            "an escaped colon leads nowhere",
            ("POST", "/message%3Asend", MESSAGE),
            |answer| answer.status == 404,
        ),
        path(
            "W33",
            &[PYTHON, GO],
            "an unknown path is answered in plain text",
            ("GET", "/nowhere/at/all", ""),
            |answer| {
                answer.status == 404 && answer.header("content-type").starts_with("text/plain")
            },
        ),
        path(
            "W33",
            &[JS],
            "an unknown path is answered in HTML",
            ("GET", "/nowhere/at/all", ""),
            |answer| answer.status == 404 && answer.header("content-type").starts_with("text/html"),
        ),
    ]
}

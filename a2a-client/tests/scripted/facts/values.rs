use a2a_client::Binding;
use a2a_client::proto::v1::{ListTaskPushNotificationConfigsRequest, ListTasksRequest, TaskState};
use serde_json::{Value, json};

use super::{BINDINGS, get, tasks};
use crate::peer::{Peer, json_body, result, whole};
use crate::run;

fn with_part(part: &Value) -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"},
        "artifacts": [{"artifactId": "a", "parts": [part]}]})
}

#[test]
fn w43_timestamps_of_every_sdk_are_one_instant_and_may_be_missing() {
    run(async {
        for (written, expected) in [
            ("2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678901Z"),
            ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
            (
                "2026-01-02T05:04:05.678901234+02:00",
                "2026-01-02T03:04:05.678901234Z",
            ),
            ("2026-01-01T19:04:05-08:00", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ] {
            let task =
                json!({"id": "t", "status": {"state": "TASK_STATE_WORKING", "timestamp": written}});
            for found in tasks(&task).await {
                let timestamp = found.status.unwrap().timestamp.unwrap();
                assert_eq!(timestamp.to_string(), expected);
            }
        }
        for status in [
            json!({"state": "TASK_STATE_SUBMITTED"}),
            json!({"state": 1, "timestamp": null}),
        ] {
            for found in tasks(&json!({"id": "t", "status": status})).await {
                assert_eq!(found.status.unwrap().timestamp, None);
            }
        }
        for wrong in [
            json!("2026-01-02T03:04:05"),
            json!("2026-01-02 03:04:05Z"),
            json!(""),
            json!(1),
        ] {
            let task = json!({"id": "t", "status": {"state": 1, "timestamp": wrong}});
            let error = get(Binding::JsonRpc, json_body(200, &result(1, &task)))
                .await
                .unwrap_err();
            let text = format!("{error:?}");
            assert!(error.is_decode() && text.contains("timestamp"), "{text}");
        }
    });
}

#[test]
fn w44_bytes_are_read_in_both_alphabets_with_and_without_padding() {
    run(async {
        for written in ["+/8=", "-_8=", "+/8", "-_8"] {
            let part = json!({"raw": written, "mediaType": "image/png", "filename": "a.png"});
            for found in tasks(&with_part(&part)).await {
                assert_eq!(
                    found.artifacts[0].parts[0].as_raw().unwrap().as_ref(),
                    [0xfb, 0xff]
                );
            }
        }
    });
}

#[test]
fn w45_numbers_are_equal_by_value_and_nulls_are_kept() {
    run(async {
        let sent = json!({"n": 1, "z": null, "l": [], "big": 9_007_199_254_740_991_u64});
        let float = json!({"n": 1.0, "z": null, "l": [], "big": 9_007_199_254_740_991_u64});
        for written in [&sent, &float] {
            for found in tasks(&with_part(&json!({"data": written}))).await {
                let data = found.artifacts[0].parts[0].as_data().unwrap();
                assert_eq!(data["n"].as_f64(), Some(1.0));
                assert!(data["z"].is_null() && data["l"].is_array());
                assert_eq!(data["big"], 9_007_199_254_740_991_u64);
            }
        }
        // Beyond 2^53 they lose precision, here as there.
        let beyond = json!({"data": 9_007_199_254_740_993_u64});
        for found in tasks(&with_part(&beyond)).await {
            let data = found.artifacts[0].parts[0].as_data().unwrap();
            assert_eq!(data.as_f64(), Some(9_007_199_254_740_992.0));
        }
        // An empty list that a store turned into null is no fault, in data and in metadata.
        let mut task = with_part(&json!({"data": {"l": null}, "metadata": {"l": null}}));
        task["metadata"] = json!({"l": null, "n": 1.0});
        for found in tasks(&task).await {
            assert!(found.metadata.unwrap().get("l").unwrap().is_null());
        }
    });
}

#[test]
fn w46_parts_of_every_oddity_do_not_fail_the_task() {
    run(async {
        for found in tasks(&with_part(&json!({"text": ""}))).await {
            assert_eq!(found.artifacts[0].parts[0].as_text(), Some(""));
        }
        // What JS gives back for a part that it did not understand.
        for found in tasks(&with_part(&json!({}))).await {
            assert_eq!(found.artifacts[0].parts[0].content, None);
        }
        for found in tasks(&with_part(&json!({"data": null}))).await {
            assert_eq!(found.artifacts[0].parts[0].as_data(), Some(&Value::Null));
        }
        for found in tasks(&with_part(
            &json!({"text": "x", "raw": "", "url": "", "filename": ""}),
        ))
        .await
        {
            assert_eq!(found.artifacts[0].parts[0].as_text(), Some("x"));
        }
    });
}

#[test]
fn w47_what_is_empty_may_be_printed_or_left_out_or_null() {
    let full = json!({"id": "t", "contextId": "", "status": {"state": "TASK_STATE_WORKING", "message": null},
        "artifacts": [], "history": [], "metadata": null});
    let printed = json!({"id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_WORKING"},
        "history": [{"messageId": "m", "contextId": "", "taskId": "", "role": "ROLE_USER",
            "parts": [{"text": "a", "filename": "", "mediaType": ""}], "extensions": [], "referenceTaskIds": []}],
        "artifacts": null});
    run(async {
        for document in [full, printed] {
            for found in tasks(&document).await {
                assert_eq!(
                    (found.id.as_str(), found.state()),
                    ("t", TaskState::Working)
                );
                assert!(found.artifacts.is_empty());
            }
        }
        for binding in BINDINGS {
            let wrapped = |reply: Value| match binding {
                Binding::JsonRpc => result(1, &reply),
                _ => reply,
            };
            // Go, JS 1.0.1, JS 1.3.0 and Python.
            for (reply, total) in [
                (
                    json!({"tasks": null, "nextPageToken": "", "pageSize": 50, "totalSize": 0}),
                    0,
                ),
                (json!({"pageSize": 1}), 0),
                (
                    json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 7}),
                    7,
                ),
                (
                    json!({"tasks": [{"id": "t", "history": [], "metadata": {}}], "nextPageToken": "n"}),
                    0,
                ),
            ] {
                let listed = reply["tasks"].as_array().map_or(0, Vec::len);
                let peer = Peer::start([json_body(200, &wrapped(reply))]).await;
                let found = peer
                    .client(binding)
                    .list_tasks(ListTasksRequest::default())
                    .await
                    .unwrap();
                assert_eq!((found.tasks.len(), found.total_size), (listed, total));
            }
            let request = ListTaskPushNotificationConfigsRequest {
                task_id: "t".into(),
                ..Default::default()
            };
            let peer = Peer::start([json_body(200, &wrapped(json!({})))]).await;
            let found = peer
                .client(binding)
                .list_push_configs(request)
                .await
                .unwrap();
            assert!(found.configs.is_empty());
        }
    });
}

#[test]
fn w47_escaped_characters_are_those_that_they_stand_for() {
    let body = r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"},
        "artifacts":[{"artifactId":"a","parts":[{"text":"\u003cb\u003e \u0026 \u00e9"}]}]}"#;
    run(async {
        let found = get(Binding::HttpJson, whole(200, "application/json", body))
            .await
            .unwrap();
        assert_eq!(found.artifact_text(), "<b> & \u{e9}");
    });
}

#[test]
fn w49_no_history_is_an_absent_one_or_an_empty_one() {
    run(async {
        for history in [None, Some(json!([])), Some(json!(null))] {
            let mut task = json!({"id": "t", "status": {"state": "TASK_STATE_FAILED",
                "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "why"}]}}});
            if let Some(history) = history {
                task["history"] = history;
            }
            for found in tasks(&task).await {
                assert!(found.history.is_empty());
                assert_eq!(found.status_text(), "why");
            }
        }
    });
}

#[test]
fn w49_w51_a_failed_task_is_read_with_and_without_a_cause() {
    let message = json!({"messageId": "m", "role": "ROLE_AGENT",
        "parts": [{"text": "Agent execution error: boom"}]});
    run(async {
        // The message of JS stands in both places, and Go gives neither cause nor time.
        let of_js = json!({"id": "t", "status": {"state": "TASK_STATE_FAILED", "message": message},
            "history": [message]});
        let of_go = json!({"id": "t", "status": {"state": "TASK_STATE_FAILED"}});
        for (task, text) in [(of_js, "Agent execution error: boom"), (of_go, "")] {
            for found in tasks(&task).await {
                assert_eq!(
                    (found.state(), found.status_text().as_str()),
                    (TaskState::Failed, text)
                );
            }
        }
    });
}

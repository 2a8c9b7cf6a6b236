//! The requirements on JSON, one by one; the vectors have the corner cases.

use a2a_proto::v1::part::Content;
use a2a_proto::v1::{
    AgentCard, GetTaskRequest, ListTasksResponse, Message, Part, Role, StreamResponse, Task,
    TaskState, TaskStatus,
};
use a2a_proto::{Timestamp, json};
use serde_json::{Value, json};

fn print<M: json::Message>(message: &M) -> Value {
    serde_json::from_slice(&json::to_vec(message)).unwrap()
}

fn read<M: json::Message>(document: Value) -> M {
    json::from_value(document).unwrap()
}

#[test]
fn dm_json_01_02_names_are_printed_in_camel_case_and_read_in_both() {
    let camel: Message = read(json!({"messageId": "m", "contextId": "c"}));
    let snake: Message = read(json!({"message_id": "m", "context_id": "c"}));
    assert_eq!(camel, snake);
    let printed = json::to_string(&camel);
    assert!(!printed.contains('_'), "{printed}");
}

#[test]
fn dm_json_03_04_enums_are_printed_by_name_and_read_by_name_or_number() {
    let status: TaskStatus = read(json!({"state": 6}));
    assert_eq!(
        print(&status),
        json!({"state": "TASK_STATE_INPUT_REQUIRED"})
    );
    let unknown: Message = read(json!({"role": "user"}));
    assert_eq!(unknown.role(), Role::Unspecified);
    assert_eq!(
        print(&read::<TaskStatus>(json!({"state": 99}))),
        json!({"state": 99})
    );
}

#[test]
fn dm_json_05_06_07_timestamps_are_utc_with_the_digits_they_need() {
    for (text, printed) in [
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
        (
            "2026-01-02T03:04:05.123456789Z",
            "2026-01-02T03:04:05.123456789Z",
        ),
        ("2026-01-02T03:04:05.5+02:00", "2026-01-02T01:04:05.500Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
    ] {
        let status: TaskStatus = read(json!({"timestamp": text}));
        assert_eq!(print(&status), json!({"timestamp": printed}));
    }
    let precise: Timestamp = "2026-01-02T03:04:05.678912Z".parse().unwrap();
    let millis = precise.truncated_to_millis().to_string();
    assert_eq!(millis, "2026-01-02T03:04:05.678Z");
}

#[test]
fn timestamps_are_instants_of_the_system_clock() {
    for text in [
        "1969-12-31T23:59:59.500Z",
        "1970-01-01T00:00:00Z",
        "2026-01-02T03:04:05.678912345Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999Z",
    ] {
        let timestamp: Timestamp = text.parse().unwrap();
        let time = std::time::SystemTime::try_from(timestamp).unwrap();
        assert_eq!(Timestamp::from(time).to_string(), text);
    }
}

#[test]
fn dm_json_08_bytes_are_standard_base64_and_read_in_four_forms() {
    for text in ["+/8=", "-_8=", "+/8", "-_8"] {
        let part: Part = read(json!({"raw": text}));
        assert_eq!(part.as_raw().unwrap().as_ref(), [0xfb, 0xff]);
        assert_eq!(print(&part), json!({"raw": "+/8="}));
    }
}

#[test]
fn dm_json_09_10_absent_null_and_zero() {
    let absent: GetTaskRequest = read(json!({"id": "t"}));
    assert_eq!(absent, read(json!({"id": "t", "historyLength": null})));
    let zero: GetTaskRequest = read(json!({"id": "t", "historyLength": 0}));
    assert_eq!(
        (absent.history_length, zero.history_length),
        (None, Some(0))
    );
    assert_eq!(print(&zero), json!({"id": "t", "historyLength": 0}));
    assert!(json::from_str::<Message>(r#"{"parts":[null]}"#).is_err());
    assert_eq!(
        print(&read::<Part>(json!({"data": null}))),
        json!({"data": null})
    );
}

#[test]
fn dm_json_11_unknown_members_are_ignored_at_every_depth() {
    let plain = json!({"task": {"id": "t", "status": {"state": 1}, "history": [{"parts": [{"text": "x"}]}]}});
    let more = json!({"x": [], "task": {"id": "t", "kind": "task", "status": {"state": 1, "x": {"y": null}},
        "history": [{"x": 1, "parts": [{"text": "x", "kind": "text", "x": [[]]}]}]}});
    assert_eq!(read::<StreamResponse>(plain), read::<StreamResponse>(more));
}

#[test]
fn dm_json_12_a_placeholder_beside_real_content_is_dropped() {
    for (document, kept) in [
        (
            json!({"text": "", "data": {"a": 1}}),
            json!({"data": {"a": 1}}),
        ),
        (
            json!({"data": {"a": 1}, "text": "", "raw": "", "url": ""}),
            json!({"data": {"a": 1}}),
        ),
        (json!({"data": null, "text": "x"}), json!({"text": "x"})),
        (json!({"text": null, "url": "u"}), json!({"url": "u"})),
        (json!({"text": "", "data": null}), json!({"text": ""})),
        (json!({"text": ""}), json!({"text": ""})),
        (json!({"raw": ""}), json!({"raw": ""})),
    ] {
        assert_eq!(print(&read::<Part>(document.clone())), kept, "{document}");
    }
    for document in [
        json!({"text": "a", "data": {}}),
        json!({"url": "u", "raw": "AA=="}),
        json!({"data": 0, "text": "a"}),
    ] {
        let error = json::from_value::<Part>(document).unwrap_err();
        assert!(
            error.text().starts_with("only one of text, raw, url, data"),
            "{error}"
        );
    }
}

#[test]
fn dm_json_14_15_numbers() {
    let request: GetTaskRequest = read(json!({"historyLength": "3"}));
    assert_eq!(print(&request)["historyLength"], 3);
    let data = json!({"n": 1, "z": null, "s": "é<>&", "f": 0.1, "l": [true, {}]});
    let text = json::to_string(&Part::data(data.clone()));
    assert!(
        text.contains(r#""n":1,"#) && text.contains("é<>&"),
        "{text}"
    );
    assert_eq!(read::<Part>(json!({"data": data})).as_data(), Some(&data));
}

#[test]
fn dm_json_17_18_required_members_are_always_printed_and_never_null() {
    assert_eq!(
        print(&ListTasksResponse::default()),
        json!({"tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0})
    );
    assert_eq!(
        print(&AgentCard::default()),
        json!({"name": "", "description": "", "version": "", "supportedInterfaces": [], "skills": [],
            "defaultInputModes": [], "defaultOutputModes": []})
    );
    assert_eq!(print(&Task::default()), json!({"id": ""}));
}

#[test]
fn dm_val_04_an_unspecified_state_or_role_is_not_printed() {
    assert_eq!(print(&TaskStatus::default()), json!({}));
    assert_eq!(
        print(&Message::default()),
        json!({"messageId": "", "parts": []})
    );
}

#[test]
fn names_of_enum_values_survive_their_text() {
    for number in 0..9 {
        let state = TaskState::try_from(number).unwrap();
        assert_eq!(state.to_string().parse(), Ok(state));
    }
    for role in [Role::Unspecified, Role::User, Role::Agent] {
        assert_eq!(role.to_string().parse(), Ok(role));
    }
    assert!("completed".parse::<TaskState>().is_err());
}

#[test]
fn the_content_of_a_part_is_matched_exhaustively() {
    let part: Part = read(json!({"url": "https://u.test"}));
    let kind = match part.content {
        Some(Content::Text(_)) => "text",
        Some(Content::Raw(_)) => "raw",
        Some(Content::Url(_)) => "url",
        Some(Content::Data(_)) => "data",
        None => "none",
    };
    assert_eq!(kind, "url");
}

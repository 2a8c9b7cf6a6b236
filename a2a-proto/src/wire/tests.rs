use serde_json::json;

use super::*;
use crate::ErrorCode;

#[test]
fn jrpc_14_nothing_and_null_are_an_empty_request_of_every_operation() {
    for method in Method::all() {
        for json in ["", "null", " null ", "{}", "\n"] {
            let operation = Operation::from_json(method, json.as_bytes()).unwrap();
            assert_eq!(operation.method(), method);
            assert_eq!(operation.tenant(), "");
        }
    }
}

#[test]
fn every_operation_survives_its_json() {
    for method in Method::all() {
        let mut operation = Operation::from_json(method, b"{}").unwrap();
        operation.tenant_mut().push_str("t/1");
        let read = Operation::from_json(method, &operation.to_json()).unwrap();
        assert_eq!(read, operation);
    }
}

#[test]
fn err_06_faults_of_a_request_name_the_field() {
    let error = Operation::from_json(Method::GetTask, br#"{"id":1}"#).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParams);
    assert_eq!(error.violations()[0].field, "id");
    let error = Operation::from_json(Method::GetTask, br#"{"id":"#).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ParseError);
    let error = Operation::from_json(Method::GetTask, b"[]").unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParams);
}

#[test]
fn w19_the_answer_to_a_delete_is_not_looked_at() {
    for json in ["", "null", "{}", "Deleted"] {
        assert_eq!(
            read_reply(Method::DeleteTaskPushNotificationConfig, json.as_bytes()).unwrap(),
            Reply::Deleted
        );
    }
}

#[test]
fn replies_without_a_payload_and_replies_of_0_3_are_told_apart() {
    let (send, get) = (Method::SendMessage, Method::GetTask);
    let old = br#"{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}"#;
    assert!(matches!(
        read_reply(send, old),
        Err(ReplyError::OldProtocol)
    ));
    assert!(matches!(read_reply(get, old), Err(ReplyError::OldProtocol)));
    assert!(matches!(
        read_event(br#"{"kind":"status-update","taskId":"t","final":true}"#),
        Err(ReplyError::OldProtocol)
    ));
    assert!(matches!(read_reply(send, b"{}"), Err(ReplyError::Empty)));
    assert!(matches!(read_event(b"{}"), Err(ReplyError::Empty)));
    assert!(matches!(read_event(b"{"), Err(ReplyError::Json(_))));
}

#[test]
fn fb_unknown_members_and_states_do_not_fail_a_reply() {
    let json =
        json!({"task": {"id": "t", "new": 1, "status": {"state": "TASK_STATE_NEW"}}, "x": {}});
    let reply = read_reply(Method::SendMessage, json.to_string().as_bytes());
    assert!(matches!(reply, Ok(Reply::Sent(_))));
}

#[test]
fn members_are_found_in_any_order_and_once() {
    let read = |json: &'static str| {
        members(json.as_bytes(), ["a", "b"]).map(|found| found.map(|raw| raw.map(RawValue::get)))
    };
    assert_eq!(
        read(r#"{"x":[{}],"b":{"c":1} ,"a":"x"}"#).unwrap(),
        [Some("\"x\""), Some("{\"c\":1}")]
    );
    assert_eq!(read(r#"{"\u0061":1,"b":null}"#).unwrap(), [Some("1"), None]);
    assert!(read(r#"{"a":1,"a":2}"#).unwrap_err().is_data());
    assert!(read(r#"["a","b"]"#).unwrap_err().is_data());
    assert!(!read(r#"{"a":1} x"#).unwrap_err().is_data());
}

use serde_json::{Value, json};

use super::*;
use crate::v1::GetTaskRequest;
use crate::{Call, ErrorCode};

fn fault(body: &str) -> (String, ErrorCode) {
    let error = Request::parse(body.as_bytes()).unwrap_err();
    let response: Value = serde_json::from_slice(&error.to_response()).unwrap();
    assert_eq!(response["jsonrpc"], "2.0");
    assert_eq!(response["error"]["code"], error.error.code().json_rpc());
    (error.id.as_json().to_owned(), error.error.code())
}

#[test]
fn jrpc_01_members_come_in_any_order() {
    let body = br#"{"params":{"id":"t"},"x":1,"method":"GetTask","id":"7","jsonrpc":"2.0"}"#;
    let request = Request::parse(body).unwrap();
    assert_eq!(request.id.as_json(), "\"7\"");
    let method = request.method.parse().unwrap();
    let expected = GetTaskRequest {
        id: "t".into(),
        ..GetTaskRequest::default()
    };
    assert_eq!(
        request.operation(method).unwrap(),
        Call::GetTask(expected).into()
    );
}

#[test]
fn jrpc_04_ids_are_echoed_exactly() {
    for id in [
        "\"a\\u00e9/\\/\"",
        "7",
        "-1.50",
        "9007199254740993",
        "123456789012345678901234567890",
        "null",
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask"}}"#);
        let request = Request::parse(body.as_bytes()).unwrap();
        let response = response(&request.id, b"{}");
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(String::from_utf8(response).unwrap(), expected);
    }
}

#[test]
fn jrpc_04_ids_of_other_types_are_refused() {
    for id in ["{}", "[1]", "true", &format!("\"{}\"", "x".repeat(2000))] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask"}}"#);
        assert_eq!(fault(&body), ("null".to_owned(), ErrorCode::InvalidRequest));
    }
}

#[test]
fn jrpc_05_jrpc_18_faults_of_the_envelope() {
    let null = || "null".to_owned();
    for body in [
        "",
        "{",
        "no",
        "[1",
        r#"{"jsonrpc":"2.0"} x"#,
        r#"{"id":1,"id":2,"#,
        "[{},]",
    ] {
        assert_eq!(fault(body), (null(), ErrorCode::ParseError), "{body}");
    }
    for body in [
        "[]",
        "[{}]",
        "7",
        "null",
        "\"x\"",
        r#"{"id":1,"id":2}"#,
        "{}",
    ] {
        assert_eq!(fault(body), (null(), ErrorCode::InvalidRequest), "{body}");
    }
    for body in [
        r#"{"id":7,"method":"GetTask"}"#,
        r#"{"id":7,"jsonrpc":"1.0","method":"GetTask"}"#,
        r#"{"id":7,"jsonrpc":2.0,"method":"GetTask"}"#,
        r#"{"id":7,"jsonrpc":"2.0"}"#,
        r#"{"id":7,"jsonrpc":"2.0","method":null}"#,
        r#"{"id":7,"jsonrpc":"2.0","method":7}"#,
    ] {
        assert_eq!(
            fault(body),
            ("7".to_owned(), ErrorCode::InvalidRequest),
            "{body}"
        );
    }
    let batch = Request::parse(b" [{}]").unwrap_err();
    assert!(batch.error.message().contains("batch"));
}

#[test]
fn jrpc_19_a_notification_is_answered_with_null() {
    let request = Request::parse(br#"{"jsonrpc":"2.0","method":"GetTask"}"#).unwrap();
    assert_eq!(request.id, Id::null());
}

#[test]
fn jrpc_05_params_of_another_type_are_invalid_params() {
    for params in ["[]", "7", "\"x\"", r#"{"id":7}"#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{params}}}"#);
        let request = Request::parse(body.as_bytes()).unwrap();
        let error = request.operation(Method::GetTask).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParams, "{params}");
    }
}

#[test]
fn sec_07_deep_params_are_no_stack_overflow() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"metadata":{{"a":{deep}}}}}}}"#
    );
    let request = Request::parse(body.as_bytes()).unwrap();
    let error = request.operation(Method::SendMessage).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParams);
}

#[test]
fn jrpc_17_requests_have_params_and_the_tenant_in_them() {
    for method in Method::all() {
        let mut operation = Operation::from_json(method, b"{}").unwrap();
        operation.tenant_mut().push_str("t1");
        let request: Value = serde_json::from_slice(&request(&Id::from(3), &operation)).unwrap();
        assert_eq!(request["jsonrpc"], "2.0");
        assert_eq!(request["id"], 3);
        assert_eq!(request["method"], method.name());
        assert_eq!(request["params"]["tenant"], "t1");
    }
}

#[test]
fn jrpc_10_results_errors_and_neither() {
    let result = |json: &'static str| match Response::parse(json.as_bytes()).unwrap().outcome {
        Outcome::Result(raw) => raw.map(RawValue::get),
        Outcome::Error(error) => panic!("{error}"),
    };
    assert_eq!(result(r#"{"result":{"a":1},"id":1}"#), Some(r#"{"a":1}"#));
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), None);
    assert_eq!(result(r#"{"jsonrpc":"2.0","id":1}"#), None);
    assert_eq!(
        result(r#"{"jsonrpc":"2.0","id":1,"result":7,"error":null}"#),
        Some("7")
    );
    for json in ["", "{}", "[]", "7", "{\"task\":{}}", "<html>"] {
        assert!(Response::parse(json.as_bytes()).is_err(), "{json}");
    }
}

#[test]
fn jrpc_13_errors_are_typed() {
    let json = json!({"jsonrpc": "2.0", "id": null, "result": null, "error": {"code": -32001, "message": "m"}});
    let json = json.to_string();
    let response = Response::parse(json.as_bytes()).unwrap();
    assert!(response.answers(&Id::from(1)));
    match response.outcome {
        Outcome::Error(error) => assert_eq!(error.code(), ErrorCode::TaskNotFound),
        Outcome::Result(_) => panic!("a result"),
    }
}

#[test]
fn jrpc_15_w13_ids_must_match_but_numbers_may_become_strings() {
    let answers = |id: &str| {
        let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        Response::parse(json.as_bytes())
            .unwrap()
            .answers(&Id::from(1))
    };
    assert!(answers("1") && answers("\"1\""));
    assert!(!answers("2") && !answers("\"x\"") && !answers("null") && !answers("{}"));
    assert!(
        !Response::parse(br#"{"jsonrpc":"2.0","result":{}}"#)
            .unwrap()
            .answers(&Id::from(1))
    );
}

#[test]
fn a_plain_result_is_found_without_parsing() {
    let prefix = result_prefix(&Id::from(1));
    let plain = |json: &'static str| plain_result(&prefix, json.as_bytes());
    assert_eq!(
        plain(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#),
        Some(&br#"{"a":1}"#[..])
    );
    for json in [
        r#"{"jsonrpc":"2.0","id":2,"result":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#,
        "{}",
    ] {
        assert_eq!(plain(json), None);
    }
    // What is more than a result is no JSON value, so that it is looked at.
    let more = plain(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#).unwrap();
    assert!(!is_json(more));
}

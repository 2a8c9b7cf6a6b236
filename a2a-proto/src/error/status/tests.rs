use serde_json::json;

use super::*;

fn rich() -> A2aError {
    A2aError::invalid_params("bad")
        .with_violation("message.parts", "must not be empty")
        .with_metadata("taskId", "t1")
        .with_retry_after(Duration::from_millis(1500))
}

fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap()
}

fn parts(error: &A2aError) -> (ErrorCode, &str, &str) {
    (error.code(), error.message(), error.reason())
}

#[test]
fn err_01_err_02_json_rpc_has_error_info_first_and_types_everywhere() {
    let expected = json!({"code": -32602, "message": "bad", "data": [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INVALID_PARAMS",
            "domain": "a2a-protocol.org", "metadata": {"taskId": "t1"},
        },
        {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": "message.parts", "description": "must not be empty"}],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.500s"},
    ]});
    assert_eq!(value(&rich().to_json_rpc()), expected);
}

#[test]
fn rest_12_the_http_form_has_status_and_name() {
    let body = value(&A2aError::task_not_found().to_status_json());
    assert_eq!(body["error"]["code"], 404);
    assert_eq!(body["error"]["status"], "NOT_FOUND");
    assert_eq!(body["error"]["details"][0]["reason"], "TASK_NOT_FOUND");
}

#[test]
fn err_04_every_code_survives_every_binding() {
    for code in ErrorCode::all() {
        let error = A2aError::new(code, "m");
        assert_eq!(A2aError::from_json_rpc(&error.to_json_rpc()).code(), code);
        let http = A2aError::from_http(code.http_status(), &error.to_status_json());
        assert_eq!(http.code(), code);
        assert_eq!(
            A2aError::from_frame(&error.to_status_json())
                .unwrap()
                .code(),
            code
        );
    }
}

#[test]
fn everything_an_error_says_survives_json() {
    let read = A2aError::from_json_rpc(&rich().to_json_rpc());
    assert_eq!(read.violations(), rich().violations());
    assert_eq!(read.metadata(), rich().metadata());
    assert_eq!(read.retry_after(), Some(Duration::from_millis(1500)));
    assert!(read.other_details().is_empty());
    let read = A2aError::from_http(400, &rich().to_status_json());
    assert_eq!(read.violations(), rich().violations());
}

#[test]
fn details_without_a_type_are_not_sent() {
    let typed = json!({"@type": "type.test/x", "k": 1});
    let error = A2aError::internal("m")
        .with_detail("text".into())
        .with_detail(typed.clone());
    let data = value(&error.to_json_rpc())["data"].clone();
    assert_eq!(data.as_array().unwrap().len(), 2);
    assert_eq!(data[1], typed);
}

#[test]
fn err_05_w22_data_of_any_shape_is_read() {
    let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
        "domain": "elsewhere", "metadata": {"n": 1, "errors": [{"field": "f"}], "none": null}});
    let shapes = [
        json!([info]),
        json!([{"@type": "x/y.Other"}, info]),
        info.clone(),
        json!({"details": [info]}),
        json!([[info]]),
        json!(["text", info]),
    ];
    for data in shapes {
        let error = json!({"code": -32603, "message": "m", "data": data}).to_string();
        let error = A2aError::from_json_rpc(error.as_bytes());
        assert_eq!(error.code(), ErrorCode::TaskNotFound, "{data}");
        assert_eq!(error.metadata()["n"], "1");
        assert_eq!(error.metadata()["errors"], r#"[{"field":"f"}]"#);
        assert_eq!(error.metadata()["none"], "");
    }
}

#[test]
fn err_05_w22_without_error_info_the_code_decides_and_data_is_kept() {
    for data in [
        json!("text"),
        json!(["a", "b"]),
        json!({"k": 1}),
        json!(7),
        Value::Null,
    ] {
        let error = json!({"code": -32001, "message": "m", "data": data}).to_string();
        let error = A2aError::from_json_rpc(error.as_bytes());
        assert_eq!(
            parts(&error),
            (ErrorCode::TaskNotFound, "m", "TASK_NOT_FOUND")
        );
        let kept = match data {
            Value::Null => vec![],
            Value::Array(items) => items,
            other => vec![other],
        };
        assert_eq!(error.other_details(), kept);
    }
}

#[test]
fn err_05_w21_codes_beyond_the_table() {
    let cases = [
        (json!(-31401), ErrorCode::Unauthenticated),
        (json!(-31403), ErrorCode::PermissionDenied),
        (json!(-32050), ErrorCode::Unknown(-32050)),
        (json!(-32001.0), ErrorCode::TaskNotFound),
        (json!("-32001"), ErrorCode::TaskNotFound),
        (json!(null), ErrorCode::Internal),
        (json!(99_999_999_999_i64), ErrorCode::Internal),
    ];
    for (code, expected) in cases {
        let error = json!({"code": code, "message": "m"}).to_string();
        assert_eq!(
            A2aError::from_json_rpc(error.as_bytes()).code(),
            expected,
            "{code}"
        );
    }
    let unknown = br#"{"code":-32050,"message":"m","data":[{"@type":"a/google.rpc.ErrorInfo","reason":"NEW"}]}"#;
    let error = A2aError::from_json_rpc(unknown);
    assert_eq!(parts(&error), (ErrorCode::Unknown(-32050), "m", "NEW"));
    assert_eq!(value(&error.to_json_rpc())["code"], -32050);
}

#[test]
fn err_05_nothing_that_a_peer_sends_fails() {
    for json in [
        "",
        "null",
        "7",
        "\"text\"",
        "[]",
        "{}",
        "{\"message\":{\"a\":1}}",
        "<html>",
    ] {
        assert_eq!(
            A2aError::from_json_rpc(json.as_bytes()).code(),
            ErrorCode::Internal,
            "{json}"
        );
    }
}

#[test]
fn w27_the_reason_decides_before_the_status() {
    let body = |status: u16, reason: &str| {
        let details = json!([{"@type": ERROR_INFO, "reason": reason, "domain": ERROR_DOMAIN}]);
        json!({"error": {"code": status, "status": "UNIMPLEMENTED", "message": "m", "details": details}}).to_string()
    };
    let cases = [
        (409, "TASK_NOT_CANCELABLE", ErrorCode::TaskNotCancelable),
        (
            415,
            "UNSUPPORTED_CONTENT_TYPE",
            ErrorCode::ContentTypeNotSupported,
        ),
        (
            501,
            "UNSUPPORTED_OPERATION",
            ErrorCode::UnsupportedOperation,
        ),
        (500, "INTERNAL", ErrorCode::Internal),
        (400, "JSON_PARSE", ErrorCode::ParseError),
    ];
    for (status, reason, expected) in cases {
        let error = A2aError::from_http(status, body(status, reason).as_bytes());
        assert_eq!(error.code(), expected, "{reason}");
        assert_eq!(error.reason(), reason);
    }
}

#[test]
fn w27_without_a_reason_the_status_of_either_version_decides() {
    let cases = [
        (404, "NOT_FOUND", ErrorCode::TaskNotFound),
        (409, "FAILED_PRECONDITION", ErrorCode::TaskNotCancelable),
        (400, "FAILED_PRECONDITION", ErrorCode::UnsupportedOperation),
        (415, "INVALID_ARGUMENT", ErrorCode::ContentTypeNotSupported),
        (502, "INTERNAL", ErrorCode::InvalidAgentResponse),
        (501, "UNIMPLEMENTED", ErrorCode::MethodNotFound),
        (500, "NOT_FOUND", ErrorCode::TaskNotFound),
        (422, "NEW", ErrorCode::InvalidParams),
    ];
    for (status, name, expected) in cases {
        let body = json!({"error": {"code": status, "status": name, "message": "m"}}).to_string();
        assert_eq!(
            A2aError::from_http(status, body.as_bytes()).code(),
            expected
        );
    }
}

#[test]
fn rest_13_w33_bodies_of_other_shapes() {
    let cases: [(&str, ErrorCode, &str); 8] = [
        (
            r#"{"code":404,"status":"NOT_FOUND","message":"m"}"#,
            ErrorCode::TaskNotFound,
            "m",
        ),
        (
            r#"{"code":-32001,"message":"m"}"#,
            ErrorCode::TaskNotFound,
            "m",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"m"}}"#,
            ErrorCode::UnsupportedOperation,
            "m",
        ),
        (
            r#"{"type":"about:blank","title":"m","status":503}"#,
            ErrorCode::Unavailable,
            "m",
        ),
        (r#"{"error":"m"}"#, ErrorCode::Unavailable, "m"),
        (
            "<html>no</html>",
            ErrorCode::Unavailable,
            "the peer answered HTTP 503",
        ),
        ("", ErrorCode::Unavailable, "the peer answered HTTP 503"),
        ("[1]", ErrorCode::Unavailable, "the peer answered HTTP 503"),
    ];
    for (body, code, message) in cases {
        let error = A2aError::from_http(503, body.as_bytes());
        assert_eq!((error.code(), error.message()), (code, message), "{body}");
    }
}

#[test]
fn rest_16_a_frame_is_an_error_only_when_it_says_so() {
    assert!(A2aError::from_frame(br#"{"task":{"id":"t"}}"#).is_none());
    assert!(A2aError::from_frame(br#"{"error":null}"#).is_none());
    assert!(A2aError::from_frame(b"no json").is_none());
    let frame = br#"{"error":{"code":500,"status":"INTERNAL","message":"m"}}"#;
    assert_eq!(
        A2aError::from_frame(frame).unwrap().code(),
        ErrorCode::Internal
    );
    let bare = br#"{"code":-32603,"message":"m"}"#;
    assert_eq!(A2aError::from_frame(bare).unwrap().message(), "m");
}

#[test]
fn kagents_busy_gateway_keeps_its_metadata() {
    let body = br#"{"code":-32004,"message":"busy","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",
        "reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org",
        "metadata":{"reason":"KAGENT_SEND_NOT_ACCEPTED","retryAfterMs":100}}]}"#;
    let error = A2aError::from_json_rpc(body);
    assert_eq!(error.code(), ErrorCode::UnsupportedOperation);
    assert_eq!(error.metadata()["reason"], "KAGENT_SEND_NOT_ACCEPTED");
    assert_eq!(error.metadata()["retryAfterMs"], "100");
}

#[test]
fn delays_are_read_in_every_form() {
    for (json, expected) in [
        (json!("0s"), Some(0)),
        (json!("1.500s"), Some(1500)),
        (json!({"seconds": 1, "nanos": 500_000_000}), Some(1500)),
        (json!(2), Some(2000)),
        (json!("soon"), None),
        (json!("-1s"), None),
        (json!("1e300s"), None),
    ] {
        assert_eq!(
            parse_delay(&json),
            expected.map(Duration::from_millis),
            "{json}"
        );
    }
    for (nanos, expected) in [
        (0, "1s"),
        (500_000_000, "1.500s"),
        (1_000, "1.000001s"),
        (1, "1.000000001s"),
    ] {
        assert_eq!(print_delay(Duration::new(1, nanos)), expected);
    }
}

#[cfg(feature = "grpc")]
mod grpc {
    use tonic::{Code, Status};

    use super::*;

    #[test]
    fn grpc_04_grpc_05_every_code_survives() {
        for code in ErrorCode::all() {
            let status = Status::from(A2aError::new(code, "m"));
            assert_eq!(status.code() as i32, code.rpc() as i32);
            assert_eq!(A2aError::from(&status).code(), code);
        }
        let read = A2aError::from(&Status::from(rich()));
        assert_eq!(read.violations(), rich().violations());
        assert_eq!(read.metadata(), rich().metadata());
        assert_eq!(read.retry_after(), rich().retry_after());
    }

    #[test]
    fn grpc_06_w41_without_details_the_code_decides() {
        let cases = [
            (Code::NotFound, ErrorCode::TaskNotFound),
            (Code::Unimplemented, ErrorCode::MethodNotFound),
            (Code::InvalidArgument, ErrorCode::InvalidParams),
            (Code::Unknown, ErrorCode::Internal),
            (Code::Unavailable, ErrorCode::Unavailable),
        ];
        for (code, expected) in cases {
            assert_eq!(A2aError::from(&Status::new(code, "m")).code(), expected);
            let broken = Status::with_details(code, "m", vec![0xff; 3].into());
            assert_eq!(A2aError::from(&broken).code(), expected);
        }
        let details = Status::from(A2aError::task_not_found()).details().to_vec();
        let odd = Status::with_details(Code::Unknown, "m", details.into());
        assert_eq!(A2aError::from(&odd).code(), ErrorCode::TaskNotFound);
    }

    #[test]
    fn unknown_details_go_back_as_they_came() {
        let detail = json!({"@type": "type.googleapis.com/x.Y", "value": "CgFh"});
        let read = A2aError::from(&Status::from(
            A2aError::internal("m").with_detail(detail.clone()),
        ));
        assert_eq!(read.other_details(), [detail]);
    }

    #[test]
    fn trailers_stay_within_what_peers_accept() {
        let mut error =
            A2aError::invalid_params("\u{e9}".repeat(5000)).with_retry_after(Duration::ZERO);
        for n in 0..2000 {
            error = error.with_violation(format!("message.parts[{n}].text"), "must not be empty");
        }
        let status = Status::from(error);
        assert!(
            status.details().len() < 8 * 1024,
            "{}",
            status.details().len()
        );
        let read = A2aError::from(&status);
        assert_eq!(read.code(), ErrorCode::InvalidParams);
        assert!(read.violations().len() > 20 && read.is_retryable());
    }
}

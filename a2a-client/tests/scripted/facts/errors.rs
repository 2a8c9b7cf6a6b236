use a2a_client::{Binding, ErrorCode};
use serde_json::{Value, json};

use super::{error_info, get, rest_error, rpc_error};
use crate::peer::whole;
use crate::run;

#[test]
fn w21_codes_beyond_the_protocol_are_kept_as_they_are() {
    run(async {
        for (number, code) in [
            (-31401, ErrorCode::Unauthenticated),
            (-31403, ErrorCode::PermissionDenied),
        ] {
            let error = rpc_error(&json!({"code": number, "message": "unauthenticated"})).await;
            assert_eq!(error.code(), Some(code));
        }
        let error = rpc_error(&json!({"code": -32000, "message": "server"})).await;
        let code = error.code().unwrap();
        assert_eq!(code.json_rpc(), -32000, "{error:?}");
    });
}

#[test]
fn w22_the_data_of_an_error_is_read_in_every_shape_that_is_in_use() {
    let mut of_python = error_info("INVALID_PARAMS");
    of_python["metadata"] =
        json!({"errors": [{"field": "message.role", "message": "Field is required"}]});
    let mut of_go = error_info("INVALID_PARAMS");
    of_go["metadata"] = json!({"timestamp": "2026-01-02T03:04:05+02:00", "taskId": "t"});
    let mut of_java = error_info("INVALID_PARAMS");
    of_java["metadata"] = json!({"cause": null, "request": {"id": 1}});
    let other = json!({"@type": "type.googleapis.com/google.protobuf.Struct", "value": {"a": 1}});
    run(async {
        for data in [
            json!([of_python]),
            json!([error_info("INVALID_PARAMS")]),
            json!([other, of_go]),
            json!([of_java]),
            json!(null),
            of_python.clone(),
            json!("text"),
            json!(["text", "more"]),
            json!(7),
        ] {
            let error = rpc_error(&json!({"code": -32602, "message": "m", "data": data})).await;
            let said = error.protocol().unwrap();
            assert_eq!(said.code(), ErrorCode::InvalidParams, "{data}");
            assert_eq!(said.reason(), "INVALID_PARAMS");
            assert_eq!(said.message(), "m");
        }
    });
}

#[test]
fn w22_the_standard_errors_have_no_data_and_the_text_keeps_its_wrapping() {
    run(async {
        for (number, code) in [
            (-32601, ErrorCode::MethodNotFound),
            (-32700, ErrorCode::ParseError),
            (-32603, ErrorCode::Internal),
        ] {
            let error = rpc_error(&json!({"code": number, "message": "m"})).await;
            assert_eq!(error.code(), Some(code));
        }
        let text = "failed to get task: task not found";
        let error = rpc_error(&json!({"code": -32001, "message": text})).await;
        assert_eq!(error.protocol().unwrap().message(), text);
    });
}

#[test]
fn w23_the_fields_of_violations_stay_as_the_server_names_them() {
    let violations = json!({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
        {"field": "message.message_id", "description": "Field is required"},
        {"field": "message.parts[0].mediaType"},
    ]});
    let data = json!([error_info("INVALID_PARAMS"), violations]);
    run(async {
        let rpc = rpc_error(&json!({"code": -32602, "message": "m", "data": data})).await;
        let rest =
            json!({"code": 400, "status": "INVALID_ARGUMENT", "message": "m", "details": data});
        let rest = rest_error(400, "application/json", &rest).await;
        for error in [rpc, rest] {
            let fields = error.protocol().unwrap().violations().iter();
            let fields: Vec<&str> = fields.map(|violation| violation.field.as_str()).collect();
            assert_eq!(fields, ["message.message_id", "message.parts[0].mediaType"]);
        }
    });
}

#[test]
fn w24_errors_of_http_json_are_read_whatever_their_type() {
    let error = json!({"code": 404, "status": "NOT_FOUND", "message": "m", "details": [error_info("TASK_NOT_FOUND")]});
    run(async {
        for media_type in [
            "application/json",
            "application/json; charset=utf-8",
            "application/a2a+json; charset=utf-8",
            "application/problem+json",
            "",
        ] {
            let error = rest_error(404, media_type, &error).await;
            assert_eq!(error.code(), Some(ErrorCode::TaskNotFound), "{media_type}");
        }
    });
}

#[test]
fn w27_the_reason_decides_before_the_status() {
    run(async {
        for (status, name, reason, code) in [
            (
                409,
                "FAILED_PRECONDITION",
                "TASK_NOT_CANCELABLE",
                ErrorCode::TaskNotCancelable,
            ),
            (
                415,
                "INVALID_ARGUMENT",
                "CONTENT_TYPE_NOT_SUPPORTED",
                ErrorCode::ContentTypeNotSupported,
            ),
            (
                422,
                "INVALID_ARGUMENT",
                "INVALID_PARAMS",
                ErrorCode::InvalidParams,
            ),
            (
                502,
                "INTERNAL",
                "INVALID_AGENT_RESPONSE",
                ErrorCode::InvalidAgentResponse,
            ),
            (
                501,
                "UNIMPLEMENTED",
                "UNSUPPORTED_OPERATION",
                ErrorCode::UnsupportedOperation,
            ),
            (
                501,
                "UNIMPLEMENTED",
                "VERSION_NOT_SUPPORTED",
                ErrorCode::VersionNotSupported,
            ),
            (
                400,
                "FAILED_PRECONDITION",
                "PUSH_NOTIFICATION_NOT_SUPPORTED",
                ErrorCode::PushNotificationNotSupported,
            ),
            (404, "NOT_FOUND", "TASK_NOT_FOUND", ErrorCode::TaskNotFound),
            (500, "INTERNAL", "TASK_NOT_FOUND", ErrorCode::TaskNotFound),
            (500, "INTERNAL", "INTERNAL", ErrorCode::Internal),
            (500, "INTERNAL", "INTERNAL_ERROR", ErrorCode::Internal),
            (400, "INVALID_ARGUMENT", "JSON_PARSE", ErrorCode::ParseError),
            (
                400,
                "INVALID_ARGUMENT",
                "INVALID_REQUEST",
                ErrorCode::InvalidRequest,
            ),
        ] {
            let error = json!({"code": status, "status": name, "message": "m", "details": [error_info(reason)]});
            let error = rest_error(status, "application/json", &error).await;
            assert_eq!(error.code(), Some(code), "{status} {reason}");
            assert_eq!(error.http_status().unwrap(), status);
        }
    });
}

#[test]
fn w27_without_a_reason_the_status_decides() {
    run(async {
        for (status, name, code) in [
            (501, "UNIMPLEMENTED", ErrorCode::MethodNotFound),
            (499, "CANCELLED", ErrorCode::Canceled),
            (401, "UNAUTHENTICATED", ErrorCode::Unauthenticated),
            (403, "PERMISSION_DENIED", ErrorCode::PermissionDenied),
            (404, "NOT_FOUND", ErrorCode::TaskNotFound),
            (500, "INTERNAL", ErrorCode::Internal),
        ] {
            let error = json!({"code": status, "status": name, "message": "m"});
            let error = rest_error(status, "application/json", &error).await;
            assert_eq!(error.code(), Some(code), "{status}");
        }
    });
}

#[test]
fn w33_an_unknown_path_is_a_page_or_a_text_and_no_task_that_is_not_found() {
    run(async {
        for (status, media_type, body) in [
            (404, "text/plain; charset=utf-8", "Not Found"),
            (
                404,
                "text/html; charset=utf-8",
                "<!DOCTYPE html><pre>Cannot GET /x</pre>",
            ),
            (405, "text/plain; charset=utf-8", "Method Not Allowed"),
        ] {
            for binding in super::BINDINGS {
                let error = get(binding, whole(status, media_type, body))
                    .await
                    .unwrap_err();
                assert_eq!(
                    (error.code(), error.protocol().is_none()),
                    (None, true),
                    "{error:?}"
                );
                assert_eq!(error.http_status().unwrap(), status);
            }
        }
    });
}

#[test]
fn w53_the_page_of_a_body_limit_is_a_typed_error() {
    let page = "<!DOCTYPE html><html><body><pre>PayloadTooLargeError: request entity too large</pre></body></html>";
    run(async {
        for binding in super::BINDINGS {
            let error = get(binding, whole(413, "text/html; charset=utf-8", page))
                .await
                .unwrap_err();
            assert_eq!(
                error.code(),
                Some(ErrorCode::ResourceExhausted),
                "{error:?}"
            );
            assert!(
                !error.is_retryable() && !error.to_string().contains("<"),
                "{error}"
            );
        }
    });
}

/// The answers to what an agent does not do, by code and, on HTTP+JSON, by status and reason.
#[test]
fn w48_w50_w51_w52_w58_w59_refusals_are_typed_in_each_spelling() {
    let cases: &[(&str, i64, u16, &str, ErrorCode)] = &[
        (
            "w48 a page of 0 or over 100",
            -32602,
            400,
            "INVALID_PARAMS",
            ErrorCode::InvalidParams,
        ),
        (
            "w48 the same in another spelling",
            -32600,
            400,
            "INVALID_REQUEST",
            ErrorCode::InvalidRequest,
        ),
        (
            "w48 a token that is none",
            -32700,
            400,
            "JSON_PARSE",
            ErrorCode::ParseError,
        ),
        (
            "w50 a message to a finished task",
            -32004,
            400,
            "UNSUPPORTED_OPERATION",
            ErrorCode::UnsupportedOperation,
        ),
        (
            "w50 the same in another spelling",
            -32602,
            400,
            "INVALID_PARAMS",
            ErrorCode::InvalidParams,
        ),
        (
            "w50 a second cancel",
            -32002,
            400,
            "TASK_NOT_CANCELABLE",
            ErrorCode::TaskNotCancelable,
        ),
        (
            "w50 an unknown task",
            -32001,
            404,
            "TASK_NOT_FOUND",
            ErrorCode::TaskNotFound,
        ),
        (
            "w50 a message to a running task",
            -32603,
            500,
            "INTERNAL_ERROR",
            ErrorCode::Internal,
        ),
        (
            "w51 an executor that raised",
            -32603,
            500,
            "INTERNAL_ERROR",
            ErrorCode::Internal,
        ),
        (
            "w51 a first event that is none",
            -32006,
            500,
            "INVALID_AGENT_RESPONSE",
            ErrorCode::InvalidAgentResponse,
        ),
        (
            "w52 a push configuration that is missing",
            -32001,
            404,
            "TASK_NOT_FOUND",
            ErrorCode::TaskNotFound,
        ),
        (
            "w58 a foreign task",
            -32001,
            404,
            "TASK_NOT_FOUND",
            ErrorCode::TaskNotFound,
        ),
        (
            "w59 an extension that is required",
            -32008,
            400,
            "EXTENSION_SUPPORT_REQUIRED",
            ErrorCode::ExtensionSupportRequired,
        ),
        (
            "w59 a part of a type that is not taken",
            -32005,
            400,
            "CONTENT_TYPE_NOT_SUPPORTED",
            ErrorCode::ContentTypeNotSupported,
        ),
    ];
    run(async {
        for (case, number, status, reason, code) in cases {
            let rpc = rpc_error(&json!({"code": number, "message": case})).await;
            let details: Value = json!([error_info(reason)]);
            let rest = json!({"code": status, "status": "X", "message": case, "details": details});
            let rest = rest_error(*status, "application/json", &rest).await;
            for error in [rpc, rest] {
                assert_eq!(error.code(), Some(*code), "{case}: {error:?}");
                assert_eq!(error.protocol().unwrap().message(), *case);
                assert!(!error.is_retryable(), "{case}");
            }
        }
    });
}

#[test]
fn w48_an_anonymous_caller_is_unauthenticated_on_both_bindings() {
    run(async {
        let rpc = rpc_error(&json!({"code": -31401, "message": "unauthenticated"})).await;
        let page = whole(401, "text/plain", "unauthenticated");
        let rest = get(Binding::HttpJson, page).await.unwrap_err();
        for error in [rpc, rest] {
            assert_eq!(error.code(), Some(ErrorCode::Unauthenticated));
        }
    });
}

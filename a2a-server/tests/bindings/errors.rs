//! What a handler fails with, on each binding.

use std::time::Duration;

use a2a_proto::v1::{GetTaskRequest, Message};
use a2a_proto::wire::Operation;
use a2a_proto::{A2aError, Binding, Call, ErrorCode, StreamCall};
use serde_json::json;

use crate::support::{BINDINGS, CURRENT, Peer, Script, operations, send, within};

fn get() -> Operation {
    Call::GetTask(GetTaskRequest {
        id: "t1".to_owned(),
        ..GetTaskRequest::default()
    })
    .into()
}

fn stream() -> Operation {
    StreamCall::SendStreamingMessage(send(Message::user("hello"))).into()
}

#[tokio::test]
async fn err_04_each_error_of_the_table_is_the_same_for_every_operation_on_every_binding() {
    within(async {
        for code in ErrorCode::all() {
            let error = A2aError::new(code, "what went wrong")
                .with_metadata("taskId", "t1")
                .with_violation("id", "is odd")
                .with_retry_after(Duration::from_secs(3));
            let peer = Peer::start(Script::failing(error)).await;
            for binding in BINDINGS {
                for operation in operations() {
                    let method = operation.method();
                    let seen = peer.call(binding, operation, CURRENT).await.unwrap_err();
                    assert_eq!(seen.code(), code, "{binding} {method:?}");
                    assert_eq!(seen.reason(), code.reason(), "{binding}");
                    assert_eq!(seen.message(), "what went wrong", "{binding}");
                    assert_eq!(seen.metadata()["taskId"], "t1", "{binding}");
                    assert_eq!(seen.violations()[0].field, "id", "{binding}");
                    assert_eq!(
                        seen.retry_after(),
                        Some(Duration::from_secs(3)),
                        "{binding}"
                    );
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn jrpc_06_and_rest_12_errors_have_the_status_of_their_binding() {
    within(async {
        for code in ErrorCode::all() {
            let peer = Peer::start(Script::failing(A2aError::new(code, "no"))).await;
            let body = r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"t1"}}"#;
            let response = peer.web().post("/", CURRENT, body).await;
            assert_eq!(response.status, 200, "{code:?}");
            assert_eq!(response.header("content-type"), Some("application/json"));
            assert_eq!(response.json()["id"], "a");
            assert_eq!(response.json()["error"]["code"], code.json_rpc());

            let response = peer.web().get("/tasks/t1", CURRENT).await;
            assert_eq!(response.status, code.http_status(), "{code:?}");
            assert_eq!(response.header("content-type"), Some("application/json"));
            assert_eq!(response.json()["error"]["code"], code.http_status());
            assert_eq!(response.json()["error"]["status"], code.rpc().name());
            assert_eq!(
                response.json()["error"]["details"][0]["reason"],
                code.reason()
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_busy_says_when_to_come_again() {
    within(async {
        let busy = A2aError::unavailable("busy").with_retry_after(Duration::from_secs(3));
        let peer = Peer::start(Script::failing(busy)).await;
        let response = peer.web().get("/tasks/t1", CURRENT).await;
        assert_eq!(response.status, 503);
        assert_eq!(response.header("retry-after"), Some("3"));
    })
    .await;
}

#[tokio::test]
async fn err_07_causes_are_not_shown() {
    within(async {
        let error = A2aError::internal("something failed").with_source("secret");
        let peer = Peer::start(Script::failing(error)).await;
        for binding in BINDINGS {
            let seen = peer.call(binding, get(), CURRENT).await.unwrap_err();
            assert!(
                !format!("{seen:?}").contains("secret"),
                "{binding}: {seen:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_handler_that_panics_fails_its_call_and_nothing_else() {
    within(async {
        let peer = Peer::start(Script::panicking()).await;
        for binding in BINDINGS {
            for operation in [get(), stream()] {
                let seen = peer.call(binding, operation, CURRENT).await.unwrap_err();
                assert_eq!(seen.code(), ErrorCode::Internal, "{binding}");
                assert!(!format!("{seen:?}").contains("secret"), "{binding}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn jrpc_12_an_error_before_a_stream_is_one_frame_of_it() {
    within(async {
        let peer = Peer::start(Script::failing(A2aError::task_not_found())).await;
        let body = r#"{"jsonrpc":"2.0","id":5,"method":"SubscribeToTask","params":{"id":"t1"}}"#;
        let response = peer.web().post("/", CURRENT, body).await;
        assert_eq!(response.status, 200);
        assert!(response.is_event_stream());
        let frames = response.frames();
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].name, "error");
        let data: serde_json::Value = serde_json::from_str(&frames[0].data).unwrap();
        assert_eq!(data["jsonrpc"], "2.0");
        assert_eq!(data["id"], 5);
        assert_eq!(data["error"]["code"], -32001);
    })
    .await;
}

#[tokio::test]
async fn rest_15_an_error_before_a_stream_has_its_status() {
    within(async {
        let peer = Peer::start(Script::failing(A2aError::task_not_found())).await;
        let response = peer.web().get("/tasks/t1:subscribe", CURRENT).await;
        assert_eq!(response.status, 404);
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.json()["error"]["status"], "NOT_FOUND");
    })
    .await;
}

#[tokio::test]
async fn rest_15_and_grpc_07_an_error_inside_a_stream_ends_it() {
    within(async {
        let error = A2aError::internal("it broke").with_retry_after(Duration::from_secs(1));
        let peer = Peer::start(Script::holding(Some(error))).await;
        peer.script.release();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage",
            "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}});
        let response = peer.web().post("/", CURRENT, body.to_string()).await;
        let frames = response.frames();
        assert_eq!(frames.len(), 2);
        assert_eq!(frames[1].name, "error");
        let data: serde_json::Value = serde_json::from_str(&frames[1].data).unwrap();
        assert_eq!((&data["id"], &data["error"]["code"]), (&json!(1), &json!(-32603)));

        let response = peer.web().post("/message:stream", CURRENT, body["params"].to_string()).await;
        let frames = response.frames();
        assert_eq!((response.status, frames.len()), (200, 2));
        assert_eq!(frames[1].name, "error");
        let data: serde_json::Value = serde_json::from_str(&frames[1].data).unwrap();
        assert_eq!(data["error"]["status"], "INTERNAL");

        let seen = peer.call(Binding::Grpc, stream(), CURRENT).await.unwrap_err();
        assert_eq!(seen.code(), ErrorCode::Internal);
        assert!(seen.is_retryable());
    })
    .await;
}

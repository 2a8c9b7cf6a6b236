use a2a_client::proto::v1::{GetTaskRequest, TaskState};
use a2a_client::proto::{A2aError, ErrorCode};
use a2a_client::{Binding, Client};
use http::StatusCode;
use prost::Message as _;
use tonic::{Code, Status};

use crate::grpc_peer::{Answer, Frames, Peer, answer, event, message, ok, task, trailers};
use crate::run;

fn working() -> Answer {
    answer([message(&task(TaskState::Working))], ok())
}

#[test]
fn w4_an_agent_is_reached_by_every_form_of_its_address() {
    run(async {
        for scheme in ["", "dns:///", "passthrough:///", "http://", "grpc://"] {
            let mut peer = Peer::start([working()]).await;
            let url = format!("{scheme}{}", peer.address);
            let client = Client::builder().from_endpoint(Binding::Grpc, url).unwrap();
            let found = client.get_task("t").await;
            assert_eq!(found.unwrap().state(), TaskState::Working, "{scheme}");
            assert!(peer.seen.recv().await.is_some());
        }
    });
}

#[test]
fn w6_w11_w40_w42_each_call_names_the_service_and_carries_version_and_tenant() {
    run(async {
        let stream = answer([event(task(TaskState::Completed))], ok());
        let mut peer = Peer::start([working(), working(), stream]).await;
        let client = peer.client();
        client.get_task("t").await.unwrap();
        client.cancel_task("t").await.unwrap();
        let events = client.subscribe_to_task("t").await.unwrap();
        events.into_task().await.unwrap();
        for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
            let seen = peer.seen.recv().await.unwrap();
            assert_eq!(seen.path, format!("/lf.a2a.v1.A2AService/{method}"));
            let versions: Vec<_> = seen.headers.get_all("a2a-version").iter().collect();
            assert_eq!(versions, ["1.0"]);
            // Go's server drops the tenant of the last two; ours gets it whatever a server does with it.
            let request = GetTaskRequest::decode(seen.message).unwrap();
            assert_eq!(request.tenant, "ns/agent", "{method}");
        }
    });
}

#[test]
fn w10_activated_extensions_of_unary_calls_are_not_required() {
    run(async {
        let peer = Peer::start([working()]).await;
        assert!(peer.client().get_task("t").await.is_ok());
    });
}

#[test]
fn w41_errors_are_typed_by_their_reason_and_else_by_their_code() {
    let with_details = |code: Code, error: A2aError| {
        let details = Status::from(error).details().to_vec();
        Status::with_details(code, "m", details.into())
    };
    let unexpected = "Unexpected <class 'ValueError'>: boom";
    let cases = [
        // Go and JS: reason and code.
        (
            with_details(Code::NotFound, A2aError::task_not_found()),
            ErrorCode::TaskNotFound,
        ),
        (
            with_details(
                Code::FailedPrecondition,
                A2aError::unsupported_operation("m"),
            ),
            ErrorCode::UnsupportedOperation,
        ),
        (
            with_details(Code::FailedPrecondition, A2aError::task_not_cancelable("m")),
            ErrorCode::TaskNotCancelable,
        ),
        // Java: another code for the same reason.
        (
            with_details(Code::Unimplemented, A2aError::version_not_supported("m")),
            ErrorCode::VersionNotSupported,
        ),
        (
            with_details(
                Code::Unimplemented,
                A2aError::push_notification_not_supported("m"),
            ),
            ErrorCode::PushNotificationNotSupported,
        ),
        // A reason behind a code that says nothing.
        (
            with_details(Code::Unknown, A2aError::task_not_found()),
            ErrorCode::TaskNotFound,
        ),
        // Without details: Go on what it can't convert, JS 1.0.1 and Python on what is no error of A2A.
        (
            Status::new(Code::InvalidArgument, "m"),
            ErrorCode::InvalidParams,
        ),
        (Status::new(Code::NotFound, "m"), ErrorCode::TaskNotFound),
        (
            Status::new(Code::FailedPrecondition, "m"),
            ErrorCode::UnsupportedOperation,
        ),
        (
            Status::new(Code::Unimplemented, "m"),
            ErrorCode::MethodNotFound,
        ),
        (Status::new(Code::Unknown, unexpected), ErrorCode::Internal),
    ];
    run(async {
        for (status, code) in cases {
            let text = status.message().to_owned();
            // The status in trailers behind nothing, in headers alone, and in the middle of a stream.
            let alone = Answer {
                status: StatusCode::OK,
                headers: trailers(status.clone()),
                frames: Frames::default(),
            };
            let middle = answer([event(task(TaskState::Working))], status.clone());
            let peer = Peer::start([answer([], status), alone, middle]).await;
            let client = peer.client();
            let mut errors = Vec::new();
            for _ in 0..2 {
                errors.push(client.get_task("t").await.unwrap_err());
            }
            let mut stream = client.stream_text("hi").await.unwrap();
            assert!(stream.next().await.unwrap().is_ok());
            errors.push(stream.next().await.unwrap().unwrap_err());
            for error in errors {
                assert_eq!(error.code(), Some(code), "{error:?}");
                assert_eq!(error.protocol().unwrap().message(), text);
            }
        }
    });
}

#[test]
fn w41_the_domain_of_the_details_is_not_looked_at() {
    // The bytes of a status whose ErrorInfo names another domain.
    let mut details = Status::from(A2aError::task_not_found()).details().to_vec();
    let place = details
        .windows(16)
        .position(|window| window == b"a2a-protocol.org")
        .unwrap();
    details[place..place + 16].copy_from_slice(b"elsewhere.test.x");
    run(async {
        let status = Status::with_details(Code::Unknown, "m", details.into());
        let peer = Peer::start([answer([], status)]).await;
        let error = peer.client().get_task("t").await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::TaskNotFound));
    });
}

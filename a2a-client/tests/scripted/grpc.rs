//! gRPC against prepared frames.

use std::io;

use a2a_client::proto::v1::{
    Artifact, GetTaskRequest, Message, Part as Piece, SendMessageRequest, SendMessageResponse,
    StreamResponse, TaskArtifactUpdateEvent, TaskState,
};
use a2a_client::proto::{A2aError, ErrorCode};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use hyper::body::Frame;
use prost::Message as _;
use tokio::sync::oneshot;
use tonic::Status;

use crate::grpc_peer::{Answer, Frames, Part, Peer, answer, event, message, ok, task, trailers};
use crate::run;

#[test]
fn grpc_02_w11_metadata_and_tenant_go_along() {
    run(async {
        let reply = SendMessageResponse::from(task(TaskState::Completed));
        let mut peer = Peer::start([answer([message(&reply)], ok())]).await;
        let client = peer
            .client()
            .with_header("x-user-id".parse().unwrap(), "ann".parse().unwrap());
        let reply = client.send_message(Message::user("hi")).await.unwrap();
        assert_eq!(reply.into_task().unwrap().state(), TaskState::Completed);
        let seen = peer.seen.recv().await.unwrap();
        assert_eq!(seen.path, "/lf.a2a.v1.A2AService/SendMessage");
        assert_eq!(seen.headers["a2a-version"], "1.0");
        assert_eq!(seen.headers["x-user-id"], "ann");
        let extensions: Vec<_> = seen.headers.get_all("a2a-extensions").iter().collect();
        assert_eq!(extensions, ["u1", "u2"], "one entry a URI");
        let request = SendMessageRequest::decode(seen.message).unwrap();
        assert_eq!(request.tenant, "ns/agent");
    });
}

#[test]
fn grpc_06_errors_are_typed_with_and_without_details() {
    run(async {
        let rich =
            A2aError::invalid_params("bad").with_violation("message.parts", "must not be empty");
        let trailers_only = Answer {
            status: StatusCode::OK,
            headers: trailers(Status::from(A2aError::unsupported_operation("no"))),
            frames: Frames::default(),
        };
        let script = [
            answer([], Status::from(rich)),
            answer([], Status::not_found("gone")),
            trailers_only,
            answer([], Status::unavailable("full")),
        ];
        let mut peer = Peer::start(script).await;
        let client = peer.client();
        let error = client.get_task("t").await.unwrap_err();
        assert_eq!(
            error.protocol().unwrap().violations()[0].field,
            "message.parts"
        );
        let error = client.get_task("t").await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::TaskNotFound));
        let error = client.get_task("t").await.unwrap_err();
        assert_eq!(error.protocol().unwrap().reason(), "UNSUPPORTED_OPERATION");
        let error = client.get_task("t").await.unwrap_err();
        assert!(error.is_retryable() && !error.is_connect());
        let seen = peer.seen.recv().await.unwrap();
        assert_eq!(
            GetTaskRequest::decode(seen.message).unwrap().tenant,
            "ns/agent"
        );
    });
}

#[test]
fn grpc_07_a_stream_ends_with_its_status() {
    run(async {
        let chunk = TaskArtifactUpdateEvent {
            task_id: "t".into(),
            context_id: "c".into(),
            artifact: Some(Artifact::new("a", [Piece::text("hi")])),
            ..TaskArtifactUpdateEvent::default()
        };
        let script = [
            answer(
                [
                    event(task(TaskState::Working)),
                    event(chunk),
                    event(task(TaskState::Completed)),
                ],
                ok(),
            ),
            answer(
                [event(task(TaskState::Working))],
                Status::from(A2aError::internal("m")),
            ),
            answer([event(task(TaskState::Working))], ok()),
            answer([], Status::from(A2aError::unsupported_operation("ended"))),
        ];
        let peer = Peer::start(script).await;
        let client = peer.client();
        let task = client
            .stream_text("hi")
            .await
            .unwrap()
            .into_task()
            .await
            .unwrap();
        assert_eq!(task.state(), TaskState::Completed);
        let error = client
            .stream_text("hi")
            .await
            .unwrap()
            .into_task()
            .await
            .unwrap_err();
        assert_eq!(error.protocol().unwrap().message(), "m");
        let error = client
            .stream_text("hi")
            .await
            .unwrap()
            .into_task()
            .await
            .unwrap_err();
        assert!(error.is_cut(), "{error:?}");
        let error = async { client.subscribe_to_task("t").await?.into_task().await }
            .await
            .unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::UnsupportedOperation));
    });
}

#[test]
fn a_connection_that_breaks_in_the_middle_is_a_cut() {
    run(async {
        let frames = |frames: Vec<Part>| Answer {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            frames: Frames(frames.into()),
        };
        let first = |state| Part::Frame(event(task(state)));
        let broken = || Part::Frame(Err(io::Error::other("gone")));
        let (go, gate) = oneshot::channel();
        let (go_on, other_gate) = oneshot::channel();
        let script = [
            frames(vec![first(TaskState::Working)]),
            frames(vec![first(TaskState::Working), Part::Gate(gate), broken()]),
            frames(vec![
                first(TaskState::Completed),
                Part::Gate(other_gate),
                broken(),
            ]),
        ];
        let peer = Peer::start(script).await;
        let client = peer.client();
        let no_trailers = client.stream_text("hi").await.unwrap();
        assert!(no_trailers.into_task().await.unwrap_err().is_cut());
        let mut stream = client.stream_text("hi").await.unwrap();
        stream.next().await.unwrap().unwrap();
        go.send(()).unwrap();
        let error = stream.next().await.unwrap().unwrap_err();
        assert!(
            error.is_cut() && error.to_string().contains("TASK_STATE_WORKING"),
            "{error:?}"
        );
        let mut stream = client.stream_text("hi").await.unwrap();
        stream.next().await.unwrap().unwrap();
        go_on.send(()).unwrap();
        assert!(stream.next().await.is_none(), "the task had ended");
    });
}

#[test]
fn a_proxy_that_answers_in_place_of_the_agent_is_no_agent() {
    run(async {
        // With the type of gRPC and without, with a page and without.
        let page = || Ok(Frame::data("<html>Bad Gateway</html>".into()));
        let answers = || {
            [None, Some(page())].map(|body| Answer {
                status: StatusCode::BAD_GATEWAY,
                headers: HeaderMap::from_iter([(CONTENT_TYPE, "text/html".parse().unwrap())]),
                frames: Frames(body.into_iter().map(Part::Frame).collect()),
            })
        };
        let peer = Peer::start(answers().into_iter().chain(answers())).await;
        for _ in 0..2 {
            let unary = peer.client().get_task("t").await.unwrap_err();
            let stream = peer.client().stream_text("hi").await.unwrap_err();
            for error in [unary, stream] {
                let status = error.http_status();
                assert_eq!(status, Some(StatusCode::BAD_GATEWAY), "{error:?}");
                assert!(
                    error.protocol().is_none() && !error.is_decode(),
                    "{error:?}"
                );
            }
        }
        let busy = || Answer {
            status: StatusCode::SERVICE_UNAVAILABLE,
            headers: HeaderMap::new(),
            frames: Frames::default(),
        };
        let peer = Peer::start([busy()]).await;
        assert!(
            peer.client()
                .get_task("t")
                .await
                .unwrap_err()
                .is_retryable()
        );
        let elsewhere = Answer {
            status: StatusCode::OK,
            ..answers().into_iter().next_back().unwrap()
        };
        let peer = Peer::start([elsewhere]).await;
        let error = peer.client().get_task("t").await.unwrap_err();
        assert!(
            error.is_decode() && error.to_string().contains("gRPC"),
            "{error:?}"
        );
    });
}

#[test]
fn grpc_09_an_event_without_a_payload_is_refused() {
    run(async {
        let peer = Peer::start([answer([message(&StreamResponse::default())], ok())]).await;
        let error = peer
            .client()
            .stream_text("hi")
            .await
            .unwrap()
            .into_task()
            .await
            .unwrap_err();
        assert!(error.is_decode(), "{error:?}");
    });
}

#[test]
fn grpc_10_messages_up_to_the_limit_are_read_and_larger_ones_named() {
    run(async {
        let of = |size: usize| {
            let mut task = task(TaskState::Completed);
            task.artifacts
                .push(Artifact::new("a", [Piece::text("x".repeat(size))]));
            answer([message(&task)], ok())
        };
        let peer = Peer::start([of(8 << 20), of(17 << 20)]).await;
        let client = peer.client();
        assert_eq!(
            client.get_task("t").await.unwrap().artifact_text().len(),
            8 << 20
        );
        let error = client.get_task("t").await.unwrap_err();
        assert!(error.is_decode(), "{error:?}");
    });
}

#[test]
fn w10_activated_extensions_are_read_from_metadata() {
    run(async {
        let mut reply = answer([event(task(TaskState::Completed))], ok());
        reply
            .headers
            .insert("a2a-extensions", "u1, u9".parse().unwrap());
        let peer = Peer::start([reply]).await;
        let stream = peer.client().stream_text("hi").await.unwrap();
        assert_eq!(stream.activated_extensions().to_string(), "u1,u9");
    });
}

#[test]
fn w10_activated_extensions_are_read_from_the_trailers_of_a_stream() {
    let activating = |mut status: Status| {
        status
            .metadata_mut()
            .insert("a2a-extensions", "u2".parse().unwrap());
        status
    };
    run(async {
        let failure = Status::from(A2aError::unsupported_operation("no"));
        let mut replies = [activating(ok()), activating(failure)]
            .map(|status| answer([event(task(TaskState::Completed))], status));
        for reply in &mut replies {
            reply
                .headers
                .insert("a2a-extensions", "u1".parse().unwrap());
        }
        let peer = Peer::start(replies).await;
        for fails in [false, true] {
            let mut stream = peer.client().stream_text("hi").await.unwrap();
            stream.next().await.unwrap().unwrap();
            assert_eq!(stream.activated_extensions().to_string(), "u1");
            assert_eq!(stream.next().await.is_some_and(|end| end.is_err()), fails);
            assert_eq!(stream.activated_extensions().to_string(), "u1,u2");
        }
    });
}

#[test]
fn streams_that_nobody_reads_do_not_hold_up_other_calls() {
    run(async {
        let update = TaskArtifactUpdateEvent {
            task_id: "t".into(),
            context_id: "c".into(),
            artifact: Some(Artifact::new("a", [Piece::text("x".repeat(1 << 18))])),
            append: true,
            ..TaskArtifactUpdateEvent::default()
        };
        let chunk = event(update).unwrap().into_data().unwrap();
        let full = || answer((0..512).map(|_| Ok(Frame::data(chunk.clone()))), ok());
        let streams = (0..8).map(|_| full());
        let replies = (0..CALLS).map(|_| answer([message(&task(TaskState::Working))], ok()));
        let peer = Peer::start(streams.chain(replies)).await;
        let client = peer.client();
        let mut unread = Vec::new();
        for _ in 0..8 {
            let mut stream = client.stream_text("hi").await.unwrap();
            stream.next().await.unwrap().unwrap();
            unread.push(stream);
        }
        // Each call lets the streams fill what they may.
        for _ in 0..CALLS {
            client.get_task("t").await.unwrap();
        }
    });
}

const CALLS: usize = 300;

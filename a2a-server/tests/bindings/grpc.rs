//! Statuses, metadata, deadlines and health.

use a2a_proto::v1::{GetTaskRequest, Message, StreamResponse, Task};
use a2a_proto::wire::Operation;
use a2a_proto::{A2aError, Call, ErrorCode, Method};
use a2a_server::Limits;
use bytes::Bytes;
use http_body_util::Full;
use prost::Message as _;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tower_service::Service as _;

use crate::support::grpc::{channel, encode, open};
use crate::support::{CURRENT, OPTIONAL_EXTENSION, Peer, Script, card, within};

fn get() -> Vec<u8> {
    let request = GetTaskRequest {
        id: "t1".to_owned(),
        ..GetTaskRequest::default()
    };
    encode(&Operation::from(Call::GetTask(request)))
}

#[tokio::test]
async fn unknown_methods_are_unimplemented() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for path in [
            "/lf.a2a.v1.A2AService/Nope",
            "/a2a.v1.A2AService/SendMessage",
            "/",
        ] {
            let channel = channel(peer.server.local_addr()).await;
            let status = open(channel, path, CURRENT, get()).await.unwrap_err();
            assert_eq!(status.code(), Code::Unimplemented, "{path}");
            assert_eq!(A2aError::from(&status).code(), ErrorCode::MethodNotFound);
        }
    })
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_protobuf_are_an_invalid_argument() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for method in Method::all() {
            let channel = channel(peer.server.local_addr()).await;
            let opened = open(channel, method.grpc_path(), CURRENT, vec![0xff; 8]).await;
            assert_eq!(
                opened.unwrap_err().code(),
                Code::InvalidArgument,
                "{method}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn grpc_07_08_answers_and_streams_are_whole() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let address = peer.server.local_addr();
        let path = Method::GetTask.grpc_path();
        let mut answer = open(channel(address).await, path, CURRENT, get())
            .await
            .unwrap()
            .into_inner();
        let task = Task::decode(answer.message().await.unwrap().unwrap()).unwrap();
        assert_eq!(task.id, "t1");
        assert_eq!(answer.message().await.unwrap(), None);

        let path = Method::SubscribeToTask.grpc_path();
        let mut events = open(channel(address).await, path, CURRENT, get())
            .await
            .unwrap()
            .into_inner();
        let mut states = Vec::new();
        while let Some(event) = events.message().await.unwrap() {
            states.push(StreamResponse::decode(event).unwrap().state().unwrap());
        }
        assert_eq!(states.len(), 2);
        assert!(states[1].is_terminal());
    })
    .await;
}

#[tokio::test]
async fn ext_05_active_extensions_are_echoed_in_initial_metadata() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let headers = [
            ("a2a-version", "1.0"),
            ("a2a-extensions", OPTIONAL_EXTENSION),
        ];
        for method in [Method::GetTask, Method::SubscribeToTask] {
            let channel = channel(peer.server.local_addr()).await;
            let response = open(channel, method.grpc_path(), &headers, get())
                .await
                .unwrap();
            assert_eq!(
                response.metadata().get("a2a-extensions").unwrap(),
                OPTIONAL_EXTENSION
            );
        }
    })
    .await;
}

#[tokio::test]
async fn grpc_10_messages_over_the_limit_are_resource_exhausted_in_both_directions() {
    within(async {
        let mut task = Task::submitted("t1", "c1");
        task.history = vec![Message::agent("x".repeat(2000))];
        let peer = Peer::configured(Script::with_task(task), card(), |builder| {
            builder.limits(Limits::default().body_bytes(1000))
        })
        .await;
        let address = peer.server.local_addr();
        let path = Method::GetTask.grpc_path();
        for message in [get(), vec![0; 1001]] {
            let status = open(channel(address).await, path, CURRENT, message)
                .await
                .unwrap_err();
            assert_eq!(status.code(), Code::ResourceExhausted);
            assert_eq!(A2aError::from(&status).reason(), "RESOURCE_EXHAUSTED");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_call_and_is_known_to_the_handler() {
    within(async {
        let peer = Peer::start(Script::hanging()).await;
        let start = tokio::time::Instant::now();
        // Not through tonic's client, which watches the deadline too.
        let mut service = peer.endpoint.clone().into_service();
        let mut framed = vec![0, 0, 0, 0, u8::try_from(get().len()).unwrap()];
        framed.extend(get());
        let request = http::Request::post(Method::GetTask.grpc_path())
            .header("content-type", "application/grpc")
            .header("a2a-version", "1.0")
            .header("grpc-timeout", "2S")
            .body(Full::new(Bytes::from(framed)))
            .unwrap();
        let response = service.call(request).await.unwrap();
        let status = Status::from_header_map(response.headers()).unwrap();
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert_eq!(A2aError::from(&status).reason(), "DEADLINE_EXCEEDED");
        assert_eq!(start.elapsed().as_secs(), 2);
        let (cx, _) = peer.script.call();
        assert_eq!(cx.deadline().unwrap().duration_since(start).as_secs(), 2);
        peer.script.dropped().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_a_stream_that_has_begun() {
    within(async {
        let peer = Peer::start(Script::holding(None)).await;
        let headers = [("a2a-version", "1.0"), ("grpc-timeout", "2000m")];
        let channel = channel(peer.server.local_addr()).await;
        let path = Method::SubscribeToTask.grpc_path();
        let mut events = open(channel, path, &headers, get())
            .await
            .unwrap()
            .into_inner();
        assert!(events.message().await.unwrap().is_some());
        let status = events.message().await.unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded);
        peer.script.dropped().await;
    })
    .await;
}

#[tokio::test]
async fn grpc_web_is_not_taken_for_grpc() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let headers = [
            ("a2a-version", "1.0"),
            ("content-type", "application/grpc-web+proto"),
        ];
        let path = Method::GetTask.grpc_path();
        assert_eq!(peer.web().post(path, &headers, get()).await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn health_is_serving_for_all_and_for_the_service_until_shutdown() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let mut client = HealthClient::new(channel(peer.server.local_addr()).await);
        let request = |service: &str| HealthCheckRequest {
            service: service.to_owned(),
        };
        for service in ["", "lf.a2a.v1.A2AService"] {
            let status = client
                .check(request(service))
                .await
                .unwrap()
                .into_inner()
                .status();
            assert_eq!(status, ServingStatus::Serving);
        }
        let unknown = client.check(request("nope")).await.unwrap_err();
        assert_eq!(unknown.code(), Code::NotFound);
        let mut watch = client.watch(request("")).await.unwrap().into_inner();
        assert_eq!(
            watch.message().await.unwrap().unwrap().status(),
            ServingStatus::Serving
        );
        let shutdown = peer.server.shutdown();
        let (last, ()) = tokio::join!(watch.message(), shutdown);
        assert_eq!(last.unwrap().unwrap().status(), ServingStatus::NotServing);
        assert_eq!(watch.message().await.unwrap(), None);
    })
    .await;
}

//! gRPC reflection as a tool asks for it.

use a2a_server::{Agent, AgentRouter, Server, executor_fn};
use futures_core::Stream;
use tonic::{Code, Request};

use crate::support::grpc::channel;
use crate::support::{Peer, Script, card, within};

/// A stream of one.
struct Once<T>(Option<T>);

impl<T: Unpin> Stream for Once<T> {
    type Item = T;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<T>> {
        std::task::Poll::Ready(self.0.take())
    }
}

/// A stream of one that stays open behind it.
struct Open<T>(Option<T>);

impl<T: Unpin> Stream for Open<T> {
    type Item = T;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<T>> {
        match self.0.take() {
            Some(item) => std::task::Poll::Ready(Some(item)),
            None => std::task::Poll::Pending,
        }
    }
}

#[tokio::test]
async fn a_router_answers_while_the_questions_go_on() {
    use tonic_reflection::pb::v1::ServerReflectionRequest;
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    within(async {
        let echo = executor_fn(|cx, out| async move { Ok(out.reply(cx.message().text()).await?) });
        let agent = Agent::builder(echo).reflection(true).build().unwrap();
        let router = AgentRouter::new().fallback(agent);
        let server = router.bind("127.0.0.1:0").await.unwrap();
        let mut client = ServerReflectionClient::new(channel(server.local_addr()).await);
        let request = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::ListServices(String::new())),
        };
        let answers = client.server_reflection_info(Request::new(Open(Some(request))));
        let answer = answers.await.unwrap().into_inner().message().await.unwrap();
        assert!(format!("{answer:?}").contains("lf.a2a.v1.A2AService"));
    })
    .await;
}

/// What a client of one of the two versions of the service asks and is told.
macro_rules! asking {
    ($name:ident, $version:ident) => {
        mod $name {
            use tonic_reflection::pb::$version::ServerReflectionRequest;
            use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
            use tonic_reflection::pb::$version::server_reflection_request::MessageRequest;
            use tonic_reflection::pb::$version::server_reflection_response::MessageResponse;

            use super::*;

            async fn ask(server: &Server, question: MessageRequest) -> MessageResponse {
                let mut client = ServerReflectionClient::new(channel(server.local_addr()).await);
                let request = ServerReflectionRequest {
                    host: String::new(),
                    message_request: Some(question),
                };
                let answers = client.server_reflection_info(Request::new(Once(Some(request))));
                let answer = answers.await.unwrap().into_inner().message().await.unwrap();
                answer.unwrap().message_response.unwrap()
            }

            #[tokio::test]
            async fn services_files_and_symbols_are_told_and_unknown_ones_are_not_found() {
                within(async {
                    let peer = Peer::configured(Script::default(), card(), |builder| {
                        builder.reflection(true)
                    })
                    .await;
                    let server = &peer.server;
                    let MessageResponse::ListServicesResponse(listed) =
                        ask(server, MessageRequest::ListServices(String::new())).await
                    else {
                        panic!("no list");
                    };
                    let names: Vec<&str> = listed.service.iter().map(|service| service.name.as_str()).collect();
                    for name in ["lf.a2a.v1.A2AService", "grpc.health.v1.Health"] {
                        assert!(names.contains(&name), "{names:?}");
                    }
                    for symbol in ["lf.a2a.v1.A2AService", "lf.a2a.v1.Task", "google.rpc.ErrorInfo"] {
                        let question = MessageRequest::FileContainingSymbol(symbol.to_owned());
                        let answer = ask(server, question).await;
                        assert!(
                            matches!(&answer, MessageResponse::FileDescriptorResponse(found) if !found.file_descriptor_proto.is_empty()),
                            "{symbol}: {answer:?}"
                        );
                    }
                    let file = MessageRequest::FileByFilename("google/protobuf/struct.proto".to_owned());
                    assert!(matches!(ask(server, file).await, MessageResponse::FileDescriptorResponse(_)));
                })
                .await;
            }

            #[tokio::test]
            async fn an_unknown_symbol_is_not_found() {
                within(async {
                    let peer = Peer::configured(Script::default(), card(), |builder| {
                        builder.reflection(true)
                    })
                    .await;
                    let mut client =
                        ServerReflectionClient::new(channel(peer.server.local_addr()).await);
                    let request = ServerReflectionRequest {
                        host: String::new(),
                        message_request: Some(MessageRequest::FileContainingSymbol("no.Such".to_owned())),
                    };
                    let answers = client.server_reflection_info(Request::new(Once(Some(request))));
                    let status = match answers.await {
                        Ok(answers) => answers.into_inner().message().await.unwrap_err(),
                        Err(status) => status,
                    };
                    assert_eq!(status.code(), Code::NotFound);
                })
                .await;
            }

            #[tokio::test]
            async fn an_agent_without_reflection_has_no_such_service() {
                within(async {
                    let peer = Peer::start(Script::default()).await;
                    let mut client =
                        ServerReflectionClient::new(channel(peer.server.local_addr()).await);
                    let request = ServerReflectionRequest {
                        host: String::new(),
                        message_request: Some(MessageRequest::ListServices(String::new())),
                    };
                    let answers = client.server_reflection_info(Request::new(Once(Some(request))));
                    assert_eq!(answers.await.unwrap_err().code(), Code::Unimplemented);
                })
                .await;
            }
        }
    };
}

asking!(current, v1);
asking!(alpha, v1alpha);

//! What is refused before the handler is called.

use std::sync::Arc;

use a2a_proto::v1::{
    AgentCapabilities, AgentCard, AgentExtension, GetTaskRequest, Message,
    SendMessageConfiguration, TaskPushNotificationConfig,
};
use a2a_proto::wire::Operation;
use a2a_proto::{A2aError, Call, ErrorCode, Method};
use a2a_server::{AuthError, Authenticator, Principal, VersionPolicy, async_trait};

use crate::support::{
    BINDINGS, CURRENT, OPTIONAL_EXTENSION, Peer, Script, card, operations, push, send, within,
};

const REQUIRED_EXTENSION: &str = "https://extensions.test/required";

#[tokio::test]
async fn eq_01_all_operations_pass_on_every_binding() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for binding in BINDINGS {
            for operation in operations() {
                let result = peer.call(binding, operation.clone(), CURRENT).await;
                result.unwrap_or_else(|error| panic!("{binding} {operation:?}: {error}"));
                let (cx, seen) = peer.script.calls().pop().unwrap();
                assert_eq!(cx.method(), operation.method());
                assert_eq!(seen, operation, "{binding}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn ver_04_05_a_missing_or_foreign_version_is_refused_on_every_operation() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for binding in BINDINGS {
            for operation in operations() {
                for headers in [
                    &[][..],
                    &[("a2a-version", "99.0")],
                    &[("a2a-version", "0.3")],
                ] {
                    let error = peer
                        .call(binding, operation.clone(), headers)
                        .await
                        .unwrap_err();
                    assert_eq!(error.code(), ErrorCode::VersionNotSupported, "{binding}");
                    assert_eq!(error.metadata()["supportedVersions"], "1.0");
                    assert!(error.message().contains("A2A-Version: 1.0"));
                }
            }
        }
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn amb_10_a_missing_version_can_be_taken_for_the_current_one() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.version_policy(VersionPolicy::AssumeCurrent)
        })
        .await;
        for binding in BINDINGS {
            peer.call(binding, get(), &[]).await.unwrap();
            let old = peer.call(binding, get(), &[("a2a-version", "0.3")]).await;
            assert_eq!(old.unwrap_err().code(), ErrorCode::VersionNotSupported);
        }
    })
    .await;
}

#[tokio::test]
async fn ver_03_the_version_may_stand_in_the_query() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let response = peer.web().get("/tasks/t1?A2A-Version=1.0", &[]).await;
        assert_eq!(response.status, 200);
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#;
        let response = peer.web().post("/?A2A-Version=1.0", &[], body).await;
        assert!(response.json().get("result").is_some(), "{response:?}");
    })
    .await;
}

struct Token;

#[async_trait]
impl Authenticator for Token {
    async fn authenticate(&self, parts: &http::request::Parts) -> Result<Principal, AuthError> {
        let token = parts
            .headers
            .get("authorization")
            .and_then(|value| value.to_str().ok());
        match token {
            Some("Bearer good") => Ok(Principal::named("alice")),
            Some("Bearer weak") => Err(AuthError::PermissionDenied),
            Some("Bearer boom") => panic!("secret"),
            Some("Bearer late") => Err(AuthError::Unavailable {
                source: "secret".into(),
            }),
            _ => Err(AuthError::Unauthenticated {
                challenge: "Bearer realm=\"peer\"".to_owned(),
            }),
        }
    }
}

#[tokio::test]
async fn sec_03_13_err_08_every_call_is_authenticated_the_same_way() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.authenticator(Arc::new(Token))
        })
        .await;
        for binding in BINDINGS {
            for operation in operations() {
                // The caller is asked for before anything else is said, its version included.
                let error = peer
                    .call(binding, operation.clone(), &[])
                    .await
                    .unwrap_err();
                assert_eq!(error.code(), ErrorCode::Unauthenticated, "{binding}");
            }
            for (token, code) in [
                ("Bearer weak", ErrorCode::PermissionDenied),
                ("Bearer late", ErrorCode::Unavailable),
                ("Bearer boom", ErrorCode::Unavailable),
            ] {
                let headers = [("authorization", token), ("a2a-version", "1.0")];
                let error = peer.call(binding, get(), &headers).await.unwrap_err();
                assert_eq!(error.code(), code, "{binding}");
                assert!(!format!("{error:?}").contains("secret"));
            }
        }
        assert!(peer.script.calls().is_empty());
        for binding in BINDINGS {
            let headers = [("authorization", "Bearer good"), ("a2a-version", "1.0")];
            peer.call(binding, get(), &headers).await.unwrap();
            let (cx, _) = peer.script.calls().pop().unwrap();
            assert_eq!(cx.principal(), &Principal::named("alice"));
        }
    })
    .await;
}

#[tokio::test]
async fn err_08_a_caller_without_credentials_is_told_how_to_come_in() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.authenticator(Arc::new(Token))
        })
        .await;
        for (verb, path, body) in [("POST", "/", Some("{}")), ("GET", "/tasks/t1", None)] {
            let body = body.map(str::as_bytes);
            let response = peer.web().send(verb, path, CURRENT, body).await;
            assert_eq!(response.status, 401);
            assert_eq!(
                response.header("www-authenticate"),
                Some("Bearer realm=\"peer\"")
            );
            assert!(response.json().get("error").is_some());
        }
        let late = [("authorization", "Bearer late")];
        let response = peer.web().get("/tasks/t1", &late).await;
        assert_eq!(
            (response.status, response.header("retry-after")),
            (503, Some("1"))
        );
        // The public card is public.
        assert_eq!(
            peer.web()
                .get("/.well-known/agent-card.json", &[])
                .await
                .status,
            200
        );
    })
    .await;
}

#[tokio::test]
async fn ext_03_a_required_extension_is_asked_for_on_every_operation() {
    within(async {
        let mut card = card();
        card.capabilities
            .as_mut()
            .unwrap()
            .extensions
            .push(AgentExtension {
                uri: REQUIRED_EXTENSION.to_owned(),
                required: true,
                ..AgentExtension::default()
            });
        let peer = Peer::configured(Script::default(), card, |builder| builder).await;
        for binding in BINDINGS {
            for operation in operations() {
                let error = peer
                    .call(binding, operation.clone(), CURRENT)
                    .await
                    .unwrap_err();
                assert_eq!(
                    error.code(),
                    ErrorCode::ExtensionSupportRequired,
                    "{binding}"
                );
                assert!(error.message().contains(REQUIRED_EXTENSION));
                let headers = [
                    ("a2a-version", "1.0"),
                    ("a2a-extensions", REQUIRED_EXTENSION),
                ];
                peer.call(binding, operation, &headers).await.unwrap();
            }
        }
    })
    .await;
}

#[tokio::test]
async fn ext_02_04_extensions_are_listed_in_any_form_and_activated_if_they_are_known() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let list = format!("https://unknown.test/x , {OPTIONAL_EXTENSION}");
        let forms: [&[(&str, &str)]; 2] = [
            &[("a2a-version", "1.0"), ("a2a-extensions", &list)],
            &[
                ("a2a-version", "1.0"),
                ("a2a-extensions", "https://unknown.test/x"),
                ("a2a-extensions", OPTIONAL_EXTENSION),
            ],
        ];
        for binding in BINDINGS {
            for headers in forms {
                peer.call(binding, get(), headers).await.unwrap();
                let (cx, _) = peer.script.calls().pop().unwrap();
                assert_eq!(
                    cx.requested_extensions(),
                    ["https://unknown.test/x", OPTIONAL_EXTENSION]
                );
                assert_eq!(cx.activated_extensions(), [OPTIONAL_EXTENSION]);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn str_01_push_cap_01_ext_card_02_what_the_card_does_not_announce_is_refused() {
    within(async {
        let bare = AgentCard {
            capabilities: Some(AgentCapabilities::default()),
            ..card()
        };
        for card in [
            bare,
            AgentCard {
                capabilities: None,
                ..card()
            },
        ] {
            let peer = Peer::configured(Script::default(), card, |builder| builder).await;
            for binding in BINDINGS {
                for operation in operations() {
                    let method = operation.method();
                    let expected = match method {
                        Method::SendStreamingMessage
                        | Method::SubscribeToTask
                        | Method::GetExtendedAgentCard => Some(ErrorCode::UnsupportedOperation),
                        Method::CreateTaskPushNotificationConfig
                        | Method::GetTaskPushNotificationConfig
                        | Method::ListTaskPushNotificationConfigs
                        | Method::DeleteTaskPushNotificationConfig => {
                            Some(ErrorCode::PushNotificationNotSupported)
                        }
                        _ => None,
                    };
                    let result = peer.call(binding, operation, CURRENT).await;
                    assert_eq!(
                        result.err().map(|error| error.code()),
                        expected,
                        "{binding} {method}"
                    );
                }
                let mut request = send(Message::user("hello"));
                request.configuration = Some(SendMessageConfiguration {
                    task_push_notification_config: Some(push()),
                    ..SendMessageConfiguration::default()
                });
                let error = peer
                    .call(binding, Call::SendMessage(request).into(), CURRENT)
                    .await;
                assert_eq!(
                    error.unwrap_err().code(),
                    ErrorCode::PushNotificationNotSupported
                );
            }
        }
    })
    .await;
}

#[tokio::test]
async fn faults_are_told_in_the_order_of_precedence() {
    within(async {
        let mut card = AgentCard {
            capabilities: Some(AgentCapabilities::default()),
            ..card()
        };
        card.capabilities.as_mut().unwrap().extensions = vec![AgentExtension {
            uri: REQUIRED_EXTENSION.to_owned(),
            required: true,
            ..AgentExtension::default()
        }];
        let not_found = Script::failing(A2aError::task_not_found());
        let peer = Peer::configured(not_found, card, |builder| builder).await;
        for binding in BINDINGS {
            let mut create = TaskPushNotificationConfig {
                task_id: "nope".to_owned(),
                ..Default::default()
            };
            let mut headers = Vec::new();
            let expect =
                async |create: &TaskPushNotificationConfig, headers: &[(&str, &str)], code| {
                    let operation = Call::CreateTaskPushNotificationConfig(create.clone()).into();
                    let error = peer.call(binding, operation, headers).await.unwrap_err();
                    assert_eq!(error.code(), code, "{binding}");
                };
            expect(&create, &headers, ErrorCode::VersionNotSupported).await;
            headers.push(("a2a-version", "1.0"));
            expect(&create, &headers, ErrorCode::InvalidParams).await;
            create.url = "https://hooks.test/1".to_owned();
            expect(&create, &headers, ErrorCode::ExtensionSupportRequired).await;
            headers.push(("a2a-extensions", REQUIRED_EXTENSION));
            expect(&create, &headers, ErrorCode::PushNotificationNotSupported).await;
            let error = peer.call(binding, get(), &headers).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::TaskNotFound);
        }
    })
    .await;
}

#[tokio::test]
async fn ten_02_the_tenant_reaches_the_handler_on_every_binding() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for binding in BINDINGS {
            for mut operation in operations() {
                *operation.tenant_mut() = "acme/eu".to_owned();
                peer.call(binding, operation.clone(), CURRENT)
                    .await
                    .unwrap();
                let (cx, seen) = peer.script.calls().pop().unwrap();
                assert_eq!(
                    (cx.tenant(), seen.tenant()),
                    ("acme/eu", "acme/eu"),
                    "{binding}"
                );
            }
        }
    })
    .await;
}

fn get() -> Operation {
    Call::GetTask(GetTaskRequest {
        id: "t1".to_owned(),
        ..GetTaskRequest::default()
    })
    .into()
}

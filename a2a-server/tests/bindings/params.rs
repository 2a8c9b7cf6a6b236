//! Parameters that are wrong, too many, too large or too deep.

use a2a_proto::v1::{
    CancelTaskRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest,
    Message, Part, SendMessageConfiguration, SendMessageRequest, TaskPushNotificationConfig,
};
use a2a_proto::wire::Operation;
use a2a_proto::{Binding, Call, ErrorCode, Struct, Value};
use a2a_server::Limits;

use crate::support::{BINDINGS, CURRENT, Peer, Script, card, push, send, within};

/// Requests, each with the field that is wrong.
fn invalid() -> Vec<(&'static str, Operation)> {
    let with = |change: fn(&mut SendMessageRequest)| {
        let mut request = send(Message::user("hello"));
        change(&mut request);
        Operation::from(Call::SendMessage(request))
    };
    let configured = |change: fn(&mut SendMessageConfiguration)| {
        let mut request = send(Message::user("hello"));
        change(request.configuration.get_or_insert_default());
        Operation::from(Call::SendMessage(request))
    };
    let list = |request| Operation::from(Call::ListTasks(request));
    vec![
        ("message", with(|request| request.message = None)),
        (
            "message.parts",
            with(|request| message(request).parts.clear()),
        ),
        (
            "message.parts[0]",
            with(|request| message(request).parts[0].content = None),
        ),
        (
            "message.message_id",
            with(|request| message(request).message_id.clear()),
        ),
        ("message.role", with(|request| message(request).role = 0)),
        (
            "message.parts",
            with(|request| message(request).parts = vec![Part::text("x"); 9]),
        ),
        (
            "metadata",
            with(|request| message(request).metadata = Some(large_metadata())),
        ),
        (
            "metadata",
            with(|request| request.metadata = Some(large_metadata())),
        ),
        (
            "metadata",
            with(|request| message(request).parts[0].metadata = Some(large_metadata())),
        ),
        (
            "configuration.history_length",
            configured(|given| given.history_length = Some(-1)),
        ),
        (
            "configuration.task_push_notification_config.tenant",
            configured(|given| {
                given.task_push_notification_config = Some(TaskPushNotificationConfig {
                    tenant: "other".to_owned(),
                    ..push()
                });
            }),
        ),
        (
            "configuration.task_push_notification_config.task_id",
            configured(|given| {
                given.task_push_notification_config = Some(TaskPushNotificationConfig {
                    task_id: "other".to_owned(),
                    ..push()
                });
            }),
        ),
        (
            "configuration.task_push_notification_config.url",
            configured(|given| given.task_push_notification_config = Some(Default::default())),
        ),
        (
            "history_length",
            Call::GetTask(GetTaskRequest {
                id: "t1".to_owned(),
                history_length: Some(-5),
                ..Default::default()
            })
            .into(),
        ),
        (
            "history_length",
            list(ListTasksRequest {
                history_length: Some(-1),
                ..Default::default()
            }),
        ),
        (
            "page_size",
            list(ListTasksRequest {
                page_size: Some(101),
                ..Default::default()
            }),
        ),
        (
            "page_size",
            list(ListTasksRequest {
                page_size: Some(-1),
                ..Default::default()
            }),
        ),
        (
            "page_size",
            Call::ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest {
                task_id: "t1".to_owned(),
                page_size: -1,
                ..Default::default()
            })
            .into(),
        ),
        (
            "metadata",
            Call::CancelTask(CancelTaskRequest {
                id: "t1".to_owned(),
                metadata: Some(large_metadata()),
                ..Default::default()
            })
            .into(),
        ),
        (
            "url",
            Call::CreateTaskPushNotificationConfig(TaskPushNotificationConfig {
                task_id: "t1".to_owned(),
                ..Default::default()
            })
            .into(),
        ),
    ]
}

fn message(request: &mut SendMessageRequest) -> &mut Message {
    request.message.as_mut().unwrap()
}

fn large_metadata() -> Struct {
    Struct::from_iter([("k".to_owned(), serde_json::json!("x".repeat(1000)))])
}

#[tokio::test]
async fn dm_val_01_02_03_hist_04_list_05_sec_07_bad_parameters_are_named() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.limits(Limits::default().message_parts(8).metadata_bytes(1000))
        })
        .await;
        for binding in BINDINGS {
            for (field, operation) in invalid() {
                let error = peer.call(binding, operation, CURRENT).await.unwrap_err();
                assert_eq!(error.code(), ErrorCode::InvalidParams, "{binding} {field}");
                let named = error
                    .violations()
                    .iter()
                    .any(|violation| violation.field == field);
                assert!(named, "{binding} {field}: {error:?}");
            }
        }
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn list_05_a_page_size_of_zero_is_unset_on_grpc_and_wrong_elsewhere() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let request = ListTasksRequest {
            page_size: Some(0),
            ..ListTasksRequest::default()
        };
        let operation = Operation::from(Call::ListTasks(request));
        for binding in [Binding::JsonRpc, Binding::HttpJson] {
            let error = peer
                .call(binding, operation.clone(), CURRENT)
                .await
                .unwrap_err();
            assert_eq!(error.violations()[0].field, "page_size");
        }
        peer.call(Binding::Grpc, operation, CURRENT).await.unwrap();
        let (_, seen) = peer.script.call();
        assert_eq!(seen, Call::ListTasks(ListTasksRequest::default()).into());
    })
    .await;
}

#[tokio::test]
async fn sec_07_json_that_is_nested_too_deeply_is_refused_everywhere() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        let mut deep = serde_json::json!(1);
        for _ in 0..31 {
            deep = serde_json::json!({ "k": deep });
        }
        for binding in BINDINGS {
            let mut request = send(Message::user("hello"));
            message(&mut request).parts = vec![Part::data(Value::from(deep.clone()))];
            let error = peer
                .call(binding, Call::SendMessage(request).into(), CURRENT)
                .await;
            assert_eq!(
                error.unwrap_err().code(),
                ErrorCode::InvalidParams,
                "{binding}"
            );
        }
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn sec_07_bodies_over_the_limit_are_refused_with_an_error_of_the_protocol() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.limits(Limits::default().body_bytes(10_000))
        })
        .await;
        for binding in BINDINGS {
            let large = Call::SendMessage(send(Message::user("x".repeat(10_000))));
            let error = peer.call(binding, large.into(), CURRENT).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::ResourceExhausted, "{binding}");
        }
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn sec_07_bodies_that_grow_too_large_are_answered_while_they_are_still_sent() {
    within(async {
        let limit = 8 * 1024 * 1024;
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.limits(Limits::default().body_bytes(limit))
        })
        .await;
        // More than sockets keep, less than the server reads on.
        let body = vec![b'x'; limit * 5 / 2];
        for path in ["/", "/message:send"] {
            let response = peer.web().post_chunked(path, &body).await;
            assert_eq!(response.status, 413, "{path}");
            assert!(response.text().contains("RESOURCE_EXHAUSTED"), "{path}");
        }
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn sec_07_bodies_that_say_that_they_are_too_large_are_refused_by_their_head() {
    within(async {
        let peer = Peer::configured(Script::default(), card(), |builder| {
            builder.limits(Limits::default().body_bytes(10_000))
        })
        .await;
        let head = [("a2a-version", "1.0"), ("content-length", "99999")];
        let start = tokio::time::Instant::now();
        let response = peer.web().post("/", &head, "{").await;
        assert_eq!(response.status, 413);
        assert_eq!(
            response.json()["error"]["data"][0]["reason"],
            "RESOURCE_EXHAUSTED"
        );
        let response = peer.web().post("/message:send", &head, "{").await;
        assert_eq!(response.status, 413);
        assert_eq!(response.json()["error"]["code"], 413);
        // Once for each, what is still coming was waited for.
        assert_eq!(start.elapsed().as_secs(), 4);
        let waits = [head[0], head[1], ("expect", "100-continue")];
        let response = peer.web().post_1_1("/", &waits).await;
        assert_eq!(response.status, 413, "and not 100: {response:?}");
        assert_eq!(start.elapsed().as_secs(), 4);
        assert!(peer.script.calls().is_empty());
    })
    .await;
}

#[tokio::test]
async fn sec_07_messages_of_15_mib_pass_and_those_of_17_are_answered() {
    within(async {
        let peer = Peer::start(Script::default()).await;
        for binding in BINDINGS {
            let message = |mib: usize| {
                let message = Message::user("x".repeat(mib * 1024 * 1024));
                Operation::from(Call::SendMessage(send(message)))
            };
            peer.call(binding, message(15), CURRENT).await.unwrap();
            let error = peer.call(binding, message(17), CURRENT).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::ResourceExhausted, "{binding}");
        }
    })
    .await;
}

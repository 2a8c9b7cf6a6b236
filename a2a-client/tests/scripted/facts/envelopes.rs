use a2a_client::proto::v1::{SendMessageRequest, TaskPushNotificationConfig, TaskState};
use a2a_client::{Binding, Client, ErrorCode};
use serde_json::{Value, json};

use super::get;
use crate::peer::{Peer, events, frame, json_body, result, status, task, whole};
use crate::run;

fn bare() -> Value {
    task("WORKING")["task"].clone()
}

#[test]
fn w6_w7_the_version_goes_with_every_call_as_exactly_1_0() {
    run(async {
        for protocol_version in ["1.0", "1.0.1", ""] {
            let script = [json_body(200, &result(1, &bare()))];
            let mut peer = Peer::start(script).await;
            let mut card = peer.card(Binding::JsonRpc);
            card.supported_interfaces[0].protocol_version = protocol_version.to_owned();
            let client = Client::from_card(card).unwrap();
            client.get_task("t").await.unwrap();
            assert_eq!(peer.request().await.headers["a2a-version"], ["1.0"]);
        }
    });
}

#[test]
fn w12_errors_are_read_from_any_status_and_pages_of_a_proxy_are_none() {
    run(async {
        let error =
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32009, "message": "version"}});
        for status in [200, 400, 401, 404, 500, 502] {
            let error = get(Binding::JsonRpc, json_body(status, &error))
                .await
                .unwrap_err();
            assert_eq!(error.code(), Some(ErrorCode::VersionNotSupported));
            assert_eq!(error.http_status().unwrap(), status);
        }
        for (status, code) in [(413, Some(ErrorCode::ResourceExhausted)), (415, None)] {
            let page = whole(
                status,
                "text/html; charset=utf-8",
                "<!DOCTYPE html><pre>PayloadTooLargeError</pre>",
            );
            let error = get(Binding::JsonRpc, page).await.unwrap_err();
            assert_eq!(
                (error.code(), error.protocol().is_none()),
                (code, true),
                "{error:?}"
            );
            assert_eq!(error.http_status().unwrap(), status);
        }
        for status in [200, 201, 202] {
            assert!(
                get(Binding::JsonRpc, json_body(status, &result(1, &bare())))
                    .await
                    .is_ok()
            );
        }
    });
}

#[test]
fn w13_ids_come_back_as_they_went_or_as_numeric_text_and_errors_with_any() {
    run(async {
        let reply = |id: &str, rest: &str| {
            whole(
                200,
                "application/json",
                format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#),
            )
        };
        let fine = format!(r#""result":{}"#, bare());
        for id in ["1", r#""1""#] {
            let outcome = get(Binding::JsonRpc, reply(id, &fine)).await;
            assert!(outcome.is_ok(), "{id}: {outcome:?}");
        }
        for id in ["2", r#""2""#, r#""UNDETERMINED ID""#, "null", "{}"] {
            let error = get(Binding::JsonRpc, reply(id, &fine)).await.unwrap_err();
            assert!(error.is_decode(), "{id}: {error:?}");
        }
        let failed = r#""error":{"code":-32001,"message":"gone"}"#;
        for id in ["1", r#""1""#, r#""UNDETERMINED ID""#, "null"] {
            let error = get(Binding::JsonRpc, reply(id, failed)).await.unwrap_err();
            assert_eq!(
                error.code(),
                Some(ErrorCode::TaskNotFound),
                "{id}: {error:?}"
            );
        }
    });
}

#[test]
fn w13_a_null_error_beside_a_result_and_a_missing_version_are_no_faults() {
    run(async {
        for body in [
            json!({"jsonrpc": "2.0", "id": 1, "result": bare(), "error": null}),
            json!({"id": 1, "result": bare()}),
            json!({"result": bare(), "id": 1, "jsonrpc": "2.0", "extra": [1]}),
        ] {
            let found = get(Binding::JsonRpc, json_body(200, &body)).await;
            assert_eq!(found.unwrap().state(), TaskState::Working, "{body}");
        }
    });
}

#[test]
fn w13_the_id_of_each_frame_of_a_stream_is_compared_and_that_of_an_error_is_not() {
    run(async {
        let done = result(1, &status("COMPLETED"));
        let mut as_text = result(1, &task("WORKING"));
        as_text["id"] = json!("1");
        let peer = Peer::start([events([frame(&as_text), frame(&done)])]).await;
        let stream = peer
            .client(Binding::JsonRpc)
            .stream_text("hi")
            .await
            .unwrap();
        assert_eq!(
            stream.into_task().await.unwrap().state(),
            TaskState::Completed
        );
        for id in [json!(null), json!(1), json!("UNDETERMINED ID"), json!(0)] {
            let failure = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "the cause"}});
            let answer = events([frame(&result(1, &task("WORKING"))), frame(&failure)]);
            let peer = Peer::start([answer]).await;
            let mut stream = peer
                .client(Binding::JsonRpc)
                .stream_text("hi")
                .await
                .unwrap();
            stream.next().await.unwrap().unwrap();
            let error = stream.next().await.unwrap().unwrap_err();
            assert_eq!(error.protocol().unwrap().message(), "the cause", "{id}");
        }
    });
}

#[test]
fn w14_params_are_sent_with_every_method_even_with_nothing_in_them() {
    run(async {
        let mut peer = Peer::start([
            json_body(200, &result(1, &json!({"name": "extended"}))),
            json_body(200, &result(2, &json!({"tasks": []}))),
        ])
        .await;
        let mut card = peer.card(Binding::JsonRpc);
        card.supported_interfaces[0].tenant.clear();
        let client = Client::from_card(card).unwrap();
        client.get_extended_agent_card().await.unwrap();
        client.list_tasks(Default::default()).await.unwrap();
        for _ in 0..2 {
            assert_eq!(peer.request().await.json()["params"], json!({}));
        }
    });
}

#[test]
fn w15_names_of_enums_that_are_unknown_do_not_fail_a_reply() {
    run(async {
        for (state, role) in [
            ("TASK_STATE_NEW", "user"),
            ("UNRECOGNIZED", "UNRECOGNIZED"),
            ("working", "ROLE_OBSERVER"),
        ] {
            let task = json!({"id": "t", "contextId": "c", "status": {"state": state},
                "history": [{"messageId": "m", "role": role, "parts": [{"text": "x"}]}], "kind": "task"});
            // `kind` is that of 0.3, and a client that looks at it alone takes the reply for an old one.
            let mut newer = task.clone();
            newer.as_object_mut().unwrap().remove("kind");
            for found in super::tasks(&newer).await {
                assert_eq!(
                    (found.id.as_str(), found.state()),
                    ("t", TaskState::Unspecified)
                );
                assert_eq!(found.history[0].text(), "x");
            }
        }
        let numbers =
            json!({"id": "t", "status": {"state": 2}, "history": [{"messageId": "m", "role": 1}]});
        for found in super::tasks(&numbers).await {
            assert_eq!(found.state(), TaskState::Working);
        }
    });
}

#[test]
fn w15_only_members_of_the_protocol_are_sent() {
    run(async {
        for binding in super::BINDINGS {
            let reply = match binding {
                Binding::JsonRpc => result(1, &task("COMPLETED")),
                _ => task("COMPLETED"),
            };
            let mut peer = Peer::start([json_body(200, &reply)]).await;
            let request = SendMessageRequest::from("hi")
                .with_history_length(3)
                .returning_immediately();
            peer.client(binding).send_message(request).await.unwrap();
            let body = peer.request().await.json();
            let params = match binding {
                Binding::JsonRpc => &body["params"],
                _ => &body,
            };
            let names = |value: &Value| {
                value
                    .as_object()
                    .unwrap()
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
            };
            let known = ["configuration", "message", "tenant"];
            assert!(
                names(params)
                    .iter()
                    .all(|name| known.contains(&name.as_str())),
                "{params}"
            );
            assert_eq!(
                names(&params["configuration"]),
                ["historyLength", "returnImmediately"]
            );
            assert_eq!(names(&params["message"]), ["messageId", "parts", "role"]);
            assert_eq!(params["message"]["parts"], json!([{"text": "hi"}]));
        }
    });
}

#[test]
fn w16_w25_requests_are_of_the_type_that_every_server_takes() {
    run(async {
        for binding in super::BINDINGS {
            let (unary, stream) = match binding {
                Binding::JsonRpc => (result(1, &task("COMPLETED")), result(2, &task("COMPLETED"))),
                _ => (task("COMPLETED"), task("COMPLETED")),
            };
            let mut peer = Peer::start([json_body(200, &unary), events([frame(&stream)])]).await;
            let client = peer.client(binding);
            client.send_text("hi").await.unwrap();
            client
                .stream_text("hi")
                .await
                .unwrap()
                .into_task()
                .await
                .unwrap();
            let accepted = [peer.request().await, peer.request().await].map(|request| {
                assert_eq!(request.headers["content-type"], ["application/json"]);
                request.header("accept").to_owned()
            });
            assert!(accepted[0].contains("application/json"), "{accepted:?}");
            assert!(accepted[1].contains("text/event-stream"), "{accepted:?}");
        }
    });
}

#[test]
fn w18_the_address_of_the_card_is_called_as_it_is() {
    run(async {
        for path in ["/rpc", "/rpc/", "/", "/a/b//"] {
            let mut peer = Peer::start([json_body(200, &result(1, &bare()))]).await;
            let client = Client::builder()
                .from_endpoint(Binding::JsonRpc, peer.url(path))
                .unwrap();
            client.get_task("t").await.unwrap();
            assert_eq!(peer.request().await.line, format!("POST {path}"));
        }
    });
}

#[test]
fn w19_a_deletion_is_answered_with_null_nothing_or_an_object() {
    run(async {
        for body in [
            json!({"jsonrpc": "2.0", "id": 1, "result": null}),
            json!({"jsonrpc": "2.0", "id": 1}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        ] {
            let peer = Peer::start([json_body(200, &body)]).await;
            let outcome = peer
                .client(Binding::JsonRpc)
                .delete_push_config("t", "c")
                .await;
            assert!(outcome.is_ok(), "{body}: {outcome:?}");
        }
        // Any other call with nothing in its answer has failed.
        let nothing = json!({"jsonrpc": "2.0", "id": 1});
        assert!(
            get(Binding::JsonRpc, json_body(200, &nothing))
                .await
                .unwrap_err()
                .is_decode()
        );
    });
}

#[test]
fn w20_a_sent_message_is_answered_with_a_wrapped_task_or_message() {
    run(async {
        let message = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "yes"}]}});
        for (reply, text) in [(task("COMPLETED"), None), (message, Some("yes"))] {
            let peer = Peer::start([json_body(200, &result(1, &reply))]).await;
            let reply = peer.client(Binding::JsonRpc).send_text("hi").await.unwrap();
            assert_eq!(
                reply.as_message().map(|message| message.text()).as_deref(),
                text
            );
            assert_eq!(reply.as_task().is_some(), text.is_none());
        }
        // A bare task, and two payloads at once, are none of it.
        let both = json!({"task": bare(), "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": []}});
        for wrong in [bare(), both] {
            let peer = Peer::start([json_body(200, &result(1, &wrong))]).await;
            let error = peer
                .client(Binding::JsonRpc)
                .send_text("hi")
                .await
                .unwrap_err();
            assert!(error.is_decode(), "{error:?}");
        }
    });
}

#[test]
fn w28_the_task_of_a_push_configuration_goes_in_the_path_and_in_the_body() {
    run(async {
        let config = TaskPushNotificationConfig {
            task_id: "t".into(),
            url: "https://w.test".into(),
            ..Default::default()
        };
        let reply = json!({"taskId": "t", "id": "c", "url": "https://w.test"});
        let mut peer = Peer::start([json_body(201, &reply)]).await;
        let client = peer.client(Binding::HttpJson);
        assert_eq!(client.create_push_config(config).await.unwrap().id, "c");
        let request = peer.request().await;
        assert_eq!(
            request.line,
            "POST /a2a/t%2F1/tasks/t/pushNotificationConfigs"
        );
        assert_eq!(request.json()["taskId"], "t");
    });
}

#[test]
fn w60_ids_that_the_client_makes_fit_into_a_column_of_a_uuid() {
    run(async {
        let mut peer = Peer::start([json_body(200, &result(1, &task("COMPLETED")))]).await;
        peer.client(Binding::JsonRpc).send_text("hi").await.unwrap();
        let message = peer.request().await.json()["params"]["message"].clone();
        assert_eq!(message["messageId"].as_str().unwrap().len(), 36);
    });
}

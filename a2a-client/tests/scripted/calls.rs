use std::sync::Arc;
use std::time::Duration;

use a2a_client::proto::v1::{
    AgentCapabilities, CancelTaskRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, TaskPushNotificationConfig, TaskState,
};
use a2a_client::proto::{Call, Reply};
use a2a_client::{Binding, CallContext, Client, ErrorCode, Interceptor, Next, Result, async_trait};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::peer::{Peer, Request, Step, json_body, result, task, text, whole};
use crate::run;

/// Makes every unary call, whatever comes of it.
async fn call_all(client: &Client) {
    let config = TaskPushNotificationConfig {
        task_id: "t".into(),
        url: "https://w.test".into(),
        ..Default::default()
    };
    let list = ListTaskPushNotificationConfigsRequest {
        task_id: "t".into(),
        ..Default::default()
    };
    client.send_text("hi").await.unwrap();
    client.get_task("t").await.unwrap();
    client
        .list_tasks(ListTasksRequest::default())
        .await
        .unwrap();
    client.cancel_task("t").await.unwrap();
    client.create_push_config(config).await.unwrap();
    client.get_push_config("t", "c").await.unwrap();
    client.list_push_configs(list).await.unwrap();
    client.delete_push_config("t", "c").await.unwrap();
    client.get_extended_agent_card().await.unwrap();
}

/// The answers to [`call_all`].
fn replies() -> [Value; 9] {
    let bare = task("WORKING")["task"].clone();
    let config = json!({"taskId": "t", "id": "c", "url": "https://w.test"});
    [
        task("COMPLETED"),
        bare.clone(),
        json!({"tasks": null, "nextPageToken": ""}),
        bare,
        config.clone(),
        config.clone(),
        json!({"configs": [config]}),
        Value::Null,
        json!({"name": "extended", "securityRequirements": [{"schemes": {"k": ["bare list"]}}]}),
    ]
}

#[test]
fn ten_01_jrpc_17_every_json_rpc_call_carries_version_and_tenant() {
    run(async {
        let script = replies()
            .into_iter()
            .zip(1..)
            .map(|(reply, id)| json_body(200, &result(id, &reply)));
        let mut peer = Peer::start(script).await;
        let client = peer.client(Binding::JsonRpc);
        call_all(&client).await;
        assert_eq!(client.card().unwrap().name, "extended");
        for (id, method) in [
            "SendMessage",
            "GetTask",
            "ListTasks",
            "CancelTask",
            "CreateTaskPushNotificationConfig",
            "GetTaskPushNotificationConfig",
            "ListTaskPushNotificationConfigs",
            "DeleteTaskPushNotificationConfig",
            "GetExtendedAgentCard",
        ]
        .into_iter()
        .enumerate()
        {
            let request = peer.request().await;
            let body = request.json();
            assert_eq!(request.line, "POST /a2a");
            assert_eq!(request.header("a2a-version"), "1.0");
            assert_eq!(request.header("content-type"), "application/json");
            assert_eq!(
                (&body["method"], &body["id"]),
                (&json!(method), &json!(id + 1))
            );
            assert_eq!(body["params"]["tenant"], "t/1", "{method}");
        }
    });
}

#[test]
fn ten_02_rest_01_every_rest_call_has_verb_path_and_tenant() {
    run(async {
        let script = replies()
            .into_iter()
            .enumerate()
            .map(|(index, reply)| match index {
                4 => json_body(201, &reply),
                7 => whole(204, "", ""),
                _ => whole(
                    200,
                    "application/a2a+json; charset=utf-8",
                    reply.to_string(),
                ),
            });
        let mut peer = Peer::start(script).await;
        call_all(&peer.client(Binding::HttpJson)).await;
        for (line, body) in [
            ("POST /a2a/t%2F1/message:send", true),
            ("GET /a2a/t%2F1/tasks/t", false),
            ("GET /a2a/t%2F1/tasks", false),
            ("POST /a2a/t%2F1/tasks/t:cancel", true),
            ("POST /a2a/t%2F1/tasks/t/pushNotificationConfigs", true),
            ("GET /a2a/t%2F1/tasks/t/pushNotificationConfigs/c", false),
            ("GET /a2a/t%2F1/tasks/t/pushNotificationConfigs", false),
            ("DELETE /a2a/t%2F1/tasks/t/pushNotificationConfigs/c", false),
            ("GET /a2a/t%2F1/extendedAgentCard", false),
        ] {
            let request = peer.request().await;
            assert_eq!(request.line, line);
            assert_eq!(request.header("a2a-version"), "1.0");
            assert_eq!(!request.body.is_empty(), body, "{line}");
            assert!(!body || request.json().get("tenant").is_none(), "{line}");
        }
    });
}

#[test]
fn a_request_keeps_its_own_tenant() {
    run(async {
        let bare = &task("WORKING")["task"];
        let mut peer = Peer::start([
            json_body(200, &result(1, bare)),
            json_body(200, &result(2, bare)),
        ])
        .await;
        let client = peer.client(Binding::JsonRpc);
        let own = GetTaskRequest {
            tenant: "own".into(),
            ..GetTaskRequest::new("t")
        };
        client.get_task(own).await.unwrap();
        assert_eq!(peer.request().await.json()["params"]["tenant"], "own");
        let mut context = client.context().clone();
        context.set_tenant("mine");
        client.with_context(context).get_task("t").await.unwrap();
        assert_eq!(peer.request().await.json()["params"]["tenant"], "mine");
    });
}

/// What one JSON-RPC call comes to.
async fn json_rpc(answer: Vec<Step>) -> Result<a2a_client::proto::v1::Task> {
    let peer = Peer::start([answer]).await;
    peer.client(Binding::JsonRpc).get_task("t").await
}

#[test]
fn w12_errors_of_json_rpc_come_with_any_status() {
    run(async {
        let error =
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "gone"}});
        for status in [200, 400, 404, 500] {
            let error = json_rpc(json_body(status, &error)).await.unwrap_err();
            assert_eq!(error.code(), Some(ErrorCode::TaskNotFound));
            assert_eq!(error.protocol().unwrap().message(), "gone");
            assert_eq!(error.http_status().unwrap(), status);
        }
        let bare = &task("WORKING")["task"];
        assert!(json_rpc(json_body(201, &result(1, bare))).await.is_ok());
    });
}

#[test]
fn w33_pages_are_no_crash_and_no_task_not_found() {
    run(async {
        let error = json_rpc(whole(404, "text/html", "<html>"))
            .await
            .unwrap_err();
        assert_eq!((error.code(), error.protocol().is_none()), (None, true));
        assert_eq!(error.http_status().unwrap(), 404);
        assert!(
            json_rpc(whole(200, "text/html", "<html>"))
                .await
                .unwrap_err()
                .is_decode()
        );
        assert!(
            json_rpc(whole(503, "text/plain", "busy"))
                .await
                .unwrap_err()
                .is_retryable()
        );
        let error = json_rpc(whole(413, "text/html", "<html>"))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::ResourceExhausted));
    });
}

#[test]
fn a_peer_that_is_busy_says_when_to_come_again() {
    run(async {
        let busy = |body: &str| {
            let length = body.len();
            vec![text(&format!(
                "HTTP/1.1 503 X\r\nretry-after: 7\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            ))]
        };
        let error =
            json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}).to_string();
        for body in [error.as_str(), "busy"] {
            let peer = Peer::start([busy(body)]).await;
            let error = peer
                .client(Binding::HttpJson)
                .get_task("t")
                .await
                .unwrap_err();
            assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
            assert!(error.is_retryable());
        }
        let error = json_rpc(busy("busy")).await.unwrap_err();
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    });
}

#[test]
fn jrpc_15_the_answer_to_another_request_is_refused() {
    run(async {
        let bare = &task("WORKING")["task"];
        assert!(
            json_rpc(json_body(200, &result(7, bare)))
                .await
                .unwrap_err()
                .is_decode()
        );
        let as_text = json!({"jsonrpc": "2.0", "id": "1", "result": bare});
        assert_eq!(
            json_rpc(json_body(200, &as_text)).await.unwrap().state(),
            TaskState::Working
        );
    });
}

#[test]
fn a_reply_of_0_3_is_told_as_such() {
    run(async {
        let old =
            json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}});
        let error = json_rpc(json_body(200, &result(1, &old)))
            .await
            .unwrap_err();
        assert!(error.peer_speaks().is_some(), "{error}");
    });
}

#[test]
fn an_answer_that_breaks_off_or_exceeds_the_limit_is_an_error() {
    run(async {
        let short = text(
            "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{\"id\"",
        );
        let error = json_rpc(vec![short]).await.unwrap_err();
        assert!(!error.is_decode() && !error.is_retryable(), "{error:?}");
        let peer = Peer::start([whole(200, "application/json", vec![b' '; 4096])]).await;
        let builder = Client::builder().max_message_bytes(1024);
        let client = builder.from_card(peer.card(Binding::JsonRpc)).unwrap();
        assert!(client.get_task("t").await.unwrap_err().is_decode());
    });
}

#[test]
fn bad_manners_end_in_typed_errors() {
    run(async {
        let head = "HTTP/1.1 200 X\r\ncontent-type: application/json\r\n";
        let endless_header = std::iter::once(text(head))
            .chain((0..100).map(|n| text(&format!("x-{n}: {}\r\n", "y".repeat(9000)))));
        let gzip = text(&format!(
            "{head}content-encoding: gzip\r\ncontent-length: 4\r\nconnection: close\r\n\r\n\x1f\x08ab"
        ));
        for (answer, decode) in [
            (vec![], false),
            (vec![text("SSH-2.0-x\r\n")], false),
            (vec![text("HTTP/1.1 200")], false),
            (endless_header.collect(), false),
            (vec![gzip], true),
        ] {
            let error = json_rpc(answer).await.unwrap_err();
            assert_eq!(error.is_decode(), decode, "{error:?}");
            assert!(
                !error.is_retryable() && !error.is_connect(),
                "the message may have arrived: {error:?}"
            );
        }
    });
}

#[test]
fn rest_13_errors_of_rest_are_typed_whatever_their_media_type() {
    run(async {
        let details = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_CANCELABLE",
            "domain": "a2a-protocol.org"}]);
        let nested = json!({"error": {"code": 409, "status": "FAILED_PRECONDITION", "message": "m", "details": details}});
        for media_type in [
            "application/json",
            "application/a2a+json",
            "application/problem+json",
            "",
        ] {
            let peer = Peer::start([whole(409, media_type, nested.to_string())]).await;
            let error = peer
                .client(Binding::HttpJson)
                .cancel_task("t")
                .await
                .unwrap_err();
            assert_eq!(error.code(), Some(ErrorCode::TaskNotCancelable));
            assert!(error.protocol().is_some());
        }
        let peer = Peer::start([whole(404, "text/plain", "Not Found")]).await;
        let error = peer
            .client(Binding::HttpJson)
            .get_task("t")
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), error.http_status().unwrap().as_u16()),
            (None, 404)
        );
    });
}

#[test]
fn card_14_what_the_card_rules_out_is_not_sent() {
    run(async {
        let peer = Peer::start([]).await;
        let mut card = peer.card(Binding::JsonRpc);
        card.capabilities = Some(AgentCapabilities::default());
        let client = Client::from_card(card).unwrap();
        let streaming = client.stream_text("hi").await.unwrap_err();
        let subscribing = client.subscribe_to_task("t").await.unwrap_err();
        let extended = client.get_extended_agent_card().await.unwrap_err();
        for error in [streaming, subscribing, extended] {
            assert_eq!(error.code(), Some(ErrorCode::UnsupportedOperation));
            assert!(error.protocol().is_none(), "the peer was not asked");
        }
        let push = client.delete_push_config("t", "c").await.unwrap_err();
        assert_eq!(push.code(), Some(ErrorCode::PushNotificationNotSupported));
        assert_eq!(peer.waiting(), 0);
    });
}

#[test]
fn a_deadline_ends_a_call_and_says_so() {
    run(async {
        let mut peer = Peer::start([vec![Step::UntilClosed]]).await;
        let client = peer
            .client(Binding::JsonRpc)
            .with_timeout(Duration::from_millis(50));
        let error = client.send_text("hi").await.unwrap_err();
        assert!(error.is_timeout() && !error.is_retryable(), "{error:?}");
        assert!(
            error.to_string().starts_with("SendMessage: time ran out"),
            "{error}"
        );
        peer.request().await;
    });
}

struct Recorder(Arc<Mutex<Vec<String>>>, &'static str);

#[async_trait]
impl Interceptor for Recorder {
    async fn unary(&self, mut call: Call, cx: &mut CallContext, next: Next<'_>) -> Result<Reply> {
        self.0.lock().await.push(format!("{} before", self.1));
        cx.headers_mut().append("x-seen", self.1.parse().unwrap());
        if let Call::CancelTask(request) = &mut call {
            request.id.push_str(self.1);
        }
        let reply = next.run(call, cx).await;
        let activated = cx.activated_extensions().to_string();
        self.0
            .lock()
            .await
            .push(format!("{} after {activated}", self.1));
        reply
    }
}

#[test]
fn interceptors_stand_around_the_call_in_order() {
    run(async {
        let body = result(1, &task("CANCELED")["task"]).to_string();
        let head = format!(
            "HTTP/1.1 200 X\r\na2a-extensions: u1\r\nA2A-Extensions: u2, u1\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let mut peer = Peer::start([vec![text(&head), text(&body)]]).await;
        let log = Arc::new(Mutex::new(Vec::new()));
        let client = Client::builder()
            .interceptor(Recorder(Arc::clone(&log), "a"))
            .interceptor(Recorder(Arc::clone(&log), "b"))
            .from_card(peer.card(Binding::JsonRpc))
            .unwrap();
        client
            .cancel_task(CancelTaskRequest::new("t"))
            .await
            .unwrap();
        let request: Request = peer.request().await;
        assert_eq!(request.headers["x-seen"], ["a", "b"]);
        assert_eq!(request.json()["params"]["id"], "tab");
        assert_eq!(
            *log.lock().await,
            ["a before", "b before", "b after u1,u2", "a after u1,u2"]
        );
    });
}

#[test]
fn rest_08_a_deletion_has_succeeded_with_any_status_and_body_that_say_so() {
    run(async {
        let answers = [
            json_body(200, &json!({})),
            whole(200, "", ""),
            whole(204, "", ""),
            whole(202, "application/a2a+json", "{}"),
        ];
        let count = answers.len();
        let peer = Peer::start(answers).await;
        let client = peer.client(Binding::HttpJson);
        for _ in 0..count {
            client.delete_push_config("t", "c").await.unwrap();
        }
        let peer = Peer::start([json_body(201, &task("WORKING")["task"])]).await;
        let read = peer.client(Binding::HttpJson).get_task("t").await;
        assert_eq!(read.unwrap().state(), TaskState::Working);
    });
}

#[test]
fn ext_card_04_the_extended_card_takes_the_place_of_the_public_one() {
    run(async {
        let extended = json!({"name": "extended", "capabilities": {"extendedAgentCard": true}});
        let peer = Peer::start([json_body(200, &extended)]).await;
        let client = peer.client(Binding::HttpJson);
        let clone = client.clone();
        assert_eq!(client.card().unwrap().name, "scripted");
        client.get_extended_agent_card().await.unwrap();
        assert_eq!(clone.card().unwrap().name, "extended");
        // It says that it does not stream, and counts from now on.
        let refused = clone.stream_text("hi").await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::UnsupportedOperation));
    });
}

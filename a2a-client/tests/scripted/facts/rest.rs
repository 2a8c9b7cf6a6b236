use a2a_client::proto::v1::{ListTasksRequest, TaskPushNotificationConfig, TaskState};
use a2a_client::{Binding, Client};
use serde_json::{Value, json};

use super::get;
use crate::peer::{Peer, events, frame, json_body, task, whole};
use crate::run;

fn bare() -> Value {
    task("WORKING")["task"].clone()
}

#[test]
fn w24_successes_are_read_whatever_their_type() {
    run(async {
        for media_type in [
            "application/a2a+json",
            "application/a2a+json; charset=utf-8",
            "application/json",
            "Application/JSON;charset=UTF-8",
        ] {
            let found = get(
                Binding::HttpJson,
                whole(200, media_type, bare().to_string()),
            )
            .await;
            assert_eq!(found.unwrap().state(), TaskState::Working, "{media_type}");
        }
    });
}

#[test]
fn w26_every_status_of_success_is_one_and_a_deletion_may_have_no_body() {
    let config = || TaskPushNotificationConfig {
        task_id: "t".into(),
        url: "https://w.test".into(),
        ..Default::default()
    };
    let stored = json!({"taskId": "t", "id": "c", "url": "https://w.test"});
    run(async {
        for status in [200, 201] {
            let peer = Peer::start([json_body(status, &stored)]).await;
            let found = peer
                .client(Binding::HttpJson)
                .create_push_config(config())
                .await;
            assert_eq!(found.unwrap().id, "c");
        }
        for answer in [
            json_body(200, &json!({})),
            whole(200, "", ""),
            whole(200, "application/json", ""),
            whole(204, "", ""),
        ] {
            let peer = Peer::start([answer]).await;
            let outcome = peer
                .client(Binding::HttpJson)
                .delete_push_config("t", "c")
                .await;
            assert!(outcome.is_ok(), "{outcome:?}");
        }
    });
}

#[test]
fn w29_a_subscription_is_a_post_and_cancel_is_one_with_a_small_body() {
    run(async {
        let mut peer = Peer::start([
            events([frame(&task("COMPLETED"))]),
            json_body(200, &task("CANCELED")["task"]),
        ])
        .await;
        let client = peer.client(Binding::HttpJson);
        client
            .subscribe_to_task("t")
            .await
            .unwrap()
            .into_task()
            .await
            .unwrap();
        client.cancel_task("t").await.unwrap();
        assert_eq!(
            peer.request().await.line,
            "POST /a2a/t%2F1/tasks/t:subscribe"
        );
        let cancel = peer.request().await;
        assert_eq!(cancel.line, "POST /a2a/t%2F1/tasks/t:cancel");
        assert!(cancel.json().is_object());
    });
}

#[test]
fn w30_w32_the_tenant_is_one_segment_ids_are_escaped_and_the_colon_is_not() {
    run(async {
        let answers = (0..3).map(|_| json_body(200, &bare()));
        let mut peer = Peer::start(answers).await;
        let mut card = peer.card(Binding::HttpJson);
        card.supported_interfaces[0].tenant = "acme/eu west".to_owned();
        let client = Client::from_card(card).unwrap();
        client.get_task("a/b?c#d:e").await.unwrap();
        client.cancel_task("a b%").await.unwrap();
        client.get_task("\u{e9}").await.unwrap();
        for line in [
            "GET /a2a/acme%2Feu%20west/tasks/a%2Fb%3Fc%23d:e",
            "POST /a2a/acme%2Feu%20west/tasks/a%20b%25:cancel",
            "GET /a2a/acme%2Feu%20west/tasks/%C3%A9",
        ] {
            let request = peer.request().await;
            assert_eq!(request.line.replace("%3A", ":"), line);
            // The colon of the verb stays one.
            assert!(!request.line.ends_with("%3Acancel"), "{}", request.line);
        }
    });
}

#[test]
fn w31_w48_the_query_of_a_list_has_the_names_of_the_protocol_and_escapes_its_token() {
    run(async {
        let mut peer = Peer::start([json_body(200, &json!({"tasks": []}))]).await;
        let request = ListTasksRequest {
            context_id: "c d".into(),
            status: TaskState::Working.into(),
            page_size: Some(20),
            page_token: "a+b/c==".into(),
            history_length: Some(0),
            status_timestamp_after: Some("2026-01-02T03:04:05Z".parse().unwrap()),
            include_artifacts: Some(true),
            ..Default::default()
        };
        peer.client(Binding::HttpJson)
            .list_tasks(request)
            .await
            .unwrap();
        let line = peer.request().await.line;
        let (path, query) = line.split_once('?').unwrap();
        assert_eq!(path, "GET /a2a/t%2F1/tasks");
        let mut pairs: Vec<&str> = query.split('&').collect();
        pairs.sort_unstable();
        assert_eq!(
            pairs.map_with(|pair| pair.replace("%3A", ":").replace("+d", "%20d")),
            [
                "contextId=c%20d",
                "historyLength=0",
                "includeArtifacts=true",
                "pageSize=20",
                "pageToken=a%2Bb%2Fc%3D%3D",
                "status=TASK_STATE_WORKING",
                "statusTimestampAfter=2026-01-02T03:04:05Z",
            ]
        );
    });
}

trait MapWith<'a> {
    fn map_with(&self, change: impl Fn(&'a str) -> String) -> Vec<String>;
}

impl<'a> MapWith<'a> for Vec<&'a str> {
    fn map_with(&self, change: impl Fn(&'a str) -> String) -> Vec<String> {
        self.iter().map(|pair| change(pair)).collect()
    }
}

#[test]
fn w10_activated_extensions_stand_in_the_headers_of_http_or_nowhere() {
    use crate::peer::text;
    run(async {
        for binding in super::BINDINGS {
            let event = match binding {
                Binding::JsonRpc => crate::peer::result(1, &task("COMPLETED")),
                _ => task("COMPLETED"),
            };
            let body = format!("data: {event}\n\n");
            for (headers, expected) in [
                (
                    "A2A-Extensions: https://e.test/1\r\nA2A-Extensions: https://e.test/2\r\n",
                    "https://e.test/1,https://e.test/2",
                ),
                (
                    "a2a-extensions: https://e.test/1, https://e.test/2\r\n",
                    "https://e.test/1,https://e.test/2",
                ),
                ("", ""),
            ] {
                let answer = text(&format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
                    body.len()
                ));
                let peer = Peer::start([vec![answer]]).await;
                let stream = peer.client(binding).stream_text("hi").await.unwrap();
                assert_eq!(stream.activated_extensions().to_string(), expected);
                assert!(stream.into_task().await.is_ok());
            }
        }
    });
}

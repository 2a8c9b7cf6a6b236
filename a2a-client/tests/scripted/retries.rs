//! Calls that are made again, and messages that are not.

use std::time::Duration;

use a2a_client::proto::v1::TaskState;
use a2a_client::{Binding, Client, Retries};

use crate::peer::{Answer, Peer, events, frame, json_body, status, task, whole};
use crate::run;

fn client(peer: &Peer, retries: Retries) -> Client {
    let card = peer.card(Binding::HttpJson);
    Client::builder().retries(retries).from_card(card).unwrap()
}

fn busy() -> Answer {
    whole(503, "text/plain", "busy")
}

fn broken() -> Answer {
    Vec::new()
}

#[test]
fn a_read_is_made_again_however_it_broke() {
    run(async {
        let read = json_body(200, &task("WORKING")["task"]);
        let mut peer = Peer::start([broken(), busy(), read]).await;
        let found = client(&peer, Retries::new()).get_task("t").await.unwrap();
        assert_eq!(found.state(), TaskState::Working);
        for _ in 0..3 {
            assert!(peer.request().await.line.starts_with("GET "));
        }
    });
}

#[test]
fn a_message_is_made_again_only_where_it_was_turned_away() {
    run(async {
        let done = events([frame(&status("COMPLETED"))]);
        let mut peer = Peer::start([busy(), done]).await;
        let client = client(&peer, Retries::new());
        let stream = client.stream_text("hi").await.unwrap();
        assert_eq!(
            stream.into_task().await.unwrap().state(),
            TaskState::Completed
        );
        let ids = [peer.request().await, peer.request().await]
            .map(|request| request.json()["message"]["messageId"].clone());
        assert_eq!(ids[0], ids[1], "it is the same message");

        let mut peer = Peer::start([broken()]).await;
        let client = self::client(&peer, Retries::new());
        let error = client.send_text("hi").await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{error:?}");
        peer.request().await;
        assert_eq!(peer.waiting(), 0);
    });
}

#[test]
fn attempts_are_counted_and_the_last_error_is_told() {
    run(async {
        let mut peer = Peer::start([busy(), busy()]).await;
        let error = client(&peer, Retries::new().attempts(2))
            .get_task("t")
            .await
            .unwrap_err();
        assert_eq!(error.http_status().unwrap().as_u16(), 503);
        peer.request().await;
        peer.request().await;
        let peer = Peer::start([busy()]).await;
        let hurried = Retries::new().within(Duration::ZERO);
        client(&peer, hurried).get_task("t").await.unwrap_err();
    });
}

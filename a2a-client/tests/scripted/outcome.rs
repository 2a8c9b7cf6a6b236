//! Messages of which nobody knows whether they arrived.

use std::time::Duration;

use a2a_client::{Binding, Client, Error};
use serde_json::json;

use crate::peer::{Answer, Peer, Step, cut_events, frame, json_body, task, whole};
use crate::run;

async fn sent(answer: Answer) -> Error {
    let peer = Peer::start([answer]).await;
    let client = peer
        .client(Binding::HttpJson)
        .with_timeout(Duration::from_millis(200));
    client.send_text("hi").await.unwrap_err()
}

#[test]
fn a_message_without_an_answer_may_have_arrived() {
    run(async {
        let silent = vec![Step::UntilClosed];
        let cut = vec![Step::Write(
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec(),
        )];
        let proxies = [502, 504].map(|status| whole(status, "text/html", "<p>"));
        for answer in [silent, cut].into_iter().chain(proxies) {
            let error = sent(answer).await;
            assert!(error.is_outcome_unknown(), "{error:?}");
            assert!(!error.is_retryable(), "{error:?}");
        }
    });
}

#[test]
fn a_message_that_was_refused_or_never_left_did_not() {
    run(async {
        let refused =
            json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no"}});
        for answer in [json_body(400, &refused), whole(503, "text/plain", "busy")] {
            let error = sent(answer).await;
            assert!(!error.is_outcome_unknown(), "{error:?}");
        }
        let nobody = Client::builder().from_endpoint(Binding::HttpJson, "http://127.0.0.1:9");
        let error = nobody.unwrap().send_text("hi").await.unwrap_err();
        assert!(
            error.is_connect() && !error.is_outcome_unknown(),
            "{error:?}"
        );
    });
}

#[test]
fn a_stream_that_told_of_its_task_is_cut_and_not_unknown() {
    run(async {
        for (answer, unknown) in [
            (cut_events([]), true),
            (cut_events([frame(&task("WORKING"))]), false),
        ] {
            let peer = Peer::start([answer]).await;
            let stream = peer.client(Binding::HttpJson).stream_text("hi").await;
            let error = stream.unwrap().into_task().await.unwrap_err();
            assert!(error.is_cut(), "{error:?}");
            assert_eq!(error.is_outcome_unknown(), unknown, "{error:?}");
        }
        let peer = Peer::start([vec![Step::UntilClosed]]).await;
        let client = peer
            .client(Binding::HttpJson)
            .with_timeout(Duration::from_millis(200));
        let error = client.get_task("t").await.unwrap_err();
        assert!(!error.is_outcome_unknown(), "a read changes nothing");
    });
}

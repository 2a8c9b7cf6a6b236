use base64::Engine as _;
use serde_json::{Value, json};

use super::{agent, error, message, result, send, web};
use crate::support::{CURRENT, within};

#[tokio::test]
async fn w43_every_timestamp_that_is_sent_has_its_zone_and_every_zone_is_read() {
    within(async {
        let server = agent().await;
        let task = send(&server, "hi").await;
        let timestamp = task["status"]["timestamp"].as_str().unwrap();
        assert!(
            timestamp.ends_with('Z') && timestamp.contains('T'),
            "{timestamp}"
        );
        for after in [
            "2020-01-02T03:04:05.123456789+02:00",
            "2020-01-02T03:04:05.123456Z",
            "2020-01-02T03:04:05Z",
        ] {
            let listed = result(
                &server,
                "ListTasks",
                &json!({"statusTimestampAfter": after}),
            )
            .await;
            assert_eq!(listed["totalSize"], 1, "{after}");
        }
        for after in [
            json!("2020-01-02T03:04:05"),
            json!("2020-01-02 03:04:05Z"),
            json!(""),
        ] {
            let error = error(
                &server,
                "ListTasks",
                &json!({"statusTimestampAfter": after}),
            )
            .await;
            assert_eq!(error["code"], -32602, "{after}");
            assert!(
                error.to_string().contains("status_timestamp_after"),
                "{error}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn w44_bytes_are_written_as_standard_base64_and_read_in_four_forms() {
    within(async {
        let server = agent().await;
        for written in ["+/8=", "-_8=", "+/8", "-_8"] {
            let mut sent = message("hi");
            sent["parts"]
                .as_array_mut()
                .unwrap()
                .push(json!({"raw": written}));
            let task =
                result(&server, "SendMessage", &json!({"message": sent})).await["task"].clone();
            assert_eq!(task["history"][0]["parts"][1]["raw"], "+/8=", "{written}");
        }
        let bytes = base64::engine::general_purpose::STANDARD
            .decode("+/8=")
            .unwrap();
        assert_eq!(bytes, [0xfb, 0xff]);
    })
    .await;
}

#[tokio::test]
async fn w45_w46_what_an_agent_says_reads_for_every_client() {
    within(async {
        let server = agent().await;
        let params = json!({"message": message("data")});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
        let text = web(&server)
            .post("/", CURRENT, body.to_string())
            .await
            .text();
        // No `.0` behind an integer, and null stays where it was.
        assert!(
            text.contains(r#""n":1"#) && !text.contains("1.0,"),
            "{text}"
        );
        let task: Value = serde_json::from_str(&text).unwrap();
        let parts = task["result"]["task"]["artifacts"][0]["parts"]
            .as_array()
            .unwrap()
            .clone();
        let data = json!({"n": 1, "f": 0.5, "z": null, "l": [], "big": 9_007_199_254_740_991_u64});
        assert_eq!(parts[0], json!({"data": data}));
        // Each part has exactly one of its keys: the Go client fails the whole reply on none and on two.
        for part in &parts {
            let keys = ["text", "raw", "url", "data"]
                .iter()
                .filter(|key| part.get(**key).is_some());
            assert_eq!(keys.count(), 1, "{part}");
        }
        assert_eq!(parts[2], json!({"text": ""}));
    })
    .await;
}

#[tokio::test]
async fn w46_a_part_with_nothing_in_it_is_refused_by_its_place_and_an_empty_text_is_one() {
    within(async {
        let server = agent().await;
        let with = |part: Value| {
            let mut sent = message("hi");
            sent["parts"].as_array_mut().unwrap().push(part);
            json!({"message": sent})
        };
        for empty in [json!({}), json!({"filename": "a"})] {
            let error = error(&server, "SendMessage", &with(empty)).await;
            assert!(
                error["message"]
                    .as_str()
                    .unwrap()
                    .contains("message.parts[1]"),
                "{error}"
            );
        }
        for taken in [
            json!({"text": ""}),
            json!({"text": "x", "raw": "", "url": ""}),
            json!({"data": null}),
        ] {
            let sent = result(&server, "SendMessage", &with(taken.clone())).await;
            assert!(
                sent["task"]["history"][0]["parts"][1].is_object(),
                "{taken}"
            );
        }
        let two = error(
            &server,
            "SendMessage",
            &with(json!({"text": "a", "url": "u"})),
        )
        .await;
        assert_eq!(two["code"], -32602, "{two}");
    })
    .await;
}

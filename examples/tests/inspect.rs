//! Runs `inspect` on good and bad documents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::{Command, Output};

fn inspect(name: &str, document: &str) -> (Option<i32>, String) {
    let path = std::env::temp_dir().join(format!("inspect-{}-{name}.json", std::process::id()));
    fs::write(&path, document).unwrap();
    let Output { status, stdout, .. } = Command::new(env!("CARGO_BIN_EXE_inspect"))
        .arg(&path)
        .output()
        .unwrap();
    fs::remove_file(path).unwrap();
    (status.code(), String::from_utf8(stdout).unwrap())
}

#[test]
fn a_card_is_shown_and_its_faults_are_named() {
    let card = r#"{
        "name": "echo", "description": "Says what it hears", "version": "1.2.0",
        "supportedInterfaces": [{"url": "https://e.test", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": [],
        "skills": [{"id": "echo", "name": "Echo", "description": "Repeats", "tags": ["text"]}]
    }"#;
    let (code, shown) = inspect("card", card);
    assert_eq!(code, Some(0), "{shown}");
    for line in [
        "Agent card: echo 1.2.0",
        "  speaks JSONRPC 1.0 at https://e.test",
        "  yes: streams",
        "  skill echo: Echo [text]",
        "Nothing is wrong with it.",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "no {line:?} in {shown}"
        );
    }

    let (code, shown) = inspect("bad-card", &card.replace(r#""id": "echo", "#, ""));
    assert_eq!(code, Some(1), "{shown}");
    assert!(
        shown.ends_with("Wrong with it:\n  skills[0].id: is required\n"),
        "{shown}"
    );
}

#[test]
fn messages_are_told_apart() {
    for (name, document, first, code) in [
        (
            "request",
            r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},"configuration":{}}"#,
            "Request to send a message",
            0,
        ),
        (
            "task",
            r#"{"id":"t1","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}"#,
            "Task t1: input required",
            0,
        ),
        (
            "event",
            r#"{"artifactUpdate":{"taskId":"t1","contextId":"c","append":true,"artifact":{"artifactId":"a","parts":[]}}}"#,
            "Task t1 has more of",
            0,
        ),
        (
            "config",
            r#"{"url":"https://h.test","token":"hidden"}"#,
            "TaskPushNotificationConfig {",
            0,
        ),
        (
            "wrong-type",
            r#"{"message":{"parts":[{"text":1}]}}"#,
            "message.parts[0].text: invalid type: integer `1`, expected a string",
            1,
        ),
        (
            "stranger",
            r#"{"hello":"world"}"#,
            "This is no message of A2A 1.0.",
            1,
        ),
        ("no-json", "<html>", "", 1),
    ] {
        let (status, shown) = inspect(name, document);
        assert_eq!(status, Some(code), "{name}: {shown}");
        assert!(shown.starts_with(first), "{name}: {shown}");
        assert!(!shown.contains("hidden"), "{name}: {shown}");
    }
}

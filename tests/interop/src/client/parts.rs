//! What messages and artifacts hold.

use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Artifact, Message, Part, Role, TaskState};
use serde_json::Value;

use super::support::*;
use crate::values::{self, FILE_URL, UNICODE};

const FIVE_MIB: usize = 5 * 1024 * 1024;

pub(crate) async fn file(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "file").await?;
    let [raw, url] = artifact(&task, "file")?.parts.as_slice() else {
        return Err(Failure::Failed("there are not two parts".to_owned()));
    };
    let bytes = raw.as_raw().map(|bytes| bytes.to_vec());
    same("the bytes", bytes, Some(values::bytes()))?;
    same("the name", raw.filename.as_str(), "bytes.bin")?;
    let media_type = raw.media_type.as_str();
    same("the type", media_type, "application/octet-stream")?;
    same("the url", url.as_url(), Some(FILE_URL))?;
    same("its name", url.filename.as_str(), "a.png")?;
    same("its type", url.media_type.as_str(), "image/png")
}

pub(crate) async fn data(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "data").await?;
    let found = artifact(&task, "data")?.parts.first();
    let found = found.and_then(Part::as_data);
    let expected = values::data();
    check(found.is_some_and(|found| equal(found, &expected)), || {
        format!("{found:?} and not {expected}")
    })
}

/// Compares numbers by what they are worth: some SDKs print 42 as 42.0.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => one == other,
    }
}

pub(crate) async fn echo(peer: &Peer) -> Verdict {
    let sent = [
        Part::text("echo hello"),
        Part::raw(values::bytes()).with_filename("bytes.bin"),
        Part::url(FILE_URL).with_media_type("image/png"),
        Part::data(values::data()),
    ];
    let task = completed(&peer.client, Message::new(Role::User, sent)).await?;
    let [text, raw, url, data] = artifact(&task, "echo")?.parts.as_slice() else {
        return Err(Failure::Failed("there are not four parts".to_owned()));
    };
    same("the text", text.as_text(), Some("hello"))?;
    let bytes = raw.as_raw().map(|bytes| bytes.to_vec());
    same("the bytes", bytes, Some(values::bytes()))?;
    same("the url", url.as_url(), Some(FILE_URL))?;
    let found = data.as_data();
    check(
        found.is_some_and(|found| equal(found, &values::data())),
        || format!("the data: {found:?}"),
    )
}

pub(crate) async fn unicode(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, format!("echo {UNICODE}")).await?;
    same("the text", artifact_text(&task, "echo")?.as_str(), UNICODE)
}

pub(crate) async fn empty_text(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "echo ").await?;
    let [part] = artifact(&task, "echo")?.parts.as_slice() else {
        return Err(Failure::Failed("there is not one part".to_owned()));
    };
    same("the text", part.as_text(), Some(""))
}

pub(crate) async fn big_reply(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, format!("big {FIVE_MIB}")).await?;
    is_big(&artifact_text(&task, "big")?)
}

pub(crate) async fn big_request(peer: &Peer) -> Verdict {
    let text = "x".repeat(FIVE_MIB);
    let task = completed(&peer.client, format!("echo {text}")).await?;
    is_big(&artifact_text(&task, "echo")?)
}

pub(crate) async fn big_stream(peer: &Peer) -> Verdict {
    let mut events = peer.client.stream_text(format!("big {FIVE_MIB}")).await?;
    let task = folded(&rest(&mut events).await?, TaskState::Completed)?;
    is_big(&artifact_text(&task, "big")?)
}

fn is_big(text: &str) -> Verdict {
    same("the length", text.len(), FIVE_MIB)?;
    check(text.bytes().all(|byte| byte == b'x'), || {
        "there are other letters than x".to_owned()
    })
}

pub(crate) async fn message_unary(peer: &Peer) -> Verdict {
    let answer = peer.client.send_text("message hi").await?;
    let text = answer.as_message().map(Message::text);
    same("the message", text.as_deref(), Some("hi"))
}

pub(crate) async fn message_stream(peer: &Peer) -> Verdict {
    let mut events = peer.client.stream_text("message hi").await?;
    let events = rest(&mut events).await?;
    let [event] = events.as_slice() else {
        return Err(Failure::Failed(format!("{} events", events.len())));
    };
    match &event.payload {
        Some(Payload::Message(message)) => same("the message", message.text().as_str(), "hi"),
        other => Err(Failure::Failed(format!("no message but {other:?}"))),
    }
}

pub(crate) async fn artifacts_many(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "artifacts 20").await?;
    let found: Vec<String> = task.artifacts.iter().map(Artifact::text).collect();
    let expected: Vec<String> = (0..20).map(|index| format!("artifact {index}")).collect();
    same("the artifacts", found, expected)?;
    for (index, artifact) in task.artifacts.iter().enumerate() {
        check(is_named(artifact, &format!("a{index}")), || {
            format!("artifact {index} is {}", artifact.artifact_id)
        })?;
    }
    Ok(())
}

pub(crate) async fn artifacts_appends(peer: &Peer) -> Verdict {
    let task = completed(&peer.client, "appends").await?;
    same("the number of artifacts", task.artifacts.len(), 2)?;
    same("a", artifact_text(&task, "a")?.as_str(), "a1a2")?;
    same("b", artifact_text(&task, "b")?.as_str(), "b1b2")
}

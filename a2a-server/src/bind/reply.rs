//! Answers, written as JSON or protobuf without a copy of the task that is shown.

use a2a_proto::json;
use a2a_proto::v1::{
    AgentCard, Artifact, ListTaskPushNotificationConfigsResponse, ListTasksResponse, Message, Task,
    TaskPushNotificationConfig,
};
use bytes::{Bytes, BytesMut};
use prost::Message as _;
use prost::encoding::{self, WireType};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::handler::{SendReply, TaskReply};

/// The answer to a call that has one.
pub(crate) enum Reply {
    Sent(SendReply),
    Task(TaskReply),
    Tasks(ListTasksResponse),
    PushConfig(TaskPushNotificationConfig),
    PushConfigs(ListTaskPushNotificationConfigsResponse),
    Deleted,
    Card(Box<AgentCard>),
}

impl Reply {
    /// Appends the answer as ProtoJSON; a deletion is `{}`.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) {
        // Neither a message nor a vector has a reason to refuse.
        let _ = match self {
            Self::Sent(reply) => serde_json::to_writer(out, &Sent(reply)).map_err(Into::into),
            Self::Task(reply) => serde_json::to_writer(out, &Shown::of(reply)).map_err(Into::into),
            Self::Tasks(response) => json::to_writer(out, response),
            Self::PushConfig(config) => json::to_writer(out, config),
            Self::PushConfigs(response) => json::to_writer(out, response),
            Self::Deleted => {
                out.extend_from_slice(b"{}");
                Ok(())
            }
            Self::Card(card) => json::to_writer(out, &**card),
        };
    }

    /// The answer as protobuf; a deletion is empty.
    pub(crate) fn protobuf(&self) -> Bytes {
        match self {
            Self::Sent(reply) => sent(reply),
            Self::Task(reply) => {
                let shown = Shown::of(reply);
                let mut out = BytesMut::with_capacity(shown.encoded_len());
                shown.encode(&mut out);
                out.freeze()
            }
            Self::Tasks(response) => response.encode_to_vec().into(),
            Self::PushConfig(config) => config.encode_to_vec().into(),
            Self::PushConfigs(response) => response.encode_to_vec().into(),
            Self::Deleted => Bytes::new(),
            Self::Card(card) => card.encode_to_vec().into(),
        }
    }
}

/// SendMessageResponse as ProtoJSON.
struct Sent<'a>(&'a SendReply);

impl Serialize for Sent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self.0 {
            SendReply::Message(message) => map.serialize_entry("message", message)?,
            SendReply::Task(reply) => map.serialize_entry("task", &Shown::of(reply))?,
        }
        map.end()
    }
}

/// SendMessageResponse as protobuf.
fn sent(reply: &SendReply) -> Bytes {
    let mut out = BytesMut::new();
    match reply {
        SendReply::Message(message) => {
            out.reserve(encoding::message::encoded_len(2, message));
            encoding::message::encode(2, message, &mut out);
        }
        SendReply::Task(reply) => {
            let shown = Shown::of(reply);
            let length = shown.encoded_len();
            out.reserve(length + 16);
            encoding::encode_key(1, WireType::LengthDelimited, &mut out);
            encoding::encode_varint(length as u64, &mut out);
            shown.encode(&mut out);
        }
    }
    out.freeze()
}

/// The part of a task that is shown: borrowed, and written as the [`Task`] of these parts would be.
struct Shown<'a> {
    task: &'a Task,
    artifacts: &'a [Artifact],
    history: &'a [Message],
}

impl<'a> Shown<'a> {
    fn of(reply: &'a TaskReply) -> Self {
        let task: &Task = reply.task();
        let skipped = reply
            .history_length()
            .map_or(0, |length| task.history.len().saturating_sub(length));
        Self {
            task,
            artifacts: if reply.include_artifacts() {
                &task.artifacts
            } else {
                &[]
            },
            history: task.history.get(skipped..).unwrap_or_default(),
        }
    }

    fn encoded_len(&self) -> usize {
        let Task {
            id,
            context_id,
            status,
            artifacts: _,
            history: _,
            metadata,
        } = self.task;
        string_len(1, id)
            + string_len(2, context_id)
            + message_len(3, status.as_ref())
            + encoding::message::encoded_len_repeated(4, self.artifacts)
            + encoding::message::encoded_len_repeated(5, self.history)
            + message_len(6, metadata.as_ref())
    }

    fn encode(&self, out: &mut BytesMut) {
        let task = self.task;
        if !task.id.is_empty() {
            encoding::string::encode(1, &task.id, out);
        }
        if !task.context_id.is_empty() {
            encoding::string::encode(2, &task.context_id, out);
        }
        if let Some(status) = &task.status {
            encoding::message::encode(3, status, out);
        }
        encoding::message::encode_repeated(4, self.artifacts, out);
        encoding::message::encode_repeated(5, self.history, out);
        if let Some(metadata) = &task.metadata {
            encoding::message::encode(6, metadata, out);
        }
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let task = self.task;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &task.id)?;
        if !task.context_id.is_empty() {
            map.serialize_entry("contextId", &task.context_id)?;
        }
        if let Some(status) = &task.status {
            map.serialize_entry("status", status)?;
        }
        if !self.artifacts.is_empty() {
            map.serialize_entry("artifacts", self.artifacts)?;
        }
        if !self.history.is_empty() {
            map.serialize_entry("history", self.history)?;
        }
        if let Some(metadata) = &task.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        map.end()
    }
}

fn string_len(tag: u32, text: &String) -> usize {
    if text.is_empty() {
        0
    } else {
        encoding::string::encoded_len(tag, text)
    }
}

fn message_len<M: prost::Message>(tag: u32, message: Option<&M>) -> usize {
    message.map_or(0, |message| encoding::message::encoded_len(tag, message))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a2a_proto::Struct;
    use a2a_proto::v1::{
        Part, SendMessageResponse, TaskState, TaskStatus, send_message_response::Payload,
    };

    use super::*;

    fn task() -> Arc<Task> {
        let mut task = Task::submitted("t1", "c1");
        task.status = Some(TaskStatus::with_message(
            TaskState::Working,
            Message::agent("on it"),
        ));
        task.history = (0..3)
            .map(|n| Message::user(format!("message {n}")))
            .collect();
        task.artifacts = vec![Artifact::new(
            "a1",
            [Part::text("one"), Part::raw(vec![0, 1])],
        )];
        task.metadata = Some(Struct::from_iter([("k".to_owned(), serde_json::json!(1))]));
        Arc::new(task)
    }

    fn views() -> Vec<TaskReply> {
        let mut views = Vec::new();
        for task in [task(), Arc::new(Task::default())] {
            for length in [None, Some(0), Some(2), Some(99)] {
                let reply = TaskReply::new(task.clone()).with_history_length(length);
                views.push(reply.clone());
                views.push(reply.without_artifacts());
            }
        }
        views
    }

    #[test]
    fn hist_01_02_03_list_06_a_shown_task_is_written_as_its_copy_would_be() {
        for reply in views() {
            let copy = reply.clone().into_task();
            let mut out = Vec::new();
            Reply::Task(reply.clone()).write_json(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), json::to_string(&copy));
            assert_eq!(Reply::Task(reply).protobuf(), copy.encode_to_vec());
        }
    }

    #[test]
    fn jrpc_07_a_sent_task_or_message_is_wrapped() {
        let replies = views()
            .into_iter()
            .map(SendReply::Task)
            .chain([SendReply::Message(Message::agent("hello"))]);
        for reply in replies {
            let payload = match reply.clone() {
                SendReply::Task(reply) => Payload::Task(reply.into_task()),
                SendReply::Message(message) => Payload::Message(message),
            };
            let copy = SendMessageResponse {
                payload: Some(payload),
            };
            let mut out = Vec::new();
            Reply::Sent(reply.clone()).write_json(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), json::to_string(&copy));
            assert_eq!(Reply::Sent(reply).protobuf(), copy.encode_to_vec());
        }
    }
}

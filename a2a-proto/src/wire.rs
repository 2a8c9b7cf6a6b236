//! Pure codecs of the HTTP bindings: bytes to operations and back, without I/O.
//!
//! [`jsonrpc`] and [`rest`] only differ in what they put around the same JSON; that JSON is read and written here.

pub mod jsonrpc;
mod members;
pub mod rest;
pub mod sse;

use std::fmt;

use serde_core::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::json::{self, JsonError};
use crate::v1::{DecodedCard, SendMessageResponse, StreamResponse, Task, TaskState};
use crate::{A2aError, Call, FieldViolation, Method, Reply, StreamCall};

/// Any of the eleven operations.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an operation has one answer or a stream of them"
)]
pub enum Operation {
    /// One that has one answer.
    Unary(Call),
    /// One that is answered by a stream of events.
    Stream(StreamCall),
}

/// Why the JSON of an answer is not what the operation promises.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplyError {
    /// It is no JSON, or JSON of another shape.
    Json(JsonError),
    /// It has neither a task, nor a message, nor an update.
    Empty,
    /// It has the shape of A2A 0.3, where each object says its `kind`.
    OldProtocol,
}

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json(_) => "the answer can't be read",
            Self::Empty => "the answer has neither a task, nor a message, nor an update",
            Self::OldProtocol => "the answer is of A2A 0.3",
        })
    }
}

impl std::error::Error for ReplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Empty | Self::OldProtocol => None,
        }
    }
}

impl From<JsonError> for ReplyError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl Operation {
    /// Reads the request of an operation: JSON-RPC params, or the body on HTTP+JSON.
    ///
    /// Nothing and `null` count as `{}`, so that it is the required fields that are missed, by name.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::ParseError`](crate::ErrorCode::ParseError) for what is no JSON, and [`ErrorCode::InvalidParams`](crate::ErrorCode::InvalidParams), with the field, for JSON of
    /// another shape.
    pub fn from_json(method: Method, json: &[u8]) -> Result<Self, A2aError> {
        let json = match json.trim_ascii() {
            b"" | b"null" => b"{}",
            json => json,
        };
        let operation = match method {
            Method::SendMessage => Call::SendMessage(read(json)?).into(),
            Method::SendStreamingMessage => StreamCall::SendStreamingMessage(read(json)?).into(),
            Method::GetTask => Call::GetTask(read(json)?).into(),
            Method::ListTasks => Call::ListTasks(read(json)?).into(),
            Method::CancelTask => Call::CancelTask(read(json)?).into(),
            Method::SubscribeToTask => StreamCall::SubscribeToTask(read(json)?).into(),
            Method::CreateTaskPushNotificationConfig => {
                Call::CreateTaskPushNotificationConfig(read(json)?).into()
            }
            Method::GetTaskPushNotificationConfig => {
                Call::GetTaskPushNotificationConfig(read(json)?).into()
            }
            Method::ListTaskPushNotificationConfigs => {
                Call::ListTaskPushNotificationConfigs(read(json)?).into()
            }
            Method::DeleteTaskPushNotificationConfig => {
                Call::DeleteTaskPushNotificationConfig(read(json)?).into()
            }
            Method::GetExtendedAgentCard => Call::GetExtendedAgentCard(read(json)?).into(),
        };
        Ok(operation)
    }

    /// Prints the request.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unary(call) => match call {
                Call::SendMessage(request) => write(out, request),
                Call::GetTask(request) => write(out, request),
                Call::ListTasks(request) => write(out, request),
                Call::CancelTask(request) => write(out, request),
                Call::CreateTaskPushNotificationConfig(request) => write(out, request),
                Call::GetTaskPushNotificationConfig(request) => write(out, request),
                Call::ListTaskPushNotificationConfigs(request) => write(out, request),
                Call::DeleteTaskPushNotificationConfig(request) => write(out, request),
                Call::GetExtendedAgentCard(request) => write(out, request),
            },
            Self::Stream(call) => match call {
                StreamCall::SendStreamingMessage(request) => write(out, request),
                StreamCall::SubscribeToTask(request) => write(out, request),
            },
        }
    }

    /// The operation that is called.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::Unary(call) => call.method(),
            Self::Stream(call) => call.method(),
        }
    }

    /// The tenant of the request; empty for none.
    #[must_use]
    pub fn tenant(&self) -> &str {
        match self {
            Self::Unary(call) => call.tenant(),
            Self::Stream(call) => call.tenant(),
        }
    }

    /// The tenant of the request, to be filled in.
    pub fn tenant_mut(&mut self) -> &mut String {
        match self {
            Self::Unary(call) => call.tenant_mut(),
            Self::Stream(call) => call.tenant_mut(),
        }
    }
}

impl From<Call> for Operation {
    fn from(call: Call) -> Self {
        Self::Unary(call)
    }
}

impl From<StreamCall> for Operation {
    fn from(call: StreamCall) -> Self {
        Self::Stream(call)
    }
}

/// Reads the answer to a unary operation: a JSON-RPC result, or the body on HTTP+JSON.
///
/// The answer to a delete is not looked at: `null`, `{}`, nothing and pages of text are all in use.
///
/// # Errors
///
/// When it is not the JSON of such an answer, or the operation is answered by a stream.
pub fn read_reply(method: Method, json: &[u8]) -> Result<Reply, ReplyError> {
    match method {
        Method::SendMessage => {
            let reply: SendMessageResponse = json::from_slice(json)?;
            match reply.payload {
                Some(_) => Ok(Reply::Sent(reply)),
                None => Err(no_payload(json)),
            }
        }
        Method::GetTask | Method::CancelTask => {
            let task: Task = json::from_slice(json)?;
            // Only what 0.3 sends, or nothing at all, is without a state.
            if task.state() == TaskState::Unspecified && says_kind(json) {
                return Err(ReplyError::OldProtocol);
            }
            Ok(Reply::Task(task))
        }
        Method::ListTasks => Ok(Reply::Tasks(json::from_slice(json)?)),
        Method::CreateTaskPushNotificationConfig | Method::GetTaskPushNotificationConfig => {
            Ok(Reply::PushConfig(json::from_slice(json)?))
        }
        Method::ListTaskPushNotificationConfigs => Ok(Reply::PushConfigs(json::from_slice(json)?)),
        Method::DeleteTaskPushNotificationConfig => Ok(Reply::Deleted),
        Method::GetExtendedAgentCard => Ok(Reply::Card(DecodedCard::from_slice(json)?.into_card())),
        Method::SendStreamingMessage | Method::SubscribeToTask => Err(ReplyError::Empty),
    }
}

/// Reads an event of a stream.
///
/// # Errors
///
/// When it is not the JSON of an event.
pub fn read_event(json: &[u8]) -> Result<StreamResponse, ReplyError> {
    let event: StreamResponse = json::from_slice(json)?;
    match event.payload {
        Some(_) => Ok(event),
        None => Err(no_payload(json)),
    }
}

/// Whether the bytes are JSON, of any shape.
#[must_use]
pub fn is_json(json: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(json).is_ok()
}

fn no_payload(json: &[u8]) -> ReplyError {
    match says_kind(json) {
        true => ReplyError::OldProtocol,
        false => ReplyError::Empty,
    }
}

fn says_kind(json: &[u8]) -> bool {
    matches!(members(json, ["kind"]), Ok([Some(kind)]) if kind.get().starts_with('"'))
}

fn write<M: json::Message>(out: &mut Vec<u8>, message: &M) {
    // Neither a message nor a vector has a reason to refuse.
    let _ = json::to_writer(out, message);
}

fn read<M: json::Message>(json: &[u8]) -> Result<M, A2aError> {
    json::from_slice(json).map_err(|error| {
        // JSON that is nested too deep is reported as syntax, and is none the less JSON.
        if error.is_syntax() && !is_json(json) {
            A2aError::parse_error("the request is not valid JSON").with_source(error)
        } else {
            A2aError::invalid_fields(vec![FieldViolation::from(error)])
        }
    })
}

/// The raw values of these members of an object, each `None` when it is missing or null.
///
/// # Errors
///
/// When it is no JSON, no object, or has one of the members twice.
fn members<'a, const N: usize>(
    json: &'a [u8],
    names: [&'static str; N],
) -> Result<[Option<&'a RawValue>; N], serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let found = members::read(&mut deserializer, names)?;
    deserializer.end()?;
    Ok(found)
}

/// Parameters that the codec itself refuses.
fn invalid(field: &str, description: &str) -> A2aError {
    A2aError::invalid_fields(vec![FieldViolation::new(field, description)])
}

#[cfg(test)]
mod tests;

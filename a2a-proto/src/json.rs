//! ProtoJSON: reading and printing, and the well-known types as newtypes over `serde_json`.
//!
//! Every message implements [`serde_core::Serialize`] and [`serde_core::Deserialize`]. Prefer [`from_slice`] and [`from_str`] to
//! serde_json's functions of the same name: their error names the field.

mod error;
pub(crate) mod read;
mod timestamp;
mod value;
pub(crate) mod write;

use std::cell::RefCell;
use std::io;

use serde_core::de::DeserializeOwned;
use serde_core::{Deserializer, Serialize};

pub use error::JsonError;
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use value::{InvalidValue, Struct, Value};

/// Reads a message.
///
/// ```
/// use a2a_proto::json;
/// use a2a_proto::v1::SendMessageRequest;
///
/// let error = json::from_str::<SendMessageRequest>(r#"{"message":{"parts":[{"text":1}]}}"#).unwrap_err();
/// assert_eq!(error.path(), "message.parts[0].text");
/// ```
///
/// # Errors
///
/// When the bytes are no JSON, or JSON of another shape.
pub fn from_slice<M: Message>(json: &[u8]) -> Result<M, JsonError> {
    read_all(&mut serde_json::Deserializer::from_slice(json))
}

/// Reads a message.
///
/// # Errors
///
/// When the text is no JSON, or JSON of another shape.
pub fn from_str<M: Message>(json: &str) -> Result<M, JsonError> {
    read_all(&mut serde_json::Deserializer::from_str(json))
}

/// Reads a message from JSON that is parsed already.
///
/// # Errors
///
/// When the JSON has another shape.
pub fn from_value<M: Message>(json: serde_json::Value) -> Result<M, JsonError> {
    read_one(json)
}

/// Prints a message.
#[must_use]
pub fn to_vec<M: Message>(message: &M) -> Vec<u8> {
    // Neither a message nor a vector has a reason to refuse.
    serde_json::to_vec(message).unwrap_or_default()
}

/// Prints a message as text.
#[must_use]
pub fn to_string<M: Message>(message: &M) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

/// Prints a message to a writer.
///
/// # Errors
///
/// When the writer fails.
pub fn to_writer<M: Message>(writer: impl io::Write, message: &M) -> io::Result<()> {
    serde_json::to_writer(writer, message).map_err(io::Error::from)
}

fn read_all<'de, R: serde_json::de::Read<'de>, M: Message>(
    deserializer: &mut serde_json::Deserializer<R>,
) -> Result<M, JsonError> {
    let message = read_one(&mut *deserializer)?;
    match deserializer.end() {
        Ok(()) => Ok(message),
        Err(error) => Err(JsonError::new(&error, &[])),
    }
}

fn read_one<'de, M: Message>(
    deserializer: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<M, JsonError> {
    let steps = RefCell::new(Vec::new());
    read::message_with(deserializer, read::Trail::into(&steps))
        .map_err(|error| JsonError::new(&error, &steps.borrow()))
}

/// A message of the protocol: what [`from_slice`] reads and [`to_vec`] prints. Only this crate implements it.
pub trait Message: read::Readable + Serialize + DeserializeOwned {}

impl<M: read::Readable + Serialize + DeserializeOwned> Message for M {}

/// An enum of the protocol.
pub(crate) trait Enum {
    fn name(number: i32) -> Option<&'static str>;
    fn number(name: &str) -> Option<i32>;
}

//! JSON-RPC 2.0 envelopes (A2A 1.0 §9): params and results stay raw, so that they are read once, into their types.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::{Operation, is_json, members};
use crate::{A2aError, Method};

/// The media type of requests and plain answers.
pub const MEDIA_TYPE: &str = "application/json";

/// What closes a response after [`result_prefix`] and the result.
pub const RESULT_SUFFIX: &[u8] = b"}";

/// The longest id that is accepted: it is repeated in every frame of a stream.
const ID_LIMIT: usize = 1024;

/// A request as it came in.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The id to answer with.
    pub id: Id,
    /// The name of the method.
    pub method: Cow<'a, str>,
    /// The parameters; `None` where they are missing or null.
    pub params: Option<&'a RawValue>,
}

/// A request that can't be served, and the id to answer with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestError {
    /// Null where the request's own can't be used.
    pub id: Id,
    /// What is wrong.
    pub error: A2aError,
}

/// The id of a request as raw JSON, so that it is echoed exactly: a string, a number or null.
#[derive(Clone, PartialEq, Eq)]
pub struct Id(Box<str>);

/// An answer as it came in.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response<'a> {
    id: Option<&'a RawValue>,
    /// What it says.
    pub outcome: Outcome<'a>,
}

/// What an answer says.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC knows no third outcome")]
pub enum Outcome<'a> {
    /// The raw result; `None` for null, and where the peer leaves it out (the Go SDK, after a delete).
    Result(Option<&'a RawValue>),
    /// The peer's error.
    Error(A2aError),
}

/// The text is not a JSON-RPC answer.
#[derive(Debug)]
pub struct InvalidResponse(serde_json::Error);

impl<'a> Request<'a> {
    /// Reads the envelope of a request. A request without an id, which JSON-RPC calls a notification, is answered as one
    /// with the id null.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::ParseError`](crate::ErrorCode::ParseError) for what is no JSON and
    /// [`ErrorCode::InvalidRequest`](crate::ErrorCode::InvalidRequest) for every other fault of the envelope, a batch
    /// among them.
    pub fn parse(body: &'a [u8]) -> Result<Self, RequestError> {
        let [version, id, method, params] = members(body, ["jsonrpc", "id", "method", "params"])
            .map_err(|error| RequestError::without_id(envelope_fault(body, error)))?;
        let id = id.map_or_else(|| Ok(Id::null()), Id::from_raw)?;
        let fault = |text: &str| RequestError {
            id: id.clone(),
            error: A2aError::invalid_request(text),
        };
        if string(version).as_deref() != Some("2.0") {
            return Err(fault("jsonrpc must be \"2.0\""));
        }
        let method = string(method).ok_or_else(|| fault("method must be a string"))?;
        Ok(Self { id, method, params })
    }

    /// Reads the parameters for that method.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidParams`](crate::ErrorCode::InvalidParams) with the field.
    pub fn operation(&self, method: Method) -> Result<Operation, A2aError> {
        Operation::from_json(method, self.params.map_or(b"", |raw| raw.get().as_bytes()))
    }
}

/// Tells bad JSON from good JSON of the wrong shape.
fn envelope_fault(body: &[u8], error: serde_json::Error) -> A2aError {
    if !error.is_data() || !is_json(body) {
        return A2aError::parse_error("the body is not valid JSON").with_source(error);
    }
    match body.trim_ascii_start().first() {
        Some(b'[') => A2aError::invalid_request("batches are not supported"),
        _ => A2aError::invalid_request("the request must be an object, with each member once"),
    }
}

impl RequestError {
    fn without_id(error: A2aError) -> Self {
        Self {
            id: Id::null(),
            error,
        }
    }

    /// The answer that says so.
    #[must_use]
    pub fn to_response(&self) -> Vec<u8> {
        error_response(&self.id, &self.error)
    }
}

impl Id {
    /// The id null.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    fn from_raw(raw: &RawValue) -> Result<Self, RequestError> {
        let text = raw.get();
        let fault = match text.as_bytes().first() {
            Some(b'"' | b'-' | b'0'..=b'9') if text.len() <= ID_LIMIT => {
                return Ok(Self(text.into()));
            }
            Some(b'"' | b'-' | b'0'..=b'9') => "id is too long",
            _ => "id must be a string, a number or null",
        };
        Err(RequestError::without_id(A2aError::invalid_request(fault)))
    }

    /// The id as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Whether a peer that echoes this text as its id means this one: some turn `"1"` into `1`, or the reverse.
    fn is_echoed_by(&self, echo: &str) -> bool {
        *self.0 == *echo || string_or_number(&self.0) == string_or_number(echo)
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(number.to_string().into())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}

/// The text of a JSON string, or the JSON itself.
fn string_or_number(json: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

fn string(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let text = raw?.get();
    match serde_json::from_str::<&str>(text) {
        Ok(plain) => Some(Cow::Borrowed(plain)),
        // With escapes in it, it can't be borrowed.
        Err(_) => serde_json::from_str(text).ok().map(Cow::Owned),
    }
}

/// What stands before the result in a response: `{"jsonrpc":"2.0","id":…,"result":`.
#[must_use]
pub fn result_prefix(id: &Id) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", id.as_json()).into_bytes()
}

/// The result in a response that is written as [`response`] writes it, with this [`result_prefix`]: without a look at the
/// JSON, which a long stream is spared by it.
///
/// If what it gives is one JSON value, it is the result. If not, or for `None`, [`Response::parse`] has to look.
#[must_use]
pub fn plain_result<'a>(prefix: &[u8], json: &'a [u8]) -> Option<&'a [u8]> {
    json.strip_prefix(prefix)?.strip_suffix(RESULT_SUFFIX)
}

/// A whole response around a result that is already encoded.
#[must_use]
pub fn response(id: &Id, result: &[u8]) -> Vec<u8> {
    let mut out = result_prefix(id);
    out.reserve(result.len() + RESULT_SUFFIX.len());
    out.extend_from_slice(result);
    out.extend_from_slice(RESULT_SUFFIX);
    out
}

/// A whole response with an error.
#[must_use]
pub fn error_response(id: &Id, error: &A2aError) -> Vec<u8> {
    let mut out = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":", id.as_json()).into_bytes();
    out.extend_from_slice(&error.to_json_rpc());
    out.push(b'}');
    out
}

/// A whole request. Params are always there: not every server does without.
#[must_use]
pub fn request(id: &Id, operation: &Operation) -> Vec<u8> {
    let (id, name) = (id.as_json(), operation.method().name());
    let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{name}\",\"params\":");
    let mut out = head.into_bytes();
    operation.write_json(&mut out);
    out.push(b'}');
    out
}

impl<'a> Response<'a> {
    /// Reads an answer: result, error, or neither; an `error` that is null is none.
    ///
    /// # Errors
    ///
    /// When it is no JSON object, or has none of the members of an answer.
    pub fn parse(json: &'a [u8]) -> Result<Self, InvalidResponse> {
        let [version, id, result, error] =
            members(json, ["jsonrpc", "id", "result", "error"]).map_err(InvalidResponse)?;
        let outcome = match error {
            Some(error) => Outcome::Error(A2aError::from_json_rpc(error.get().as_bytes())),
            None if result.is_none() && id.is_none() && version.is_none() => {
                let error = serde_core::de::Error::custom("neither result nor error nor id");
                return Err(InvalidResponse(error));
            }
            None => Outcome::Result(result),
        };
        Ok(Self { id, outcome })
    }

    /// Whether this answers the request with that id. An error without an id does: its request could not be read.
    #[must_use]
    pub fn answers(&self, id: &Id) -> bool {
        match (self.id, &self.outcome) {
            (Some(echo), Outcome::Result(_)) => id.is_echoed_by(echo.get()),
            (None, Outcome::Result(_)) => false,
            (_, Outcome::Error(_)) => true,
        }
    }
}

impl fmt::Display for InvalidResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a JSON-RPC answer")
    }
}

impl std::error::Error for InvalidResponse {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[cfg(test)]
mod tests;

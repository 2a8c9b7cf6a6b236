//! [`tonic::Status`] with `grpc-status-details-bin`, and the few `google.rpc` messages that stand in it.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use prost::Message;
use serde_json::Value;
use tonic::Code;

use super::{BAD_REQUEST, ERROR_INFO, Found, RETRY_INFO};
use crate::error::{A2aError, ERROR_DOMAIN, ErrorCode, FieldViolation, RpcCode};

/// What the details may take: trailers share the peer's header limit, and a peer that meets more drops the connection.
const DETAILS_LIMIT: usize = 4 * 1024;

/// The same for the message, which is percent-encoded on the wire.
const MESSAGE_LIMIT: usize = 1024;

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    value: Bytes,
}

#[derive(Clone, PartialEq, Message)]
struct ErrorInfo {
    #[prost(string, tag = "1")]
    reason: String,
    #[prost(string, tag = "2")]
    domain: String,
    #[prost(btree_map = "string, string", tag = "3")]
    metadata: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    field_violations: Vec<Violation>,
}

#[derive(Clone, PartialEq, Message)]
struct Violation {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    description: String,
}

#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Delay>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Delay {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

impl From<A2aError> for tonic::Status {
    /// The status with its details. Violations and other details beyond what trailers can carry are left out.
    fn from(error: A2aError) -> Self {
        let code = error.code().rpc() as i32;
        let message = cut(error.message());
        let status = Status {
            code,
            message: message.to_owned(),
            details: details(&error),
        };
        Self::with_details(Code::from_i32(code), message, status.encode_to_vec().into())
    }
}

impl From<&tonic::Status> for A2aError {
    fn from(status: &tonic::Status) -> Self {
        let code = RpcCode::from_number(status.code() as i32);
        let mut found = Found::default();
        if let Ok(decoded) = Status::decode(status.details()) {
            decoded.details.into_iter().for_each(|any| found.any(any));
        }
        found.into_error(ErrorCode::from_rpc(code), status.message().to_owned())
    }
}

fn details(error: &A2aError) -> Vec<Any> {
    let mut room = DETAILS_LIMIT;
    let mut fits = |length: usize| {
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    };
    let mut info = ErrorInfo {
        reason: error.reason().to_owned(),
        domain: ERROR_DOMAIN.to_owned(),
        metadata: BTreeMap::new(),
    };
    for (key, value) in error.metadata() {
        if fits(key.len() + value.len() + 8) {
            info.metadata.insert(key.clone(), value.clone());
        }
    }
    let mut details = vec![any(ERROR_INFO, &info)];
    if let Some(delay) = error.retry_after() {
        details.push(any(RETRY_INFO, &RetryInfo::from(delay)));
    }
    let mut bad_request = BadRequest::default();
    for violation in error.violations() {
        if fits(violation.field.len() + violation.description.len() + 8) {
            bad_request.field_violations.push(Violation {
                field: violation.field.clone(),
                description: violation.description.clone(),
            });
        }
    }
    if !bad_request.field_violations.is_empty() {
        details.insert(1, any(BAD_REQUEST, &bad_request));
    }
    let other = error.other_details().iter().filter_map(unknown);
    details.extend(other.filter(|any| fits(any.encoded_len())));
    details
}

fn any(type_url: &str, message: &impl Message) -> Any {
    Any {
        type_url: type_url.to_owned(),
        value: message.encode_to_vec().into(),
    }
}

/// A detail that was read from gRPC goes back as it came; JSON of other origin has no binary form.
fn unknown(detail: &Value) -> Option<Any> {
    Some(Any {
        type_url: detail.get("@type")?.as_str()?.to_owned(),
        value: STANDARD.decode(detail.get("value")?.as_str()?).ok()?.into(),
    })
}

fn cut(message: &str) -> &str {
    let mut end = message.len().min(MESSAGE_LIMIT);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message.get(..end).unwrap_or_default()
}

impl Found {
    fn any(&mut self, any: Any) {
        let name = any.type_url.rsplit('/').next().unwrap_or_default();
        let value = any.value.clone();
        let known = match name {
            "google.rpc.ErrorInfo" => ErrorInfo::decode(value).ok().map(|info| {
                self.metadata.extend(info.metadata);
                self.reason(info.reason);
            }),
            "google.rpc.BadRequest" => BadRequest::decode(value).ok().map(|request| {
                let violations = request.field_violations.into_iter();
                self.violations
                    .extend(violations.map(|v| FieldViolation::new(v.field, v.description)));
            }),
            "google.rpc.RetryInfo" => RetryInfo::decode(value).ok().map(|info| {
                self.retry_after.get_or_insert_with(|| info.into());
            }),
            _ => None,
        };
        if known.is_none() {
            self.other.push(serde_json::json!({
                "@type": any.type_url,
                "value": STANDARD.encode(&any.value),
            }));
        }
    }
}

impl From<Duration> for RetryInfo {
    fn from(delay: Duration) -> Self {
        Self {
            retry_delay: Some(Delay {
                seconds: i64::try_from(delay.as_secs()).unwrap_or(i64::MAX),
                nanos: i32::try_from(delay.subsec_nanos()).unwrap_or(0),
            }),
        }
    }
}

impl From<RetryInfo> for Duration {
    fn from(info: RetryInfo) -> Self {
        let delay = info.retry_delay.unwrap_or_default();
        let seconds = u64::try_from(delay.seconds).unwrap_or(0);
        let nanos = u32::try_from(delay.nanos).unwrap_or(0);
        Self::from_secs(seconds).saturating_add(Self::from_nanos(nanos.into()))
    }
}

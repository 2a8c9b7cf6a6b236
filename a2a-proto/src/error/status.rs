//! How an error looks on each binding, and what is made of a peer's (A2A 1.0 §5.4, §9.5, §10.6, §11.6).
//!
//! Writing follows the table. Reading never fails: whatever a peer sends becomes an [`A2aError`], by the ErrorInfo
//! reason where there is a known one, else by the code.

#[cfg(feature = "grpc")]
mod grpc;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{A2aError, ERROR_DOMAIN, ErrorCode, FieldViolation, RpcCode};

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";

impl A2aError {
    /// The JSON-RPC error object: `{"code":…,"message":…,"data":[…]}`.
    ///
    /// `data` is a list of objects with ErrorInfo first: the Go client drops the whole reply at any other shape.
    #[must_use]
    pub fn to_json_rpc(&self) -> Vec<u8> {
        print(&json!({
            "code": self.code().json_rpc(),
            "message": self.message(),
            "data": self.details(),
        }))
    }

    /// The body of an HTTP+JSON error: `{"error":{"code":…,"status":…,"message":…,"details":[…]}}`.
    #[must_use]
    pub fn to_status_json(&self) -> Vec<u8> {
        print(&json!({ "error": {
            "code": self.code().http_status(),
            "status": self.code().rpc().name(),
            "message": self.message(),
            "details": self.details(),
        } }))
    }

    /// Reads the error object of a JSON-RPC reply.
    ///
    /// ```
    /// # use a2a_proto::{A2aError, ErrorCode};
    /// let error = A2aError::from_json_rpc(br#"{"code":-32001,"message":"gone","data":"no list"}"#);
    /// assert_eq!(error.code(), ErrorCode::TaskNotFound);
    /// ```
    #[must_use]
    pub fn from_json_rpc(json: &[u8]) -> Self {
        match serde_json::from_slice(json) {
            Ok(Value::Object(error)) => from_json_rpc(error),
            Ok(other) => Self::internal(text_of(&other)),
            Err(_) => Self::internal("the peer sent an error that is not JSON"),
        }
    }

    /// Reads the body of an HTTP reply that is no success. A body that tells nothing, such as a proxy's page, leaves the
    /// status to decide.
    #[must_use]
    pub fn from_http(status: u16, body: &[u8]) -> Self {
        serde_json::from_slice(body)
            .ok()
            .and_then(|value| from_status(Some(status), value))
            .unwrap_or_else(|| {
                Self::new(
                    ErrorCode::from_http_status(status),
                    format!("the peer answered HTTP {status}"),
                )
            })
    }

    /// Reads an error that stands in an HTTP+JSON stream: `None` for JSON that is none.
    #[must_use]
    pub fn from_frame(json: &[u8]) -> Option<Self> {
        from_status(None, serde_json::from_slice(json).ok()?)
    }

    fn details(&self) -> Vec<Value> {
        let mut info = json!({
            "@type": ERROR_INFO,
            "reason": self.reason(),
            "domain": ERROR_DOMAIN,
        });
        if let (Some(info), false) = (info.as_object_mut(), self.metadata().is_empty()) {
            info.insert("metadata".to_owned(), json!(self.metadata()));
        }
        let mut details = vec![info];
        if !self.violations().is_empty() {
            let violations = self.violations().iter();
            let violations = violations.map(|violation| {
                json!({ "field": violation.field, "description": violation.description })
            });
            details.push(json!({
                "@type": BAD_REQUEST,
                "fieldViolations": violations.collect::<Vec<_>>(),
            }));
        }
        if let Some(delay) = self.retry_after() {
            details.push(json!({ "@type": RETRY_INFO, "retryDelay": print_delay(delay) }));
        }
        // Every element must be an object that says its type.
        let typed = |detail: &&Value| detail.get("@type").is_some_and(Value::is_string);
        details.extend(self.other_details().iter().filter(typed).cloned());
        details
    }
}

fn print(value: &Value) -> Vec<u8> {
    // Strings, numbers and JSON values: nothing that could be refused.
    serde_json::to_vec(value).unwrap_or_default()
}

/// A duration as ProtoJSON prints it: 0, 3, 6 or 9 decimals.
fn print_delay(delay: Duration) -> String {
    let nanos = delay.subsec_nanos();
    let seconds = delay.as_secs();
    match nanos {
        0 => format!("{seconds}s"),
        _ if nanos.is_multiple_of(1_000_000) => format!("{seconds}.{:03}s", nanos / 1_000_000),
        _ if nanos.is_multiple_of(1_000) => format!("{seconds}.{:06}s", nanos / 1_000),
        _ => format!("{seconds}.{nanos:09}s"),
    }
}

fn from_json_rpc(mut error: Map<String, Value>) -> A2aError {
    let number = error.get("code").and_then(integer);
    let fallback = number.map_or(ErrorCode::Internal, ErrorCode::from_json_rpc);
    let message = error.get("message").map(text_of).unwrap_or_default();
    let mut found = Found::default();
    found.search(error.remove("data").unwrap_or_default());
    found.into_error(fallback, message)
}

/// Reads a `google.rpc.Status`, nested in `error` or not. `None` if the JSON is nothing like it.
fn from_status(http_status: Option<u16>, value: Value) -> Option<A2aError> {
    let Value::Object(mut outer) = value else {
        return None;
    };
    let mut error = match outer.remove("error") {
        Some(Value::Object(error)) => error,
        Some(Value::String(text)) => Map::from_iter([("message".to_owned(), text.into())]),
        Some(_) => return None,
        None if outer.contains_key("code") && outer.contains_key("message") => outer,
        None if http_status.is_some() => outer,
        None => return None,
    };
    let number = error.get("code").and_then(integer);
    if number.is_some_and(|code| code < 0) {
        return Some(from_json_rpc(error));
    }
    let http_status = number
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (100..600).contains(code))
        .or(http_status);
    let name = error
        .get("status")
        .and_then(Value::as_str)
        .and_then(RpcCode::from_name);
    let message = ["message", "detail", "title"]
        .iter()
        .find_map(|key| error.get(*key))
        .map(text_of)
        .unwrap_or_default();
    let mut found = Found::default();
    found.search(error.remove("details").unwrap_or_default());
    Some(found.into_error(fallback(http_status, name), message))
}

/// The statuses by which 1.0.0 told errors apart say more than the name beside them.
fn fallback(http_status: Option<u16>, name: Option<RpcCode>) -> ErrorCode {
    match (http_status, name) {
        (Some(status @ (409 | 415 | 502)), _) | (Some(status), None) => {
            ErrorCode::from_http_status(status)
        }
        (_, Some(name)) => ErrorCode::from_rpc(name),
        (None, None) => ErrorCode::Internal,
    }
}

/// What the details of an error say.
#[derive(Default)]
struct Found {
    reason: Option<String>,
    metadata: BTreeMap<String, String>,
    violations: Vec<FieldViolation>,
    retry_after: Option<Duration>,
    other: Vec<Value>,
}

impl Found {
    /// Takes what is known out of a `data` or `details` of any shape; what is not known is kept.
    fn search(&mut self, value: Value) {
        match value {
            Value::Null => {}
            Value::Array(items) => items.into_iter().for_each(|item| self.search(item)),
            Value::Object(mut object) => match kind(&object) {
                Some(Kind::ErrorInfo) => self.error_info(object),
                Some(Kind::BadRequest) => self.bad_request(&object),
                Some(Kind::RetryInfo) => self.retry_info(&object),
                None => {
                    // Some peers put the list into an object.
                    for key in ["details", "data", "error"] {
                        if let Some(inner @ (Value::Array(_) | Value::Object(_))) =
                            object.remove(key)
                        {
                            self.search(inner);
                        }
                    }
                    if !object.is_empty() {
                        self.other.push(Value::Object(object));
                    }
                }
            },
            other => self.other.push(other),
        }
    }

    fn error_info(&mut self, mut info: Map<String, Value>) {
        if let Some(Value::Object(metadata)) = info.remove("metadata") {
            for (key, value) in metadata {
                self.metadata.entry(key).or_insert_with(|| text_of(&value));
            }
        }
        if let Some(Value::String(reason)) = info.remove("reason") {
            self.reason(reason);
        }
    }

    /// Of several reasons, one that is in the table wins.
    fn reason(&mut self, reason: String) {
        let known = |reason: &String| ErrorCode::from_reason(reason).is_some();
        let keep = self
            .reason
            .as_ref()
            .is_some_and(|old| known(old) || !known(&reason));
        if !keep && !reason.is_empty() {
            self.reason = Some(reason);
        }
    }

    fn bad_request(&mut self, object: &Map<String, Value>) {
        let list = object
            .get("fieldViolations")
            .or_else(|| object.get("field_violations"));
        for violation in list.and_then(Value::as_array).into_iter().flatten() {
            let text = |key| violation.get(key).map(text_of).unwrap_or_default();
            self.violations
                .push(FieldViolation::new(text("field"), text("description")));
        }
    }

    fn retry_info(&mut self, object: &Map<String, Value>) {
        let delay = object
            .get("retryDelay")
            .or_else(|| object.get("retry_delay"));
        let delay = delay.and_then(parse_delay).unwrap_or_default();
        self.retry_after.get_or_insert(delay);
    }

    fn into_error(self, fallback: ErrorCode, message: String) -> A2aError {
        let code = self
            .reason
            .as_deref()
            .and_then(ErrorCode::from_reason)
            .unwrap_or(fallback);
        let mut error = A2aError::new(code, message);
        if let Some(reason) = self.reason.filter(|reason| reason != code.reason()) {
            error = error.with_reason(reason);
        }
        for (key, value) in self.metadata {
            error = error.with_metadata(key, value);
        }
        for violation in self.violations {
            error = error.with_violation(violation.field, violation.description);
        }
        if let Some(delay) = self.retry_after {
            error = error.with_retry_after(delay);
        }
        self.other.into_iter().fold(error, A2aError::with_detail)
    }
}

enum Kind {
    ErrorInfo,
    BadRequest,
    RetryInfo,
}

fn kind(object: &Map<String, Value>) -> Option<Kind> {
    match object.get("@type") {
        Some(Value::String(kind)) => match kind.rsplit('/').next()? {
            "google.rpc.ErrorInfo" => Some(Kind::ErrorInfo),
            "google.rpc.BadRequest" => Some(Kind::BadRequest),
            "google.rpc.RetryInfo" => Some(Kind::RetryInfo),
            _ => None,
        },
        Some(_) => None,
        None if object.get("reason").is_some_and(Value::is_string) => Some(Kind::ErrorInfo),
        None if object.contains_key("fieldViolations") => Some(Kind::BadRequest),
        None => None,
    }
}

/// A string as it is, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn integer(value: &Value) -> Option<i32> {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(number) => i32::try_from(number).ok(),
            #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
            None => number
                .as_f64()
                .filter(|float| float.fract() == 0.0 && float.abs() < f64::from(i32::MAX))
                .map(|float| float as i32),
        },
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// `"1.5s"`, or the object form of a Duration.
fn parse_delay(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::String(text) => text.trim().strip_suffix('s')?.parse().ok()?,
        Value::Object(object) => {
            let number = |key| object.get(key).and_then(Value::as_f64).unwrap_or(0.0);
            number("seconds") + number("nanos") / 1e9
        }
        other => other.as_f64()?,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests;

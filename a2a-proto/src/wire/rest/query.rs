//! The query of HTTP+JSON requests (A2A 1.0 §11.5).

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::{percent_decode, utf8_percent_encode};

use super::SEGMENT;
use crate::v1::TaskState;
use crate::wire::Operation;
use crate::{A2aError, Call, FieldViolation, Timestamp};

/// The parameters of a query, decoded.
pub(super) struct Query<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

/// Reads parameters and notes what is wrong with them, so that a caller is told of all faults at once.
struct Reader<'a> {
    query: Query<'a>,
    violations: Vec<FieldViolation>,
}

impl<'a> Query<'a> {
    pub(super) fn parse(query: &'a str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(key, value)| (decode(key), decode(value)))
                .collect(),
        )
    }

    /// Sets the fields that the operation takes from its query, and gives the tenant. Unknown parameters are skipped.
    pub(super) fn apply(self, operation: &mut Operation) -> Result<String, A2aError> {
        let mut reader = Reader {
            query: self,
            violations: Vec::new(),
        };
        match operation {
            Operation::Unary(Call::GetTask(request)) => {
                request.history_length = reader.number("history_length", "historyLength");
            }
            Operation::Unary(Call::ListTasks(request)) => {
                request.context_id = reader.text("context_id", "contextId");
                request.status = reader.state() as i32;
                request.page_size = reader.number("page_size", "pageSize");
                request.page_token = reader.text("page_token", "pageToken");
                request.history_length = reader.number("history_length", "historyLength");
                request.status_timestamp_after = reader.timestamp();
                request.include_artifacts = reader.flag("include_artifacts", "includeArtifacts");
            }
            Operation::Unary(Call::ListTaskPushNotificationConfigs(request)) => {
                request.page_size = reader.number("page_size", "pageSize").unwrap_or_default();
                request.page_token = reader.text("page_token", "pageToken");
            }
            _ => {}
        }
        let tenant = reader.text("tenant", "tenant");
        match reader.violations.is_empty() {
            true => Ok(tenant),
            false => Err(A2aError::invalid_fields(reader.violations)),
        }
    }
}

impl Reader<'_> {
    /// The value of a parameter; none where it is empty. `field` is its name in the proto, by which faults are told.
    fn value(&mut self, field: &str, names: &[&str]) -> Option<String> {
        let known = |key: &str| key == field || names.contains(&key);
        let mut values = self.query.0.iter().filter(|(key, _)| known(key));
        let value = values.next()?.1.clone().into_owned();
        if values.any(|(_, other)| *other != value) {
            self.fault(field, "must be given once");
            return None;
        }
        (!value.is_empty()).then_some(value)
    }

    fn text(&mut self, field: &str, name: &str) -> String {
        self.value(field, &[name]).unwrap_or_default()
    }

    fn number(&mut self, field: &str, name: &str) -> Option<i32> {
        let value = self.value(field, &[name])?;
        // The Java client pads small numbers with spaces.
        self.parsed(
            field,
            value.trim().parse().ok(),
            "must be a whole number of 32 bits",
        )
    }

    fn flag(&mut self, field: &str, name: &str) -> Option<bool> {
        let value = self.value(field, &[name])?.trim().to_ascii_lowercase();
        self.parsed(field, value.parse().ok(), "must be true or false")
    }

    fn state(&mut self) -> TaskState {
        let Some(value) = self.value("status", &[]) else {
            return TaskState::Unspecified;
        };
        let value = value.trim();
        let state = TaskState::from_str_name(value).or_else(|| {
            let number: i32 = value.parse().ok()?;
            number.try_into().ok()
        });
        self.parsed("status", state, "must be the name of a task state")
            .unwrap_or_default()
    }

    fn timestamp(&mut self) -> Option<Timestamp> {
        let field = "status_timestamp_after";
        // The Go client calls it lastUpdatedAfter.
        let value = self.value(field, &["statusTimestampAfter", "lastUpdatedAfter"])?;
        // A plus sign that was not encoded reads as a space: `…T00:00:00 02:00`.
        let value = value.trim().replace(' ', "+");
        self.parsed(field, value.parse().ok(), "must be an RFC 3339 timestamp")
    }

    fn parsed<T>(&mut self, field: &str, value: Option<T>, rule: &str) -> Option<T> {
        if value.is_none() {
            self.fault(field, rule);
        }
        value
    }

    fn fault(&mut self, field: &str, description: &str) {
        self.violations
            .push(FieldViolation::new(field, description));
    }
}

fn decode(text: &str) -> Cow<'_, str> {
    match text.contains(['%', '+']) {
        true => {
            let spaced = text.replace('+', " ");
            Cow::Owned(
                percent_decode(spaced.as_bytes())
                    .decode_utf8_lossy()
                    .into_owned(),
            )
        }
        false => Cow::Borrowed(text),
    }
}

/// Appends the query of the operation to its path.
pub(super) fn write(operation: &Operation, path: &mut String) {
    let mut separator = '?';
    let mut put = |key: &str, value: &str| {
        let value = utf8_percent_encode(value, SEGMENT);
        // Writing to a string can't fail.
        let _ = write!(path, "{separator}{key}={value}");
        separator = '&';
    };
    match operation {
        Operation::Unary(Call::GetTask(request)) => {
            if let Some(length) = request.history_length {
                put("historyLength", &length.to_string());
            }
        }
        Operation::Unary(Call::ListTasks(request)) => {
            if !request.context_id.is_empty() {
                put("contextId", &request.context_id);
            }
            match request.status() {
                TaskState::Unspecified => {}
                state => put("status", state.as_str_name()),
            }
            if let Some(size) = request.page_size {
                put("pageSize", &size.to_string());
            }
            if !request.page_token.is_empty() {
                put("pageToken", &request.page_token);
            }
            if let Some(length) = request.history_length {
                put("historyLength", &length.to_string());
            }
            if let Some(after) = request.status_timestamp_after {
                put("statusTimestampAfter", &after.to_string());
            }
            if let Some(include) = request.include_artifacts {
                put("includeArtifacts", &include.to_string());
            }
        }
        Operation::Unary(Call::ListTaskPushNotificationConfigs(request)) => {
            if request.page_size != 0 {
                put("pageSize", &request.page_size.to_string());
            }
            if !request.page_token.is_empty() {
                put("pageToken", &request.page_token);
            }
        }
        _ => {}
    }
}

//! The error that goes over the wire, and its table.

mod causes;
mod code;
mod status;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use causes::{Causes, WithCauses, causes};
pub use code::{ErrorCode, RpcCode, UnknownErrorCode};

/// The domain of the ErrorInfo detail.
pub const ERROR_DOMAIN: &str = "a2a-protocol.org";

/// What a peer is told when a call fails.
///
/// The message is for people and reaches the peer; what must stay here goes to [`with_source`](Self::with_source),
/// which is for the log only.
///
/// ```
/// # use a2a_proto::{A2aError, ErrorCode};
/// let error = A2aError::invalid_params("historyLength must not be negative")
///     .with_violation("history_length", "must not be negative");
/// assert_eq!(error.code(), ErrorCode::InvalidParams);
/// assert_eq!(error.violations()[0].field, "history_length");
/// ```
#[derive(Clone)]
pub struct A2aError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: ErrorCode,
    message: String,
    reason: Option<String>,
    metadata: BTreeMap<String, String>,
    violations: Vec<FieldViolation>,
    retry_after: Option<Duration>,
    other_details: Vec<serde_json::Value>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What is wrong with one field of a request (`google.rpc.BadRequest`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldViolation {
    /// The path in proto names, such as `message.parts[0].url`.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

impl FieldViolation {
    /// A violation of the field at that path.
    pub fn new(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            description: description.into(),
        }
    }
}

impl fmt::Display for FieldViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.description)
    }
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $code:ident;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(message: impl Into<String>) -> Self {
                Self::new(ErrorCode::$code, message)
            }
        )*
    };
}

impl A2aError {
    /// An error with that code and message.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: message.into(),
            reason: None,
            metadata: BTreeMap::new(),
            violations: Vec::new(),
            retry_after: None,
            other_details: Vec::new(),
            source: None,
        }))
    }

    /// The task does not exist, or not for this caller: both read the same.
    #[must_use]
    pub fn task_not_found() -> Self {
        Self::new(ErrorCode::TaskNotFound, "task not found")
    }

    /// Parameters that break the rules that these violations name.
    #[must_use]
    pub fn invalid_fields(violations: Vec<FieldViolation>) -> Self {
        let mut message = "invalid parameters".to_owned();
        for (index, violation) in violations.iter().take(NAMED).enumerate() {
            let before = if index == 0 { ": " } else { "; " };
            message.push_str(&format!("{before}{violation}"));
        }
        if violations.len() > NAMED {
            message.push_str(&format!("; and {} more", violations.len() - NAMED));
        }
        let mut error = Self::new(ErrorCode::InvalidParams, message);
        error.0.violations = violations;
        error
    }

    constructors! {
        /// See [`ErrorCode::TaskNotCancelable`].
        task_not_cancelable => TaskNotCancelable;
        /// See [`ErrorCode::PushNotificationNotSupported`].
        push_notification_not_supported => PushNotificationNotSupported;
        /// See [`ErrorCode::UnsupportedOperation`].
        unsupported_operation => UnsupportedOperation;
        /// See [`ErrorCode::ContentTypeNotSupported`].
        content_type_not_supported => ContentTypeNotSupported;
        /// See [`ErrorCode::InvalidAgentResponse`].
        invalid_agent_response => InvalidAgentResponse;
        /// See [`ErrorCode::ExtendedAgentCardNotConfigured`].
        extended_agent_card_not_configured => ExtendedAgentCardNotConfigured;
        /// See [`ErrorCode::ExtensionSupportRequired`].
        extension_support_required => ExtensionSupportRequired;
        /// See [`ErrorCode::VersionNotSupported`].
        version_not_supported => VersionNotSupported;
        /// See [`ErrorCode::ParseError`].
        parse_error => ParseError;
        /// See [`ErrorCode::InvalidRequest`].
        invalid_request => InvalidRequest;
        /// See [`ErrorCode::MethodNotFound`].
        method_not_found => MethodNotFound;
        /// See [`ErrorCode::InvalidParams`].
        invalid_params => InvalidParams;
        /// See [`ErrorCode::Internal`].
        internal => Internal;
        /// See [`ErrorCode::Unauthenticated`].
        unauthenticated => Unauthenticated;
        /// See [`ErrorCode::PermissionDenied`].
        permission_denied => PermissionDenied;
        /// See [`ErrorCode::Unavailable`].
        unavailable => Unavailable;
        /// See [`ErrorCode::ResourceExhausted`].
        resource_exhausted => ResourceExhausted;
        /// See [`ErrorCode::DeadlineExceeded`].
        deadline_exceeded => DeadlineExceeded;
        /// See [`ErrorCode::Canceled`].
        canceled => Canceled;
    }

    /// Adds a field violation.
    #[must_use]
    pub fn with_violation(
        mut self,
        field: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        self.0
            .violations
            .push(FieldViolation::new(field, description));
        self
    }

    /// Adds an entry to the ErrorInfo's metadata.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.metadata.insert(key.into(), value.into());
        self
    }

    /// Says that a later try may succeed, and after how long (`google.rpc.RetryInfo`).
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.0.retry_after = Some(delay);
        self
    }

    /// Keeps a reason that is in no table.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.0.reason = Some(reason.into());
        self
    }

    /// Keeps a detail that is neither ErrorInfo, BadRequest nor RetryInfo.
    #[must_use]
    pub fn with_detail(mut self, detail: serde_json::Value) -> Self {
        self.0.other_details.push(detail);
        self
    }

    /// Keeps the cause for the log; it is never sent.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The text for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The ErrorInfo reason: the peer's own where it sent one, else the table's.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.0
            .reason
            .as_deref()
            .unwrap_or_else(|| self.0.code.reason())
    }

    /// The ErrorInfo metadata.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.0.metadata
    }

    /// What is wrong with which field.
    #[must_use]
    pub fn violations(&self) -> &[FieldViolation] {
        &self.0.violations
    }

    /// How long to wait before the next try, where one may succeed.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The details that have no place of their own here, as the peer sent them.
    #[must_use]
    pub fn other_details(&self) -> &[serde_json::Value] {
        &self.0.other_details
    }

    /// Whether a later try may succeed: the server said so.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.retry_after.is_some() || self.0.code == ErrorCode::Unavailable
    }
}

impl fmt::Debug for A2aError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("A2aError");
        out.field("code", &self.0.code)
            .field("message", &self.0.message);
        if let Some(reason) = &self.0.reason {
            out.field("reason", reason);
        }
        if !self.0.metadata.is_empty() {
            out.field("metadata", &self.0.metadata);
        }
        if !self.0.violations.is_empty() {
            out.field("violations", &self.0.violations);
        }
        if let Some(delay) = &self.0.retry_after {
            out.field("retry_after", delay);
        }
        if !self.0.other_details.is_empty() {
            out.field("other_details", &self.0.other_details);
        }
        if let Some(source) = &self.0.source {
            out.field("source", source);
        }
        out.finish()
    }
}

impl fmt::Display for A2aError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.message, self.0.code)
    }
}

impl Error for A2aError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

/// How many faults the text for people names; all of them are in the violations.
const NAMED: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_word_wide() {
        assert_eq!(size_of::<A2aError>(), size_of::<usize>());
    }

    #[test]
    fn the_text_names_three_faults_and_counts_the_rest() {
        let faults = |count| {
            let fault = |index| FieldViolation::new(format!("f{index}"), "is required");
            let error = A2aError::invalid_fields((0..count).map(fault).collect());
            error.message().to_owned()
        };
        assert_eq!(faults(0), "invalid parameters");
        assert_eq!(faults(1), "invalid parameters: f0: is required");
        let three = "invalid parameters: f0: is required; f1: is required; f2: is required";
        assert_eq!(faults(3), three);
        assert_eq!(faults(5), format!("{three}; and 2 more"));
    }
}

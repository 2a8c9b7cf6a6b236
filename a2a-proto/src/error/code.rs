//! The table of errors: one row a code, with its form on each binding.

use std::fmt;
use std::str::FromStr;

/// What went wrong, independent of the binding that carries it (A2A 1.0 §5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The task does not exist, or not for this caller.
    TaskNotFound,
    /// The task is past the point where it could be canceled.
    TaskNotCancelable,
    /// The agent sends no push notifications.
    PushNotificationNotSupported,
    /// The operation is not possible here or in the task's state.
    UnsupportedOperation,
    /// A part has a media type that the agent does not take.
    ContentTypeNotSupported,
    /// The agent's answer breaks the protocol.
    InvalidAgentResponse,
    /// An extended card is announced but there is none for this caller.
    ExtendedAgentCardNotConfigured,
    /// The agent requires an extension that the caller did not list.
    ExtensionSupportRequired,
    /// The protocol version is not spoken at this interface.
    VersionNotSupported,
    /// The body is not JSON.
    ParseError,
    /// The JSON-RPC envelope is wrong.
    InvalidRequest,
    /// There is no such operation.
    MethodNotFound,
    /// A parameter is missing or wrong; the field violations say which.
    InvalidParams,
    /// Something failed on the server.
    Internal,
    /// Credentials are missing or wrong.
    Unauthenticated,
    /// The caller may not do this.
    PermissionDenied,
    /// The server can't serve the call now; a later try may succeed.
    Unavailable,
    /// A limit was exceeded.
    ResourceExhausted,
    /// The caller's deadline passed.
    DeadlineExceeded,
    /// The call was canceled.
    Canceled,
    /// A JSON-RPC code that is in no table.
    Unknown(i32),
}

/// A canonical `google.rpc.Code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the set is closed by gRPC")]
#[expect(missing_docs, reason = "the names are gRPC's")]
pub enum RpcCode {
    Ok = 0,
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

struct Row {
    code: ErrorCode,
    json_rpc: i32,
    rpc: RpcCode,
    http: u16,
    reason: &'static str,
}

const fn row(code: ErrorCode, json_rpc: i32, rpc: RpcCode, http: u16, reason: &'static str) -> Row {
    Row {
        code,
        json_rpc,
        rpc,
        http,
        reason,
    }
}

/// Where a JSON-RPC code stands in several rows, the first is what the bare code means.
static TABLE: [Row; 20] = [
    row(
        ErrorCode::TaskNotFound,
        -32001,
        RpcCode::NotFound,
        404,
        "TASK_NOT_FOUND",
    ),
    row(
        ErrorCode::TaskNotCancelable,
        -32002,
        RpcCode::FailedPrecondition,
        400,
        "TASK_NOT_CANCELABLE",
    ),
    row(
        ErrorCode::PushNotificationNotSupported,
        -32003,
        RpcCode::FailedPrecondition,
        400,
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
    ),
    row(
        ErrorCode::UnsupportedOperation,
        -32004,
        RpcCode::FailedPrecondition,
        400,
        "UNSUPPORTED_OPERATION",
    ),
    row(
        ErrorCode::ContentTypeNotSupported,
        -32005,
        RpcCode::InvalidArgument,
        400,
        "CONTENT_TYPE_NOT_SUPPORTED",
    ),
    row(
        ErrorCode::InvalidAgentResponse,
        -32006,
        RpcCode::Internal,
        500,
        "INVALID_AGENT_RESPONSE",
    ),
    row(
        ErrorCode::ExtendedAgentCardNotConfigured,
        -32007,
        RpcCode::FailedPrecondition,
        400,
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    ),
    row(
        ErrorCode::ExtensionSupportRequired,
        -32008,
        RpcCode::FailedPrecondition,
        400,
        "EXTENSION_SUPPORT_REQUIRED",
    ),
    row(
        ErrorCode::VersionNotSupported,
        -32009,
        RpcCode::FailedPrecondition,
        400,
        "VERSION_NOT_SUPPORTED",
    ),
    row(
        ErrorCode::ParseError,
        -32700,
        RpcCode::InvalidArgument,
        400,
        "PARSE_ERROR",
    ),
    row(
        ErrorCode::InvalidRequest,
        -32600,
        RpcCode::InvalidArgument,
        400,
        "INVALID_REQUEST",
    ),
    row(
        ErrorCode::MethodNotFound,
        -32601,
        RpcCode::Unimplemented,
        404,
        "METHOD_NOT_FOUND",
    ),
    row(
        ErrorCode::InvalidParams,
        -32602,
        RpcCode::InvalidArgument,
        400,
        "INVALID_PARAMS",
    ),
    row(
        ErrorCode::Internal,
        -32603,
        RpcCode::Internal,
        500,
        "INTERNAL_ERROR",
    ),
    row(
        ErrorCode::Unauthenticated,
        -32603,
        RpcCode::Unauthenticated,
        401,
        "UNAUTHENTICATED",
    ),
    row(
        ErrorCode::PermissionDenied,
        -32603,
        RpcCode::PermissionDenied,
        403,
        "PERMISSION_DENIED",
    ),
    row(
        ErrorCode::Unavailable,
        -32603,
        RpcCode::Unavailable,
        503,
        "UNAVAILABLE",
    ),
    row(
        ErrorCode::ResourceExhausted,
        -32603,
        RpcCode::ResourceExhausted,
        413,
        "RESOURCE_EXHAUSTED",
    ),
    row(
        ErrorCode::DeadlineExceeded,
        -32603,
        RpcCode::DeadlineExceeded,
        504,
        "DEADLINE_EXCEEDED",
    ),
    row(
        ErrorCode::Canceled,
        -32603,
        RpcCode::Cancelled,
        499,
        "CANCELED",
    ),
];

const INTERNAL: &Row = &row(
    ErrorCode::Internal,
    -32603,
    RpcCode::Internal,
    500,
    "INTERNAL_ERROR",
);

impl ErrorCode {
    /// Every code of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.code)
    }

    /// The JSON-RPC code.
    #[must_use]
    pub fn json_rpc(self) -> i32 {
        match self {
            Self::Unknown(code) => code,
            _ => self.row().json_rpc,
        }
    }

    /// The HTTP status on HTTP+JSON.
    #[must_use]
    pub fn http_status(self) -> u16 {
        self.row().http
    }

    /// The gRPC code, which is also the `status` of an HTTP+JSON error.
    #[must_use]
    pub fn rpc(self) -> RpcCode {
        self.row().rpc
    }

    /// The `reason` of the ErrorInfo detail.
    #[must_use]
    pub fn reason(self) -> &'static str {
        self.row().reason
    }

    /// What a bare JSON-RPC code means.
    #[must_use]
    pub fn from_json_rpc(code: i32) -> Self {
        match code {
            // The Go SDK's own codes.
            -31401 => Self::Unauthenticated,
            -31403 => Self::PermissionDenied,
            _ => TABLE
                .iter()
                .find(|row| row.json_rpc == code)
                .map_or(Self::Unknown(code), |row| row.code),
        }
    }

    /// What an ErrorInfo `reason` means, the other SDKs' spellings included.
    #[must_use]
    pub fn from_reason(reason: &str) -> Option<Self> {
        match reason {
            "INTERNAL" | "SERVER_ERROR" => Some(Self::Internal),
            "JSON_PARSE" => Some(Self::ParseError),
            "UNAUTHORIZED" => Some(Self::PermissionDenied),
            "UNSUPPORTED_CONTENT_TYPE" => Some(Self::ContentTypeNotSupported),
            _ => TABLE
                .iter()
                .find(|row| row.reason == reason)
                .map(|row| row.code),
        }
    }

    /// What a bare gRPC code means, where no detail says more.
    #[must_use]
    pub fn from_rpc(code: RpcCode) -> Self {
        match code {
            RpcCode::Cancelled => Self::Canceled,
            RpcCode::InvalidArgument | RpcCode::OutOfRange => Self::InvalidParams,
            RpcCode::DeadlineExceeded => Self::DeadlineExceeded,
            RpcCode::NotFound => Self::TaskNotFound,
            RpcCode::PermissionDenied => Self::PermissionDenied,
            RpcCode::ResourceExhausted => Self::ResourceExhausted,
            RpcCode::FailedPrecondition => Self::UnsupportedOperation,
            RpcCode::Unimplemented => Self::MethodNotFound,
            RpcCode::Unavailable => Self::Unavailable,
            RpcCode::Unauthenticated => Self::Unauthenticated,
            RpcCode::Ok
            | RpcCode::Unknown
            | RpcCode::AlreadyExists
            | RpcCode::Aborted
            | RpcCode::Internal
            | RpcCode::DataLoss => Self::Internal,
        }
    }

    /// What a bare HTTP status means, the mappings of 1.0.0 (409, 415, 502) included.
    #[must_use]
    pub fn from_http_status(status: u16) -> Self {
        match status {
            400 | 422 => Self::InvalidParams,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::TaskNotFound,
            405 | 501 => Self::MethodNotFound,
            409 => Self::TaskNotCancelable,
            413 | 429 | 431 => Self::ResourceExhausted,
            415 => Self::ContentTypeNotSupported,
            499 => Self::Canceled,
            502 => Self::InvalidAgentResponse,
            503 => Self::Unavailable,
            408 | 504 => Self::DeadlineExceeded,
            _ => Self::Internal,
        }
    }

    fn row(self) -> &'static Row {
        TABLE
            .iter()
            .find(|row| row.code == self)
            .unwrap_or(INTERNAL)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(code) => write!(f, "{code}"),
            _ => f.write_str(self.reason()),
        }
    }
}

/// The text names no code of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownErrorCode(());

impl fmt::Display for UnknownErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an error code of A2A 1.0")
    }
}

impl std::error::Error for UnknownErrorCode {}

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_reason(text)
            .or_else(|| text.parse().ok().map(Self::from_json_rpc))
            .ok_or(UnknownErrorCode(()))
    }
}

static RPC_CODES: [(RpcCode, &str); 17] = [
    (RpcCode::Ok, "OK"),
    (RpcCode::Cancelled, "CANCELLED"),
    (RpcCode::Unknown, "UNKNOWN"),
    (RpcCode::InvalidArgument, "INVALID_ARGUMENT"),
    (RpcCode::DeadlineExceeded, "DEADLINE_EXCEEDED"),
    (RpcCode::NotFound, "NOT_FOUND"),
    (RpcCode::AlreadyExists, "ALREADY_EXISTS"),
    (RpcCode::PermissionDenied, "PERMISSION_DENIED"),
    (RpcCode::ResourceExhausted, "RESOURCE_EXHAUSTED"),
    (RpcCode::FailedPrecondition, "FAILED_PRECONDITION"),
    (RpcCode::Aborted, "ABORTED"),
    (RpcCode::OutOfRange, "OUT_OF_RANGE"),
    (RpcCode::Unimplemented, "UNIMPLEMENTED"),
    (RpcCode::Internal, "INTERNAL"),
    (RpcCode::Unavailable, "UNAVAILABLE"),
    (RpcCode::DataLoss, "DATA_LOSS"),
    (RpcCode::Unauthenticated, "UNAUTHENTICATED"),
];

impl RpcCode {
    /// The name, such as `NOT_FOUND`.
    #[must_use]
    pub fn name(self) -> &'static str {
        RPC_CODES
            .iter()
            .find(|(code, _)| *code == self)
            .map_or("UNKNOWN", |(_, name)| name)
    }

    /// The code of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        RPC_CODES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(code, _)| *code)
    }

    /// The code of that number; `Unknown` for a number out of range, as gRPC has it.
    #[must_use]
    pub fn from_number(number: i32) -> Self {
        RPC_CODES
            .iter()
            .find(|(code, _)| *code as i32 == number)
            .map_or(Self::Unknown, |(code, _)| *code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_survive_their_text_and_their_reason() {
        for code in ErrorCode::all() {
            assert_eq!(ErrorCode::from_reason(code.reason()), Some(code));
            assert_eq!(code.to_string().parse(), Ok(code));
            assert_eq!(RpcCode::from_name(code.rpc().name()), Some(code.rpc()));
            assert_eq!(RpcCode::from_number(code.rpc() as i32), code.rpc());
        }
        assert_eq!(ErrorCode::from_json_rpc(-32050), ErrorCode::Unknown(-32050));
        assert_eq!("-32050".parse(), Ok(ErrorCode::Unknown(-32050)));
    }
}

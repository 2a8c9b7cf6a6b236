//! What can go wrong with a call.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use a2a_proto::error::{WithCauses, causes};
use a2a_proto::header::Version;
use a2a_proto::v1::TaskState;
use a2a_proto::wire::ReplyError;
use a2a_proto::{A2aError, ErrorCode, Method};
use http::StatusCode;
use http::header::RETRY_AFTER;
use http::response::Parts;

use crate::route::Route;

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a call failed.
///
/// Opaque: the predicates say what kind it is, [`protocol`](Self::protocol) what the peer itself had to say. Display
/// prints one level, the cause is in [`source`](StdError::source); neither the texts nor the types of the causes are
/// stable. An address in it has neither user, password nor query.
///
/// ```
/// # fn handle(error: a2a_client::Error) {
/// match error.protocol() {
///     Some(said) => eprintln!("the agent refused: {}", said.message()),
///     None if error.is_retryable() => eprintln!("try again: {error}"),
///     None => eprintln!("{error}"),
/// }
/// # }
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    method: Option<Method>,
    endpoint: Option<String>,
    status: Option<StatusCode>,
    retry_after: Option<Duration>,
    /// What to do about it.
    hint: Option<String>,
    source: Option<BoxError>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// The client can't be made of this.
    Builder(String),
    /// No connection; nothing was sent.
    Connect,
    /// The stream ended before the task came to rest.
    Cut(TaskState),
    /// What the peer sent can't be read.
    Decode(&'static str),
    /// From outside this crate.
    Other,
    /// The agent speaks another version.
    PeerSpeaks(Version),
    /// The peer answered with an error.
    Protocol(A2aError),
    /// Nothing was sent, since it would be refused.
    Refused(A2aError),
    /// An HTTP status without an A2A error.
    Status(StatusCode),
    /// The time is over.
    Timeout,
    /// The connection broke.
    Transport,
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner {
            kind,
            method: None,
            endpoint: None,
            status: None,
            retry_after: None,
            hint: None,
            source: None,
        }))
    }

    pub(crate) fn builder(text: impl Into<String>) -> Self {
        Self::new(Kind::Builder(text.into()))
    }

    pub(crate) fn refused(error: A2aError) -> Self {
        Self::new(Kind::Refused(error))
    }

    pub(crate) fn decode(what: &'static str) -> Self {
        Self::new(Kind::Decode(what))
    }

    /// An error of another origin: for transports and interceptors outside this crate.
    pub fn other(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(Kind::Other).with_source(source)
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Keeps what the head of the answer says: the status, and when to come again.
    pub(crate) fn with_head(mut self, head: &Parts) -> Self {
        self.0.status = Some(head.status);
        let seconds = head
            .headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let seconds = seconds.and_then(|text| text.trim().parse().ok());
        self.0.retry_after = seconds.map(Duration::from_secs);
        self
    }

    /// Says which call it was; what is known already stays.
    pub(crate) fn during(mut self, method: Method, endpoint: &str) -> Self {
        self.0.method.get_or_insert(method);
        self.at(endpoint)
    }

    /// Says of an address that can't be reached who named it, and what helps.
    pub(crate) fn advertised(mut self, route: &Route) -> Self {
        if let (Kind::Connect, Some(card)) = (&self.0.kind, &route.advertised_by) {
            self.0.hint.get_or_insert_with(|| {
                format!(
                    "the card at {card} names this address; where it can't be reached from here, \
                     `ClientBuilder::rebase` puts another origin in its place"
                )
            });
        }
        self
    }

    pub(crate) fn at(mut self, endpoint: &str) -> Self {
        self.0.endpoint.get_or_insert_with(|| endpoint.to_owned());
        self
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// What a span says of it: one of few words.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.kind() {
            Kind::Builder(_) => "builder",
            Kind::Connect => "connect",
            Kind::Cut(_) => "cut",
            Kind::Decode(_) => "decode",
            Kind::Other => "other",
            Kind::PeerSpeaks(_) => "version",
            Kind::Protocol(error) | Kind::Refused(error) => error.code().reason(),
            Kind::Status(_) => "http_status",
            Kind::Timeout => "timeout",
            Kind::Transport => "transport",
        }
    }

    /// What the peer said, if the error is its own.
    #[must_use]
    pub fn protocol(&self) -> Option<&A2aError> {
        match self.kind() {
            Kind::Protocol(error) => Some(error),
            _ => None,
        }
    }

    /// The error code: of the peer's error, of a local check that foresaw it, or what an HTTP status alone says.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self.kind() {
            Kind::Protocol(error) | Kind::Refused(error) => Some(error.code()),
            // A 404 of a wrong address says nothing about a task.
            Kind::Status(status) => match status.as_u16() {
                status @ (401 | 403 | 413 | 429 | 503) => Some(ErrorCode::from_http_status(status)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The HTTP status of the answer, on the HTTP bindings.
    #[must_use]
    pub fn http_status(&self) -> Option<StatusCode> {
        match self.kind() {
            Kind::Status(status) => Some(*status),
            _ => self.0.status,
        }
    }

    /// How long to wait before another try, where the peer says it.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let said = self.protocol().and_then(A2aError::retry_after);
        said.or(self.0.retry_after)
    }

    /// The version that the agent speaks, if it is one that this client doesn't.
    #[must_use]
    pub fn peer_speaks(&self) -> Option<Version> {
        match self.kind() {
            Kind::PeerSpeaks(version) => Some(*version),
            _ => None,
        }
    }

    /// The operation that failed.
    #[must_use]
    pub fn method(&self) -> Option<Method> {
        self.0.method
    }

    /// Where it was tried.
    #[must_use]
    pub fn endpoint(&self) -> Option<&str> {
        self.0.endpoint.as_deref()
    }

    /// Takes the address out, where even a host's name must not get into a log.
    #[must_use]
    pub fn without_endpoint(mut self) -> Self {
        self.0.endpoint = None;
        self.0.hint = None;
        self
    }

    /// Whether the client could not be made: a bad address, card or setting.
    #[must_use]
    pub fn is_builder(&self) -> bool {
        matches!(self.kind(), Kind::Builder(_))
    }

    /// Whether no connection came about, so that nothing can have arrived.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        matches!(self.kind(), Kind::Connect)
    }

    /// Whether time ran out, here or at the peer.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        let timed_out = |error: &(dyn StdError + 'static)| {
            let io = error.downcast_ref::<io::Error>();
            let http = error.downcast_ref::<reqwest::Error>();
            io.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
                || http.is_some_and(reqwest::Error::is_timeout)
        };
        matches!(self.kind(), Kind::Timeout)
            || self.code() == Some(ErrorCode::DeadlineExceeded)
            || causes(self).any(timed_out)
    }

    /// Whether the peer sent what can't be read, or is larger than the limit.
    #[must_use]
    pub fn is_decode(&self) -> bool {
        matches!(self.kind(), Kind::Decode(_))
    }

    /// Whether the call was canceled.
    #[must_use]
    pub fn is_canceled(&self) -> bool {
        self.code() == Some(ErrorCode::Canceled)
    }

    /// Whether a stream ended although its task has not come to rest: nobody knows what came of it, and
    /// [`subscribe_to_task`](crate::Client::subscribe_to_task) or [`get_task`](crate::Client::get_task) tells.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        matches!(self.kind(), Kind::Cut(_))
    }

    /// Whether a message was sent, and nobody knows whether it arrived: the connection broke, or time ran out, before the
    /// agent had answered. Sending it again could have it worked on twice. Its id is the caller's: the agent's tasks tell
    /// whether one of them has it in its history.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        let sends = matches!(
            self.method(),
            Some(Method::SendMessage | Method::SendStreamingMessage)
        );
        let lost = match self.kind() {
            Kind::Timeout | Kind::Transport | Kind::Cut(TaskState::Unspecified) => true,
            // What stands before the agent did not get its answer.
            Kind::Status(status) => matches!(status.as_u16(), 502 | 504),
            Kind::Protocol(error) => error.code() == ErrorCode::DeadlineExceeded,
            _ => false,
        };
        sends && lost
    }

    /// Whether the same call may be made again: nothing has arrived, or the peer invites to it.
    ///
    /// Not so after a [cut](Self::is_cut) or a timeout: the message may have arrived.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.kind() {
            Kind::Connect => true,
            Kind::Protocol(error) => error.is_retryable(),
            Kind::Status(status) => matches!(status.as_u16(), 429 | 503),
            _ => false,
        }
    }
}

/// An error that a peer answered with.
impl From<A2aError> for Error {
    fn from(error: A2aError) -> Self {
        Self::new(Kind::Protocol(error))
    }
}

impl From<ReplyError> for Error {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::OldProtocol => Self::new(Kind::PeerSpeaks(Version::V0_3)),
            error => Self::decode("the answer can't be used").with_source(error),
        }
    }
}

/// In one line with all causes, as a `main` that returns it prints it; `{:#?}` shows the fields.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return fmt::Display::fmt(&WithCauses(self), f);
        }
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.0.kind);
        if let Some(method) = &self.0.method {
            out.field("method", method);
        }
        if let Some(endpoint) = &self.0.endpoint {
            out.field("endpoint", endpoint);
        }
        if let Some(status) = &self.0.status {
            out.field("status", status);
        }
        if let Some(source) = &self.0.source {
            out.field("source", source);
        }
        out.finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(method) = self.0.method {
            write!(f, "{method}: ")?;
        }
        match &self.0.kind {
            Kind::Builder(text) => f.write_str(text),
            Kind::Connect => f.write_str("no connection"),
            Kind::Cut(TaskState::Unspecified) => {
                f.write_str("the stream was cut before a task was seen")
            }
            Kind::Cut(state) => write!(
                f,
                "the stream was cut while the task was in {}",
                state.as_str_name()
            ),
            Kind::Decode(what) => f.write_str(what),
            Kind::Other => f.write_str("the call failed"),
            Kind::PeerSpeaks(version) => {
                write!(f, "the agent speaks A2A {version}; this client speaks 1.0")
            }
            Kind::Protocol(error) => write!(f, "the agent answered: {error}"),
            Kind::Refused(error) => write!(f, "not sent: {error}"),
            Kind::Status(status) => {
                write!(f, "the server answered HTTP {status} without an A2A error")
            }
            Kind::Timeout => f.write_str("time ran out"),
            Kind::Transport => f.write_str("the connection broke"),
        }?;
        if let Some(endpoint) = &self.0.endpoint {
            write!(f, " ({endpoint})")?;
        }
        match &self.0.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.source {
            Some(source) => Some(&**source),
            None => match &self.0.kind {
                Kind::Protocol(error) | Kind::Refused(error) => error.source(),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_word_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn prints_one_level_and_keeps_the_source() {
        let error = Error::new(Kind::Connect)
            .with_source(io::Error::other("inner"))
            .during(Method::GetTask, "http://h.test/rpc");
        assert_eq!(
            error.to_string(),
            "GetTask: no connection (http://h.test/rpc)"
        );
        assert_eq!(error.source().unwrap().to_string(), "inner");
        assert_eq!(
            error.without_endpoint().to_string(),
            "GetTask: no connection"
        );
    }

    #[test]
    fn predicates_tell_the_kinds_apart() {
        let peer = Error::from(A2aError::unavailable("full"));
        assert!(peer.is_retryable() && peer.protocol().is_some());
        assert!(Error::new(Kind::Connect).is_retryable());
        let cut = Error::new(Kind::Cut(TaskState::Working));
        assert!(cut.is_cut() && !cut.is_retryable());
        assert!(Error::from(A2aError::deadline_exceeded("")).is_timeout());
        let timed_out = io::Error::from(io::ErrorKind::TimedOut);
        assert!(
            Error::new(Kind::Connect)
                .with_source(timed_out)
                .is_timeout()
        );
        let local = Error::refused(A2aError::unsupported_operation(""));
        assert_eq!(local.code(), Some(ErrorCode::UnsupportedOperation));
        assert!(local.protocol().is_none());
    }

    #[test]
    fn a_status_alone_is_no_task_not_found() {
        let status = |code| Error::new(Kind::Status(StatusCode::from_u16(code).unwrap()));
        assert_eq!(status(404).code(), None);
        assert_eq!(status(401).code(), Some(ErrorCode::Unauthenticated));
        assert!(status(503).is_retryable() && !status(502).is_retryable());
    }
}

//! Every limit of the server in one place.

use std::time::Duration;

use crate::store::Retention;

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// What a server accepts and how long it waits.
        ///
        /// | limit | default | past it |
        /// |---|---|---|
        /// | [`body_bytes`](Self::body_bytes) | 16 MiB | ResourceExhausted |
        /// | [`http_body_bytes`](Self::http_body_bytes) | as `body_bytes` | ResourceExhausted, HTTP 413 |
        /// | [`message_parts`](Self::message_parts) | 1,024 | InvalidParams |
        /// | [`metadata_bytes`](Self::metadata_bytes) | 1 MiB | InvalidParams |
        /// | [`header_bytes`](Self::header_bytes) | 64 KiB | 431, or the stream is reset |
        /// | [`streams_per_connection`](Self::streams_per_connection) | 256 | further HTTP/2 streams wait |
        /// | [`first_request`](Self::first_request) | 10 s | the connection is closed |
        /// | [`idle`](Self::idle) | 75 s | the HTTP/1 connection is closed, the request whose body stopped coming is refused |
        /// | [`ping_interval`](Self::ping_interval) + [`ping_timeout`](Self::ping_timeout) | 20 s + 20 s | the connection is closed |
        /// | [`keep_alive`](Self::keep_alive) | 15 s | a comment is sent on a silent SSE stream |
        /// | [`executions`](Self::executions) | 1,024 | Unavailable, retryable |
        /// | [`waiting_messages`](Self::waiting_messages) | 8 | UnsupportedOperation |
        /// | [`subscribers_per_task`](Self::subscribers_per_task) | 16,384 | ResourceExhausted |
        /// | [`lag_wait`](Self::lag_wait) | 30 s | the stream that lags ends, retryable |
        /// | [`store_timeout`](Self::store_timeout) | 30 s | the outcome counts as unknown |
        /// | [`max_execution_time`](Self::max_execution_time) | none | the task fails |
        /// | [`cleanup_time`](Self::cleanup_time) | 30 s | the executor is dropped |
        /// | [`grace`](Self::grace) | 5 s | what still runs is dropped |
        /// | [`retention`](Self::retention) | 1 hour and 10,000 finished tasks, 168 hours and 10,000 that wait | the oldest is forgotten by the memory store |
        ///
        /// History and artifacts have no limit. How deep JSON may be nested is not a setting: see
        /// [`a2a_proto::json`].
        ///
        /// ```
        /// use a2a_server::Limits;
        ///
        /// let limits = Limits::default().body_bytes(1024 * 1024).executions(16);
        /// assert_eq!(limits.executions, 16);
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Limits {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, $name: $type) -> Self {
                    self.$name = $name;
                    self
                }
            )*
        }
    };
}

limits! {
    /// Bytes of a request body or gRPC message, the same on all bindings.
    body_bytes: usize = 16 * MIB;
    /// Bytes of a request body on the two HTTP bindings, where gRPC has another limit: `None` is as
    /// [`body_bytes`](Self::body_bytes).
    http_body_bytes: Option<usize> = None;
    /// Parts of a message.
    message_parts: usize = 1024;
    /// Bytes of all metadata of a request together, as protobuf.
    metadata_bytes: usize = MIB;
    /// Bytes of the headers of a request.
    header_bytes: u32 = 64 * 1024;
    /// Open HTTP/2 streams of one connection.
    streams_per_connection: u32 = 256;
    /// How long a new connection may take to send its HTTP/2 preface or the headers of its first request.
    first_request: Duration = Duration::from_secs(10);
    /// How long an HTTP/1 connection may wait for its next request, or take to send that request's headers, and how long
    /// the next piece of a body may take to come.
    idle: Duration = Duration::from_secs(75);
    /// How often an HTTP/2 connection is pinged.
    ping_interval: Duration = Duration::from_secs(20);
    /// How long the answer to a ping may take.
    ping_timeout: Duration = Duration::from_secs(20);
    /// How often a silent SSE stream gets a comment, so that nothing between takes it for dead.
    keep_alive: Duration = Duration::from_secs(15);
    /// Executions that run at once.
    executions: usize = 1024;
    /// Messages that wait for a running execution to take them.
    waiting_messages: usize = 8;
    /// Streams that follow one task.
    subscribers_per_task: usize = 16 * 1024;
    /// How long an executor waits for a stream that lags behind, where the server chose to wait.
    lag_wait: Duration = Duration::from_secs(30);
    /// How long a call of the task store may take.
    store_timeout: Duration = Duration::from_secs(30);
    /// How long an execution may take; time in AUTH_REQUIRED is not counted.
    max_execution_time: Option<Duration> = None;
    /// How long an executor may go on after the event that closed the task.
    cleanup_time: Duration = Duration::from_secs(30);
    /// What the memory store keeps that the agent makes for itself; a store of one's own has its own.
    retention: Retention = Retention::default();
    /// How long an executor may go on after its cancellation, and open connections after shutdown has begun.
    grace: Duration = Duration::from_secs(5);
}

impl Limits {
    /// Bytes of a request body on the two HTTP bindings.
    pub(crate) fn http_bytes(&self) -> usize {
        self.http_body_bytes.unwrap_or(self.body_bytes)
    }
}

const MIB: usize = 1024 * 1024;

//! The table of the eleven operations.

use std::fmt;
use std::str::FromStr;

/// The gRPC service that carries the operations.
pub const SERVICE: &str = "lf.a2a.v1.A2AService";

/// An operation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new operation must be handled by every binding"
)]
pub enum Method {
    /// Sends a message and waits for the outcome.
    SendMessage,
    /// Sends a message and streams what follows.
    SendStreamingMessage,
    /// Reads a task.
    GetTask,
    /// Lists tasks, page by page.
    ListTasks,
    /// Asks for a task to be canceled.
    CancelTask,
    /// Joins the stream of a task.
    SubscribeToTask,
    /// Registers a webhook for a task.
    CreateTaskPushNotificationConfig,
    /// Reads a webhook registration.
    GetTaskPushNotificationConfig,
    /// Lists the webhook registrations of a task.
    ListTaskPushNotificationConfigs,
    /// Removes a webhook registration.
    DeleteTaskPushNotificationConfig,
    /// Reads the card that authenticated callers see.
    GetExtendedAgentCard,
}

/// One row of the table.
struct Row {
    method: Method,
    name: &'static str,
    grpc_path: &'static str,
    verb: http::Method,
    template: &'static str,
    streaming: bool,
}

macro_rules! row {
    ($name:ident, $verb:ident, $template:literal, $streaming:literal) => {
        Row {
            method: Method::$name,
            name: stringify!($name),
            grpc_path: concat!("/lf.a2a.v1.A2AService/", stringify!($name)),
            verb: http::Method::$verb,
            template: $template,
            streaming: $streaming,
        }
    };
}

/// In the order of the variants.
static TABLE: [Row; 11] = [
    row!(SendMessage, POST, "/message:send", false),
    row!(SendStreamingMessage, POST, "/message:stream", true),
    row!(GetTask, GET, "/tasks/{id}", false),
    row!(ListTasks, GET, "/tasks", false),
    row!(CancelTask, POST, "/tasks/{id}:cancel", false),
    row!(SubscribeToTask, POST, "/tasks/{id}:subscribe", true),
    row!(
        CreateTaskPushNotificationConfig,
        POST,
        "/tasks/{task_id}/pushNotificationConfigs",
        false
    ),
    row!(
        GetTaskPushNotificationConfig,
        GET,
        "/tasks/{task_id}/pushNotificationConfigs/{id}",
        false
    ),
    row!(
        ListTaskPushNotificationConfigs,
        GET,
        "/tasks/{task_id}/pushNotificationConfigs",
        false
    ),
    row!(
        DeleteTaskPushNotificationConfig,
        DELETE,
        "/tasks/{task_id}/pushNotificationConfigs/{id}",
        false
    ),
    row!(GetExtendedAgentCard, GET, "/extendedAgentCard", false),
];

impl Method {
    /// Every operation.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.method)
    }

    /// The name on JSON-RPC and gRPC, such as `SendMessage`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The gRPC path, such as `/lf.a2a.v1.A2AService/SendMessage`.
    #[must_use]
    pub fn grpc_path(self) -> &'static str {
        self.row().grpc_path
    }

    /// The verb on HTTP+JSON. SubscribeToTask is also answered on GET (the specification names both).
    #[must_use]
    pub fn verb(self) -> &'static http::Method {
        &self.row().verb
    }

    /// The path template on HTTP+JSON, below the interface's URL and without a tenant.
    #[must_use]
    pub fn template(self) -> &'static str {
        self.row().template
    }

    /// Whether the answer is a stream.
    #[must_use]
    pub fn is_streaming(self) -> bool {
        self.row().streaming
    }

    /// The operation behind a gRPC path.
    #[must_use]
    pub fn from_grpc_path(path: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|row| row.grpc_path == path)
            .map(|row| row.method)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "one row a variant, which a test proves"
    )]
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not that of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod(());

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an operation of A2A 1.0")
    }
}

impl std::error::Error for UnknownMethod {}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        TABLE
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.method)
            .ok_or(UnknownMethod(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variant_has_its_row() {
        for (index, method) in Method::all().enumerate() {
            assert_eq!(method as usize, index);
            assert_eq!(method.name().parse(), Ok(method));
            assert_eq!(Method::from_grpc_path(method.grpc_path()), Some(method));
            assert!(method.grpc_path().contains(SERVICE));
        }
    }
}

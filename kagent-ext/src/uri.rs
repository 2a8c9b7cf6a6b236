//! Names that kagent has fixed: extension URIs, metadata keys and header names.

/// Human in the loop, version 1 (kagent contract 3).
pub const HITL: &str = "https://kagent.dev/extensions/hitl/v1";

/// Token usage, version 1 (kagent contract 4).
pub const USAGE: &str = "https://kagent.dev/extensions/usage/v1";

/// What a client lists in `A2A-Extensions` on every call, whatever the card says: the cards of byo agents announce
/// neither (kagent contract 11.11).
///
/// Without [`HITL`] on the send that pauses, the pause can never be answered. It stands last: each URI is a header line of
/// its own, since the Go SDK splits none, and of several lines kagent's Python helper reads the last.
pub const ACTIVATED: [&str; 2] = [USAGE, HITL];

/// Metadata keys (kagent contract 5).
pub mod key {
    /// On a data part: what it is, such as `function_call`.
    pub const PART_TYPE: &str = "kagent.dev/a2a/part-type";
    /// On a message or artifact: where it stands in the transcript.
    pub const TIMELINE_POSITION: &str = "kagent.dev/a2a/timeline-position";
    /// On a task: when the gateway took its first message.
    pub const TASK_CREATED_AT: &str = "kagent.dev/a2a/task-created-at";
    /// On an event: the usage object of one model call, as the provider wrote it.
    pub const CALL_USAGE: &str = "kagent.dev/a2a/usage";
}

/// Header names, which are gRPC metadata keys too (kagent contract 1.7).
pub mod header {
    /// Who speaks; set by kagent's gateway.
    pub const USER_ID: &str = "x-user-id";
    /// `agent` on calls that an agent makes.
    pub const SOURCE: &str = "x-kagent-source";
    /// The fence that the gateway puts around one delivery.
    pub const DISPATCH_ID: &str = "x-kagent-dispatch-id";
    /// The context of the agent that calls.
    pub const PARENT_CONTEXT_ID: &str = "x-kagent-parent-context-id";
    /// The context in which the outermost agent was called.
    pub const ROOT_CONTEXT_ID: &str = "x-kagent-root-context-id";
}

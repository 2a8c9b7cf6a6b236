//! What a server chooses.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::v1::Task;
use async_trait::async_trait;

use super::Window;
use crate::executor::ExecutionContext;
use crate::limits::Limits;
use crate::observe::Watch;

/// When events are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PersistPolicy {
    /// Each event before it is published.
    EveryEvent,
    /// Appended artifact chunks are published at once and stored together with the next ones; any other event takes
    /// what has gathered along and is stored before it is published. A crash may lose the write under way and what
    /// gathered behind it.
    Coalesce {
        /// How many bytes may gather.
        bytes: usize,
        /// How long a chunk may wait.
        delay: Duration,
    },
}

impl PersistPolicy {
    /// Gathers at most 4 KiB or 50 ms.
    #[must_use]
    pub fn coalesce() -> Self {
        Self::Coalesce {
            bytes: 4 << 10,
            delay: Duration::from_millis(50),
        }
    }
}

/// What happens to a message for a task whose executor is working.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a message is taken or it is not")]
pub enum ConcurrentMessages {
    /// It is refused with UnsupportedOperation.
    #[default]
    Reject,
    /// It is stored and handed to [`ExecutionContext::next_message`](crate::ExecutionContext::next_message).
    Deliver,
}

/// What happens when the stream that started an execution reads more slowly than the agent writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "one of the two must wait or give up"
)]
pub enum LagPolicy {
    /// A stream that falls behind the window ends with a retryable error.
    #[default]
    End,
    /// The agent waits for the stream that started it, at most 30 seconds an event.
    Wait,
}

/// Who may see a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the store either scopes or it does not"
)]
pub enum TaskScope {
    /// The principal that created it, within its tenant.
    #[default]
    Principal,
    /// Everybody who reaches the server: it serves one session.
    Server,
}

/// What a caller is told when all execution slots are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two servers that there are")]
pub enum Busy {
    /// UNAVAILABLE, to be tried again.
    #[default]
    Unavailable,
    /// UnsupportedOperation "session already has active work", as kagent's helpers say it.
    Unsupported,
}

/// What stands between a boundary state and its publication: hold, save, hook, settle, free the slot, publish.
///
/// On a generic server nothing is held, there is no hook, and the store's settle does nothing.
#[derive(Clone, Default)]
pub struct BoundaryPolicy {
    pub(crate) hold: bool,
    pub(crate) hook: Option<Arc<dyn BoundaryHook>>,
    pub(crate) store_decides: bool,
}

impl BoundaryPolicy {
    /// Boundary events are published as they are sent.
    #[must_use]
    pub fn immediate() -> Self {
        Self::default()
    }

    /// A boundary event waits until the executor has returned; it closes the sink, AUTH_REQUIRED included.
    #[must_use]
    pub fn held() -> Self {
        Self {
            hold: true,
            ..Self::default()
        }
    }

    /// Calls a hook between the save and the settling.
    #[must_use]
    pub fn with_hook(mut self, hook: Arc<dyn BoundaryHook>) -> Self {
        self.hook = Some(hook);
        self
    }

    /// After a failed save the store alone decides what becomes of the task: the engine writes nothing.
    #[must_use]
    pub fn with_store_deciding(mut self) -> Self {
        self.store_decides = true;
        self
    }
}

impl fmt::Debug for BoundaryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundaryPolicy")
            .field("hold", &self.hold)
            .field("hook", &self.hook.is_some())
            .field("store_decides", &self.store_decides)
            .finish()
    }
}

/// Called between the save of a boundary state and its settling, such as to flush telemetry. Given up after 3 seconds.
#[async_trait]
pub trait BoundaryHook: Send + Sync + 'static {
    /// The task is stored in this state and not yet settled.
    async fn before_settle(&self, task: &Task);

    /// An executor has returned or been dropped, and what follows from it is done: where its task is at a boundary,
    /// that has been published. Called in the middle of the work, it must not wait.
    fn execution_ended(&self, cx: &ExecutionContext) {
        let _ = cx;
    }
}

/// All that the engine is told by its builder.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The agent's name, for the log.
    pub(crate) agent: String,
    pub(crate) persist: PersistPolicy,
    pub(crate) concurrent: ConcurrentMessages,
    pub(crate) lag: LagPolicy,
    pub(crate) watch: Watch,
    pub(crate) scope: TaskScope,
    /// A task is WORKING before the first event of its executor.
    pub(crate) announce_working: bool,
    pub(crate) busy: Busy,
    pub(crate) boundary: BoundaryPolicy,
    /// Patterns of media types; `None` takes all.
    pub(crate) input_modes: Option<Vec<String>>,
    pub(crate) window: Window,
    pub(crate) limits: Limits,
}

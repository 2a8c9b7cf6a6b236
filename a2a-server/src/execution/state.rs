//! What is behind a task's lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use a2a_proto::A2aError;
use a2a_proto::v1::{Message, StreamResponse};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio_util::sync::CancellationToken;

use super::coalesce::Gathered;
use super::deliver::{Begun, Join};
use super::placement::Lease;
use super::room::Grown;
use crate::context::CallContext;
use crate::executor::ExecutionContext;
use crate::store::TaskVersion;

#[derive(Default)]
pub(crate) struct State {
    /// The version that the store has; `None` when it must be read first.
    pub(crate) version: Option<TaskVersion>,
    pub(crate) run: Option<Run>,
    /// A save failed, and what the store has is being found out.
    pub(crate) in_doubt: bool,
    /// The task is being canceled; a later answer comes too late.
    pub(crate) canceling: bool,
    /// The call in whose name CANCELED is stored.
    pub(crate) cancel_call: Option<CallContext>,
    pub(crate) gathered: Gathered,
    /// The events of another engine are copied to the bus.
    pub(crate) following: bool,
}

/// The live execution of a task.
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) cx: ExecutionContext,
    pub(crate) stage: Stage,
    /// Whether an artifact or a status message with text was sent: then a plain return completes the task.
    pub(crate) spoke: bool,
    /// Who waits for the first event of a [`ReplyMode::Either`](crate::ReplyMode::Either) executor.
    pub(crate) origin: Option<Origin>,
    pub(crate) grown: Grown,
    /// The cursor of the stream that started the execution.
    pub(crate) origin_cursor: Option<u64>,
    pub(crate) signals: Signals,
    #[expect(dead_code, reason = "held, and dropped with the run")]
    pub(crate) hold: Hold,
}

/// What an execution takes up, and gives back when it is over.
pub(crate) struct Hold {
    _permit: OwnedSemaphorePermit,
    _lease: Lease,
}

impl Hold {
    pub(crate) fn new(permit: OwnedSemaphorePermit, lease: Lease) -> Self {
        Self {
            _permit: permit,
            _lease: lease,
        }
    }
}

/// How far the sink is.
pub(crate) enum Stage {
    Open,
    /// A boundary event waits until the executor has returned.
    Held(Box<StreamResponse>),
    /// A closing event has been published, or a message was the answer.
    Closed,
}

/// The caller whose message may be answered without a task.
pub(crate) struct Origin {
    pub(crate) join: Join,
    pub(crate) message: Message,
    pub(crate) begun: oneshot::Sender<Result<Begun, A2aError>>,
}

/// What the task that drives an execution listens to.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    /// The executor is to be dropped at once.
    pub(crate) kill: CancellationToken,
    /// The sink is closed: clean-up time runs.
    pub(crate) closed: CancellationToken,
    /// A message waits for the execution to be over.
    pub(crate) hurry: CancellationToken,
    /// The execution is over.
    pub(crate) done: CancellationToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunId(u64);

impl RunId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl State {
    /// The live execution with that id.
    pub(crate) fn run_mut(&mut self, id: RunId) -> Option<&mut Run> {
        self.run.as_mut().filter(|run| run.id == id)
    }

    /// Ends the live execution: gives its slot and its lease back, and tells who waits for it.
    pub(crate) fn release(&mut self) {
        if let Some(run) = self.run.take() {
            let done = run.signals.done.clone();
            drop(run);
            done.cancel();
        }
    }
}

impl Run {
    /// Closes the sink.
    pub(crate) fn close(&mut self, stage: Stage) {
        self.stage = stage;
        self.cx.control().close();
        self.signals.closed.cancel();
    }

    /// Whether the executor can still change the task: its sink is open, or holds an event.
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self.stage, Stage::Closed) && !self.signals.kill.is_cancelled()
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open)
    }

    pub(crate) fn control(&self) -> &Arc<super::Control> {
        self.cx.control()
    }
}

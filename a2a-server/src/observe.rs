//! What a server does, told as it happens: for metrics, with whichever library an application has.

mod calls;
mod store;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_proto::v1::TaskState;
use a2a_proto::{Binding, ErrorCode, Method};

use crate::execution::catch_now;

pub(crate) use calls::CallGuard;
pub(crate) use store::ObservedStore;

/// Told what a server does, one observation after the other and from many threads.
///
/// Observations hold neither content nor ids: every label has a few dozen values at most. What begins also ends, when a
/// caller leaves, an executor panics or a task is dropped as well. An observer is called in the middle of the work and
/// must not wait; a panic of its is caught and logged.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use a2a_server::{Agent, Observation, Observer, executor_fn};
///
/// #[derive(Default)]
/// struct Failures(AtomicU64);
///
/// impl Observer for Failures {
///     fn observe(&self, observation: &Observation) {
///         if let Observation::CallEnded { error: Some(_), .. } = observation {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// # let echo = executor_fn(|cx, out| async move { Ok(out.reply(cx.message().text()).await?) });
/// let agent = Agent::builder(echo).observer(Failures::default());
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Takes note.
    fn observe(&self, observation: &Observation);
}

/// Something that a server did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Observation {
    /// A call with a known method has come.
    #[non_exhaustive]
    CallBegan {
        /// Over which binding.
        binding: Binding,
        /// Which operation.
        method: Method,
    },
    /// It is answered, or its stream has been opened, or its caller has left, which counts as Canceled.
    #[non_exhaustive]
    CallEnded {
        /// Over which binding.
        binding: Binding,
        /// Which operation.
        method: Method,
        /// How it failed.
        error: Option<ErrorCode>,
        /// How long it took.
        took: Duration,
    },
    /// A request was turned away before its operation was known: by its credentials, or since there is no such operation.
    #[non_exhaustive]
    Refused {
        /// Over which binding.
        binding: Binding,
        /// Why.
        error: ErrorCode,
    },
    /// A stream has been opened.
    #[non_exhaustive]
    StreamBegan {
        /// Over which binding.
        binding: Binding,
        /// Which operation.
        method: Method,
    },
    /// It has ended, or its reader has left. One that fell behind ends with an error.
    #[non_exhaustive]
    StreamEnded {
        /// Over which binding.
        binding: Binding,
        /// Which operation.
        method: Method,
        /// How many events were read.
        events: u64,
        /// With what error it ended.
        error: Option<ErrorCode>,
        /// How long it was open.
        took: Duration,
    },
    /// An executor was called.
    #[non_exhaustive]
    ExecutionBegan {},
    /// It has returned, failed or been dropped.
    #[non_exhaustive]
    ExecutionEnded {
        /// The state in which it left its task; UNSPECIFIED if there is none.
        state: TaskState,
        /// How long it took.
        took: Duration,
    },
    /// The task store was called.
    #[non_exhaustive]
    StoreCalled {
        /// The method of [`TaskStore`](crate::TaskStore), such as `update`.
        operation: &'static str,
        /// Whether it failed, panicked, or was given up.
        failed: bool,
        /// How long it took.
        took: Duration,
    },
}

/// The observer, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Arc<dyn Observer>>);

impl Watch {
    pub(crate) fn new(observer: Arc<dyn Observer>) -> Self {
        Self(Some(observer))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn tell(&self, observation: &Observation) {
        if let Some(observer) = &self.0
            && catch_now(|| observer.observe(observation)).is_err()
        {
            tracing::error!("the observer panicked");
        }
    }

    /// To be held while the executor runs.
    pub(crate) fn execution(&self) -> ExecutionGuard {
        self.tell(&Observation::ExecutionBegan {});
        ExecutionGuard {
            watch: self.clone(),
            begun: Instant::now(),
            state: TaskState::Unspecified,
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.0.is_some()).finish()
    }
}

/// Tells the end of an execution when it is dropped.
pub(crate) struct ExecutionGuard {
    watch: Watch,
    begun: Instant,
    state: TaskState,
}

impl ExecutionGuard {
    pub(crate) fn left_in(&mut self, state: TaskState) {
        self.state = state;
    }
}

impl Drop for ExecutionGuard {
    fn drop(&mut self) {
        self.watch.tell(&Observation::ExecutionEnded {
            state: self.state,
            took: self.begun.elapsed(),
        });
    }
}

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use a2a_proto::v1::Task;

use super::{TokenCounts, Usage};

/// Adds up the tokens of a task's model calls, each once.
///
/// Cheap to clone; the clones share one sum.
///
/// ```
/// use kagent_ext::usage::{TokenCounts, UsageMeter};
///
/// let meter = UsageMeter::default();
/// meter.record("call-1", "gpt-4o", TokenCounts::new(1_000, 150));
/// meter.record("call-1", "gpt-4o", TokenCounts::new(1_000, 150));
/// assert_eq!(meter.usage().total().total, 1_150);
/// ```
#[derive(Clone, Debug, Default)]
pub struct UsageMeter(Arc<Mutex<Sum>>);

#[derive(Debug, Default)]
struct Sum {
    usage: Usage,
    counted: HashSet<String>,
    /// Of the newest call.
    last: Option<TokenCounts>,
    /// Whether no event has told it yet.
    untold: bool,
}

impl UsageMeter {
    /// Goes on from what a stored task says, so that the sum is that of the task and not of one execution.
    #[must_use]
    pub fn seeded(task: Option<&Task>) -> Self {
        let usage = task.and_then(Usage::of).unwrap_or_default();
        Self(Arc::new(Mutex::new(Sum {
            usage,
            ..Sum::default()
        })))
    }

    /// Counts a model call when it has ended, unless a call with that id is counted; an empty id is never known.
    ///
    /// The model is what the response names; empty where it names none. A missing total is derived for this call.
    pub fn record(&self, call_id: &str, model: &str, counts: TokenCounts) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if call_id.is_empty() || sum.counted.insert(call_id.to_owned()) {
            let counts = counts.with_derived_total();
            sum.usage.add(model, counts);
            (sum.last, sum.untold) = (Some(counts), true);
        }
    }

    /// What the newest call used, once: for the next event. The event that ends the execution is told again.
    #[cfg(feature = "server")]
    pub(super) fn call_to_tell(&self, ends: bool) -> Option<TokenCounts> {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let untold = std::mem::take(&mut sum.untold);
        sum.last.filter(|_| untold || ends)
    }

    /// The sum so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .usage
            .clone()
    }
}

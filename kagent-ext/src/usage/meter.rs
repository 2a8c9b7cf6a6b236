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
}

impl UsageMeter {
    /// Goes on from what a stored task says, so that the sum is that of the task and not of one execution.
    #[must_use]
    pub fn seeded(task: Option<&Task>) -> Self {
        let usage = task.and_then(Usage::of).unwrap_or_default();
        Self(Arc::new(Mutex::new(Sum {
            usage,
            counted: HashSet::new(),
        })))
    }

    /// Counts a model call when it has ended, unless a call with that id is counted; an empty id is never known.
    ///
    /// The model is what the response names; empty where it names none. A missing total is derived for this call.
    pub fn record(&self, call_id: &str, model: &str, counts: TokenCounts) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if call_id.is_empty() || sum.counted.insert(call_id.to_owned()) {
            sum.usage.add(model, counts.with_derived_total());
        }
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

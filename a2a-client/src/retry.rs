//! When a call is made again.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use a2a_proto::{ErrorCode, Method};
use tokio::time::Instant;

use crate::error::{Error, Kind};

/// Makes calls again where that is safe.
///
/// Safe is what did not arrive (no connection came about), what the agent itself asks to try again, and what only reads,
/// however it failed. A message that may have arrived is never sent again: see [`Error::is_outcome_unknown`].
///
/// Pauses double from 100 ms to 5 s, each with a part left to chance, and are as long as the agent asks for where it does.
/// All calls of a client share a budget, so that an agent that is down is not asked more and more often: each retry costs
/// one of 20, each call that succeeds gives a tenth back.
///
/// ```no_run
/// # async fn run() -> a2a_client::Result<()> {
/// use a2a_client::{Client, Retries};
///
/// let client = Client::builder()
///     .retries(Retries::new().attempts(5))
///     .connect("https://agent.example")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Retries {
    attempts: u32,
    within: Duration,
    also: Option<Rule>,
    budget: Arc<AtomicU32>,
}

/// Says of an error when the call may be made again.
type Rule = Arc<dyn Fn(&Error) -> Option<Duration> + Send + Sync>;

impl Retries {
    /// At most three attempts, within 30 seconds.
    pub fn new() -> Self {
        Self {
            attempts: 3,
            within: Duration::from_secs(30),
            also: None,
            budget: Arc::new(AtomicU32::new(BUDGET)),
        }
    }

    /// Sets how many attempts a call has, the first one included.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets how long after its begin a call may still be made again.
    pub fn within(mut self, limit: Duration) -> Self {
        self.within = limit;
        self
    }

    /// Adds a rule for what an agent says in its own way: behind which errors a call may be made again, and when. It is
    /// asked of messages too, so that it must name errors behind which nothing has been done, and counts no attempts.
    pub fn also(
        mut self,
        rule: impl Fn(&Error) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.also = Some(Arc::new(rule));
        self
    }

    /// How long to wait before the call is made again; `None` where it is not.
    pub(crate) fn pause(
        &self,
        method: Method,
        error: &Error,
        attempts: u32,
        begun: Instant,
    ) -> Option<Duration> {
        let pause = match self.also.as_ref().and_then(|rule| rule(error)) {
            Some(pause) => pause,
            None if attempts >= self.attempts || !is_safe(method, error) => return None,
            None => error.retry_after().unwrap_or_else(|| backoff(attempts)),
        };
        let in_time = begun.elapsed().saturating_add(pause) <= self.within;
        (in_time && self.spend()).then_some(pause)
    }

    /// A call succeeded: a part of what was spent comes back.
    pub(crate) fn earn(&self) {
        let earn = |left: u32| Some(left.saturating_add(GAIN).min(BUDGET));
        let _ = self
            .budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, earn);
    }

    fn spend(&self) -> bool {
        let spend = |left: u32| left.checked_sub(COST);
        self.budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_ok()
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Retries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retries")
            .field("attempts", &self.attempts)
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}

fn is_safe(method: Method, error: &Error) -> bool {
    let reads = matches!(
        method,
        Method::GetTask
            | Method::ListTasks
            | Method::SubscribeToTask
            | Method::GetExtendedAgentCard
            | Method::GetTaskPushNotificationConfig
            | Method::ListTaskPushNotificationConfigs
    );
    match error.kind() {
        Kind::Connect => true,
        Kind::Protocol(said) if reads => said.is_retryable(),
        // Of a message INTERNAL with a time to come again may have been worked on.
        Kind::Protocol(said) => said.code() == ErrorCode::Unavailable,
        Kind::Status(status) => match status.as_u16() {
            429 | 503 => true,
            502 | 504 => reads,
            _ => false,
        },
        Kind::Transport => reads,
        _ => false,
    }
}

/// Half of it is left to chance, so that callers that failed together do not come again together.
fn backoff(attempts: u32) -> Duration {
    let doubled = FIRST.saturating_mul(1 << attempts.saturating_sub(1).min(10));
    let longest = doubled.min(LONGEST);
    let chance = RandomState::new().hash_one(attempts) % 1000;
    longest / 2 + longest / 2 * u32::try_from(chance).unwrap_or(0) / 1000
}

/// In tenths of a retry.
const BUDGET: u32 = 200;
const COST: u32 = 10;
const GAIN: u32 = 1;
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use a2a_proto::A2aError;

    use super::*;

    fn pause(retries: &Retries, method: Method, error: Error, attempts: u32) -> Option<Duration> {
        retries.pause(method, &error, attempts, Instant::now())
    }

    fn broke() -> Error {
        Error::new(Kind::Transport)
    }

    #[test]
    fn a_message_is_sent_again_only_where_it_did_not_arrive() {
        let retries = Retries::new();
        let failed = || Error::from(A2aError::internal("x").with_retry_after(FIRST));
        for method in [
            Method::SendMessage,
            Method::SendStreamingMessage,
            Method::CancelTask,
        ] {
            assert!(pause(&retries, method, Error::new(Kind::Connect), 1).is_some());
            let busy = Error::from(A2aError::unavailable("busy"));
            assert!(pause(&retries, method, busy, 1).is_some());
            for error in [broke(), Error::new(Kind::Timeout), failed()] {
                assert_eq!(pause(&retries, method, error, 1), None);
            }
        }
        for method in [Method::GetTask, Method::ListTasks, Method::SubscribeToTask] {
            assert!(pause(&retries, method, broke(), 1).is_some());
            assert_eq!(pause(&retries, method, failed(), 1), Some(FIRST));
            let missing = Error::from(A2aError::task_not_found());
            assert_eq!(pause(&retries, method, missing, 1), None);
        }
    }

    #[test]
    fn pauses_grow_and_are_those_that_the_agent_asks_for() {
        let retries = Retries::new().attempts(u32::MAX);
        for (attempts, longest) in [(1, 100), (2, 200), (3, 400), (20, 5_000)] {
            let longest = Duration::from_millis(longest);
            let pause = pause(&retries, Method::GetTask, broke(), attempts).unwrap();
            assert!((longest / 2..=longest).contains(&pause), "{pause:?}");
        }
        let asked = Duration::from_secs(7);
        let busy = || Error::from(A2aError::unavailable("busy").with_retry_after(asked));
        assert_eq!(pause(&retries, Method::GetTask, busy(), 1), Some(asked));
        let short = retries.within(Duration::from_secs(6));
        assert_eq!(
            pause(&short, Method::GetTask, busy(), 1),
            None,
            "it would be too late"
        );
    }

    #[test]
    fn attempts_and_budget_come_to_an_end() {
        let retries = Retries::new();
        assert_eq!(pause(&retries, Method::GetTask, broke(), 3), None);
        let shared = retries.clone();
        let mut made = 0;
        while pause(&retries, Method::GetTask, broke(), 1).is_some() {
            made += 1;
        }
        assert_eq!(made, 20);
        assert_eq!(
            pause(&shared, Method::GetTask, broke(), 1),
            None,
            "clones share it"
        );
        for _ in 0..10 {
            shared.earn();
        }
        assert!(pause(&retries, Method::GetTask, broke(), 1).is_some());
        assert_eq!(pause(&retries, Method::GetTask, broke(), 1), None);
    }

    #[test]
    fn a_rule_of_the_callers_own_is_asked_first() {
        let rule = |error: &Error| {
            let is_it = error.protocol()?.message() == "come again";
            is_it.then_some(Duration::from_millis(3))
        };
        let retries = Retries::new().also(rule);
        let told = |text: &str| Error::from(A2aError::unsupported_operation(text));
        let again = pause(&retries, Method::SendMessage, told("come again"), 9);
        assert_eq!(again, Some(Duration::from_millis(3)));
        assert_eq!(pause(&retries, Method::SendMessage, told("no"), 1), None);
    }
}

//! What every [`TaskStore`] must do, as a test that any store can run.
//!
//! ```
//! use a2a_server::MemoryStore;
//! use a2a_server::testing::store::conformance;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! conformance(async || MemoryStore::new()).await;
//! # }
//! ```

mod listing;
mod paging;
mod reading;
mod scoping;
mod writing;

#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use a2a_proto::error::WithCauses;
use a2a_proto::v1::{ListTasksRequest, StreamResponse, Task, TaskState, TaskStatus};
use a2a_proto::{Method, Timestamp};

use super::DEADLINE;
use crate::auth::Principal;
use crate::context::CallContext;
use crate::execution::new_id;
use crate::store::{StoreError, TaskStore, TaskVersion, TaskWrite};

/// Tests a store against all rules of the trait, each on a store of its own.
///
/// The stores may share what is behind them, such as a database: each rule has ids, a tenant and callers that no other
/// uses. A store that scopes by something else than tenant and principal breaks the rules of scoping.
///
/// # Panics
///
/// When a rule is broken, with the name of each and what was found.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub async fn conformance<S: TaskStore>(make: impl AsyncFn() -> S) {
    let broken = broken_rules(make).await;
    if !broken.is_empty() {
        let lines: Vec<String> = broken.iter().map(ToString::to_string).collect();
        panic!(
            "the store breaks {} of {} rules:\n{}",
            broken.len(),
            rules().len(),
            lines.join("\n")
        );
    }
}

/// Tests as [`conformance`] does, and tells which rules are broken instead of panicking.
pub async fn broken_rules<S: TaskStore>(make: impl AsyncFn() -> S) -> Vec<BrokenRule> {
    let mut broken = Vec::new();
    for (rule, check) in rules() {
        let bench = Bench {
            store: Arc::new(make().await),
            run: new_id(),
        };
        let outcome = tokio::time::timeout(DEADLINE, check(&bench)).await;
        let late = |_| Err(Broken(format!("did not end within {DEADLINE:?}")));
        if let Err(Broken(found)) = outcome.unwrap_or_else(late) {
            broken.push(BrokenRule { rule, found });
        }
    }
    broken
}

/// A rule that a store does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    rule: &'static str,
    found: String,
}

impl BrokenRule {
    /// The name of the rule, such as `listing::the_context_filters`.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.rule
    }

    /// What was found instead.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.found)
    }
}

type Checking<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;
type Check = for<'a> fn(&'a Bench) -> Checking<'a>;

fn rules() -> Vec<(&'static str, Check)> {
    macro_rules! rules {
        ($($module:ident::$rule:ident,)*) => {
            vec![$((
                concat!(stringify!($module), "::", stringify!($rule)),
                |bench| Box::pin($module::$rule(bench)),
            )),*]
        };
    }
    rules![
        writing::a_new_task_is_read_back,
        writing::an_id_is_taken_once,
        writing::of_concurrent_creations_one_wins,
        writing::each_kind_of_event_is_stored,
        writing::a_stale_version_changes_nothing,
        writing::of_concurrent_updates_one_wins,
        writing::an_unknown_task_is_not_updated,
        writing::a_boundary_state_is_settled,
        reading::an_unknown_task_is_none,
        reading::a_task_that_was_read_stays_as_it_was,
        reading::a_big_task_is_kept_whole,
        reading::unusual_values_are_kept,
        scoping::a_foreign_principal_sees_nothing,
        scoping::a_foreign_tenant_sees_nothing,
        scoping::the_anonymous_caller_is_nobody_else,
        listing::the_newest_status_is_first,
        listing::the_context_filters,
        listing::the_state_filters,
        listing::the_time_filters_and_its_bound_counts,
        listing::filters_join,
        listing::artifacts_are_shown_on_request,
        listing::the_newest_messages_are_shown,
        listing::an_update_is_listed,
        paging::pages_lose_nothing,
        paging::a_page_says_what_it_holds,
        paging::a_task_that_moves_is_not_shown_twice,
        paging::a_foreign_token_is_refused,
    ]
}

/// What a rule works with.
struct Bench {
    store: Arc<dyn TaskStore>,
    /// Part of every id, and the tenant.
    run: String,
}

impl Bench {
    /// The call of the caller that owns the tasks.
    fn call(&self) -> CallContext {
        CallContext::new(Method::SendMessage)
            .with_tenant(self.run.clone())
            .with_principal(Principal::named("owner"))
    }

    fn id(&self, name: &str) -> String {
        format!("{}-{name}", self.run)
    }

    /// A task in a state since that second.
    fn task(&self, name: &str, state: TaskState, seconds: i64) -> Task {
        Task {
            status: Some(TaskStatus::new(state).at(Timestamp { seconds, nanos: 0 })),
            ..Task::submitted(self.id(name), self.id("context"))
        }
    }

    async fn create(&self, task: &Task) -> Result<TaskVersion, StoreError> {
        self.store.create(&self.call(), task).await
    }

    /// Stores the task as a snapshot, at that version.
    async fn replace(&self, task: &Task, expected: TaskVersion) -> Result<TaskVersion, StoreError> {
        let event = StreamResponse::from(task.clone());
        let events = [&event];
        let write = TaskWrite::new(task, &events, expected);
        self.store.update(&self.call(), write).await
    }

    /// Reads a task that must be there.
    async fn read(&self, id: &str) -> Result<(Task, TaskVersion), Broken> {
        let stored = self.store.get(&self.call(), id).await?;
        let stored = stored.ok_or_else(|| Broken(format!("task {id} is gone")))?;
        Ok((Task::clone(&stored.task), stored.version))
    }

    /// The names of the tasks that are listed.
    async fn names(&self, request: &ListTasksRequest) -> Result<Vec<String>, Broken> {
        let response = self.store.list(&self.call(), request).await?;
        Ok(self.names_of(&response.tasks))
    }

    fn names_of(&self, tasks: &[Task]) -> Vec<String> {
        let name = |task: &Task| {
            let name = task.id.strip_prefix(&format!("{}-", self.run));
            name.unwrap_or(&task.id).to_owned()
        };
        tasks.iter().map(name).collect()
    }
}

fn page(size: i32, token: &str) -> ListTasksRequest {
    ListTasksRequest {
        page_size: Some(size),
        page_token: token.to_owned(),
        ..ListTasksRequest::default()
    }
}

type Outcome = Result<(), Broken>;

struct Broken(String);

/// A call that must succeed did not.
impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self(format!("the store answers: {}", WithCauses(&error)))
    }
}

fn same<T: PartialEq<E> + fmt::Debug, E: fmt::Debug>(what: &str, found: T, expected: E) -> Outcome {
    if found == expected {
        Ok(())
    } else {
        Err(Broken(format!(
            "{what}: expected {}, found {}",
            shortened(&expected),
            shortened(&found)
        )))
    }
}

/// As much of a value as a reader takes in.
fn shortened(value: &impl fmt::Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!(
            "{}… ({} bytes)",
            text.get(..end).unwrap_or_default(),
            text.len()
        ),
        None => text,
    }
}

/// The call fails with that error.
fn fails<T: fmt::Debug>(
    what: &str,
    found: Result<T, StoreError>,
    expected: &str,
    is_expected: impl Fn(&StoreError) -> bool,
) -> Outcome {
    match found {
        Err(error) if is_expected(&error) => Ok(()),
        other => Err(Broken(format!(
            "{what}: expected {expected}, found {}",
            shortened(&other)
        ))),
    }
}

const SHOWN: usize = 600;

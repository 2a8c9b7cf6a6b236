use std::sync::Mutex;

use a2a_proto::v1::ListTasksResponse;
use async_trait::async_trait;

use super::*;
use crate::store::{MemoryStore, StoredTask};

#[tokio::test]
async fn the_memory_store_keeps_all_rules() {
    conformance(async || MemoryStore::new()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn the_memory_store_keeps_all_rules_on_threads() {
    conformance(async || MemoryStore::new()).await;
}

/// A store that is wrong in one way.
struct Flawed {
    memory: MemoryStore,
    flaw: Flaw,
    /// Every task ever created, with the call that may read it.
    owners: Mutex<Vec<(CallContext, String)>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    AnyTokenIsTheFirstPage,
    ArtifactsAlways,
    ConflictsAreOverwritten,
    EmptyTasksOnGet,
    EveryoneReads,
    FiltersAreIgnored,
    HistoryFromTheFront,
    LastPageHasAToken,
    OldestFirst,
    SettleFails,
    TotalIsThePage,
    UnknownIsMade,
    UpdatesAreLost,
    VersionStays,
}

impl Flawed {
    fn is(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }
}

#[async_trait]
impl TaskStore for Flawed {
    async fn create(&self, cx: &CallContext, task: &Task) -> Result<TaskVersion, StoreError> {
        let owner = (cx.clone(), task.id.clone());
        self.owners.lock().unwrap().push(owner);
        self.memory.create(cx, task).await
    }

    async fn update(
        &self,
        cx: &CallContext,
        write: TaskWrite<'_>,
    ) -> Result<TaskVersion, StoreError> {
        let found = self.memory.get(cx, &write.task.id).await?;
        match found {
            None if self.is(Flaw::UnknownIsMade) => self.memory.create(cx, write.task).await,
            Some(found) if self.is(Flaw::ConflictsAreOverwritten) => {
                let write = TaskWrite::new(write.task, write.events, found.version);
                self.memory.update(cx, write).await
            }
            Some(found) if self.is(Flaw::UpdatesAreLost) && found.version == write.expected => {
                let snapshot = StreamResponse::from(Task::clone(&found.task));
                let events = [&snapshot];
                let write = TaskWrite::new(&found.task, &events, write.expected);
                self.memory.update(cx, write).await
            }
            _ => {
                let version = self.memory.update(cx, write).await?;
                match self.is(Flaw::VersionStays) {
                    true => Ok(write.expected),
                    false => Ok(version),
                }
            }
        }
    }

    async fn get(&self, cx: &CallContext, id: &str) -> Result<Option<StoredTask>, StoreError> {
        if self.is(Flaw::EveryoneReads) {
            let owners = self.owners.lock().unwrap().clone();
            if let Some((owner, _)) = owners.iter().find(|(_, owned)| owned == id) {
                return self.memory.get(owner, id).await;
            }
        }
        let found = self.memory.get(cx, id).await?;
        Ok(found.map(|found| match self.is(Flaw::EmptyTasksOnGet) {
            true => StoredTask {
                task: Arc::new(Task::submitted(id, "")),
                ..found
            },
            false => found,
        }))
    }

    async fn list(
        &self,
        cx: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, StoreError> {
        let mut request = request.clone();
        let length = request.history_length;
        match self.flaw {
            Flaw::AnyTokenIsTheFirstPage => request.page_token.clear(),
            Flaw::ArtifactsAlways => request.include_artifacts = Some(true),
            Flaw::FiltersAreIgnored => {
                request = page(request.page_size.unwrap(), &request.page_token);
            }
            Flaw::HistoryFromTheFront => request.history_length = None,
            _ => {}
        }
        let mut response = self.memory.list(cx, &request).await?;
        match self.flaw {
            Flaw::HistoryFromTheFront => {
                let length = length.map_or(usize::MAX, |length| length.try_into().unwrap());
                for task in &mut response.tasks {
                    task.history.truncate(length);
                }
            }
            Flaw::LastPageHasAToken if response.next_page_token.is_empty() => {
                response.next_page_token = "more".into();
            }
            Flaw::OldestFirst => response.tasks.reverse(),
            Flaw::TotalIsThePage => {
                response.total_size = response.tasks.len().try_into().unwrap();
            }
            _ => {}
        }
        Ok(response)
    }

    async fn settle(&self, _: &CallContext, _: &str, _: TaskVersion) -> Result<(), StoreError> {
        match self.is(Flaw::SettleFails) {
            true => Err(StoreError::NotFound),
            false => Ok(()),
        }
    }
}

/// Each flaw breaks the rule that is about it.
#[tokio::test]
async fn a_store_that_is_wrong_is_told_which_rule_it_breaks() {
    for (flaw, rule) in [
        (
            Flaw::AnyTokenIsTheFirstPage,
            "paging::a_foreign_token_is_refused",
        ),
        (Flaw::AnyTokenIsTheFirstPage, "paging::pages_lose_nothing"),
        (
            Flaw::ArtifactsAlways,
            "listing::artifacts_are_shown_on_request",
        ),
        (
            Flaw::ConflictsAreOverwritten,
            "writing::a_stale_version_changes_nothing",
        ),
        (
            Flaw::ConflictsAreOverwritten,
            "writing::of_concurrent_updates_one_wins",
        ),
        (Flaw::EmptyTasksOnGet, "writing::a_new_task_is_read_back"),
        (Flaw::EmptyTasksOnGet, "reading::a_big_task_is_kept_whole"),
        (
            Flaw::EveryoneReads,
            "scoping::a_foreign_principal_sees_nothing",
        ),
        (
            Flaw::EveryoneReads,
            "scoping::a_foreign_tenant_sees_nothing",
        ),
        (
            Flaw::EveryoneReads,
            "scoping::the_anonymous_caller_is_nobody_else",
        ),
        (Flaw::FiltersAreIgnored, "listing::the_context_filters"),
        (Flaw::FiltersAreIgnored, "listing::the_state_filters"),
        (
            Flaw::FiltersAreIgnored,
            "listing::the_time_filters_and_its_bound_counts",
        ),
        (Flaw::FiltersAreIgnored, "listing::filters_join"),
        (
            Flaw::HistoryFromTheFront,
            "listing::the_newest_messages_are_shown",
        ),
        (Flaw::LastPageHasAToken, "paging::a_page_says_what_it_holds"),
        (Flaw::OldestFirst, "listing::the_newest_status_is_first"),
        (Flaw::SettleFails, "writing::a_boundary_state_is_settled"),
        (Flaw::TotalIsThePage, "paging::a_page_says_what_it_holds"),
        (
            Flaw::UnknownIsMade,
            "writing::an_unknown_task_is_not_updated",
        ),
        (
            Flaw::UpdatesAreLost,
            "writing::each_kind_of_event_is_stored",
        ),
        (Flaw::UpdatesAreLost, "listing::an_update_is_listed"),
        (Flaw::VersionStays, "writing::each_kind_of_event_is_stored"),
    ] {
        let broken = broken_rules(async || Flawed {
            memory: MemoryStore::new(),
            flaw,
            owners: Mutex::default(),
        })
        .await;
        let names: Vec<&str> = broken.iter().map(BrokenRule::rule).collect();
        assert!(names.contains(&rule), "{flaw:?} breaks {names:?}");
    }
}

#[tokio::test]
#[should_panic(
    expected = "listing::artifacts_are_shown_on_request: artifacts with include_artifacts"
)]
async fn a_broken_rule_fails_the_test_by_its_name() {
    conformance(async || Flawed {
        memory: MemoryStore::new(),
        flaw: Flaw::ArtifactsAlways,
        owners: Mutex::default(),
    })
    .await;
}

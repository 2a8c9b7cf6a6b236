//! What an earlier process left running, and reading the store before anything else happens to it.

use a2a_proto::v1::{ListTasksRequest, ListTasksResponse};
use a2a_proto::{A2aError, ErrorCode};

use super::Engine;
use super::deliver::unreadable;
use crate::context::CallContext;
use crate::store::StoreError;

impl Engine {
    /// Fails what an earlier process left running: nobody works on it any more. Every call waits for it; while it
    /// can't be done calls are refused, and the next one tries again.
    pub(crate) async fn ready(&self) -> Result<(), A2aError> {
        let ready = self.0.ready.get_or_try_init(|| self.fail_abandoned());
        ready.await.map_err(unreadable)?;
        Ok(())
    }

    async fn fail_abandoned(&self) -> Result<(), StoreError> {
        if self.0.settings.boundary.store_decides {
            return Ok(());
        }
        for left in self.guarded(self.0.store.abandoned()).await? {
            let task_id = left.task_id.as_str();
            let entry = match self.enter(&left.call, task_id).await {
                Ok(entry) => entry,
                Err(error) if error.code() == ErrorCode::TaskNotFound => continue,
                Err(error) => {
                    return Err(StoreError::Backend {
                        source: error.into(),
                    });
                }
            };
            let _state = entry.lock().await;
            match self.fail_running(&entry, &left.call, RESTARTED).await {
                Ok(()) => tracing::info!(
                    a2a.task.id = task_id,
                    "a task failed that a restart had cut off"
                ),
                // Somebody else has changed it: it is theirs.
                Err(StoreError::NotFound | StoreError::VersionConflict) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Lists tasks as they are stored.
    pub(crate) async fn list(
        &self,
        call: &CallContext,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError> {
        self.ready().await?;
        let listed = self.guarded(self.0.store.list(call, request)).await;
        listed.map_err(unreadable)
    }
}

/// What the user is told of a task whose executor is gone.
const RESTARTED: &str = "the agent was restarted";

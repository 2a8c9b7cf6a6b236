//! How long a task may grow where its store has a limit.

use a2a_proto::A2aError;
use a2a_proto::v1::{StreamResponse, Task, TaskState};
use prost::Message as _;

use super::state::State;
use super::{Engine, EntryRef};

/// An upper bound of the bytes of a task that events are added to. Measuring a long task anew for each chunk would cost
/// more than the chunk.
#[derive(Default)]
pub(crate) struct Grown(Option<usize>);

impl Engine {
    /// Refuses a task that its store would not take, before anything of it is stored.
    pub(super) fn check_room(&self, task: &Task) -> Result<(), A2aError> {
        match self.0.store.task_bytes() {
            Some(limit) => check(task.encoded_len(), limit.saturating_sub(RESERVED)),
            None => Ok(()),
        }
    }

    /// Refuses an event of the executor that would make the task too long. The events that end or pause it may use what
    /// is kept free for them.
    pub(super) fn check_room_for(
        &self,
        entry: &EntryRef,
        state: &mut State,
        event: &StreamResponse,
    ) -> Result<(), A2aError> {
        let Some(limit) = self.0.store.task_bytes() else {
            return Ok(());
        };
        let (Some(task), Some(run)) = (entry.bus().task(), &mut state.run) else {
            return Ok(());
        };
        let limit = match event.state().is_some_and(TaskState::is_boundary) {
            true => limit,
            false => limit.saturating_sub(RESERVED),
        };
        let grown = run.grown.0.unwrap_or_else(|| task.encoded_len()) + event.encoded_len();
        let grown = if grown <= limit {
            grown
        } else {
            let mut next = Task::clone(&task);
            // What does not fit the task otherwise is told where it is applied.
            let _ = next.apply(event);
            next.encoded_len()
        };
        check(grown, limit)?;
        run.grown = Grown(Some(grown));
        Ok(())
    }
}

fn check(size: usize, limit: usize) -> Result<(), A2aError> {
    match size <= limit {
        true => Ok(()),
        false => Err(A2aError::resource_exhausted(format!(
            "the task would have {size} bytes, its store takes {limit}"
        ))),
    }
}

/// What is kept free for the event that ends or pauses the task, and for what extensions add to it.
const RESERVED: usize = 64 * 1024;

//! What an agent said to one message.

use std::collections::BTreeSet;

use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{StreamResponse, Task, TaskState};

/// The events of one message, and what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The state that ended or paused the task.
    pub(super) boundary: Option<TaskState>,
    /// The task as its events make it.
    pub(super) task: Task,
    /// Artifacts that were appended to before they began.
    pub(super) unseen: BTreeSet<String>,
    /// Events behind the one that ended or paused the task.
    pub(super) late: usize,
    /// The error with which the stream ended.
    pub(super) error: Option<String>,
    begun: BTreeSet<String>,
}

impl Observed {
    pub(super) fn event(&mut self, event: &StreamResponse) {
        if self.boundary.is_some() {
            self.late += 1;
        }
        if let Some(Payload::ArtifactUpdate(update)) = &event.payload
            && let Some(artifact) = &update.artifact
        {
            let id = artifact.artifact_id.clone();
            if update.append && !self.begun.contains(&id) {
                self.unseen.insert(id.clone());
            }
            self.begun.insert(id);
        }
        if let Some(Payload::Task(task)) = &event.payload {
            let ids = task.artifacts.iter();
            self.begun
                .extend(ids.map(|artifact| artifact.artifact_id.clone()));
            self.task = task.clone();
        } else {
            // What does not fit is told by the checks above.
            let _ = self.task.apply(event);
        }
        self.boundary = self
            .boundary
            .or_else(|| event.state().filter(|state| state.is_boundary()));
    }

    /// What the conversation shows.
    pub(super) fn shown(&self) -> String {
        self.task.artifact_text()
    }

    /// What it does not show.
    pub(super) fn hidden(&self) -> String {
        self.task.status_text()
    }
}

use a2a_proto::Struct;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{AgentExtension, StreamResponse, TaskState};
use a2a_server::{ExecutionContext, Extension, async_trait};

use super::{Usage, UsageMeter};
use crate::card;

/// Token usage for an agent: gives each execution a [`UsageMeter`], and writes its sum to every event that ends one,
/// whoever made it and whether or not the caller asked.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct UsageExtension;

impl UsageExtension {
    /// The extension.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Extension for UsageExtension {
    fn declaration(&self) -> AgentExtension {
        card::usage()
    }

    fn begin(&self, cx: &mut ExecutionContext) {
        let meter = UsageMeter::seeded(cx.task());
        cx.extensions_mut().insert(meter);
    }

    fn outgoing(&self, cx: &ExecutionContext, event: &mut StreamResponse) {
        if !event.state().is_some_and(TaskState::is_boundary) {
            return;
        }
        let metadata = match &mut event.payload {
            Some(Payload::StatusUpdate(update)) => &mut update.metadata,
            Some(Payload::Task(task)) => &mut task.metadata,
            Some(Payload::ArtifactUpdate(_) | Payload::Message(_)) | None => return,
        };
        let usage = UsageMeter::of(cx).usage();
        stamp(&usage, metadata);
    }
}

fn stamp(usage: &Usage, metadata: &mut Option<Struct>) {
    if !usage.is_zero() {
        usage.write_to(metadata.get_or_insert_default());
    }
}

impl UsageMeter {
    /// The meter of this execution. Without [`UsageExtension`] it is one that nobody else sees.
    #[must_use]
    pub fn of(cx: &ExecutionContext) -> Self {
        match cx.extensions().get::<Self>() {
            Some(meter) => meter.clone(),
            None => Self::seeded(cx.task()),
        }
    }
}

use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{AgentExtension, StreamResponse, TaskState};
use a2a_server::{ExecutionContext, Extension, async_trait};

use super::UsageMeter;
use crate::card;

/// Token usage for an agent: gives each execution a [`UsageMeter`], and writes its sum to every event that ends one,
/// whoever made it and whether or not the caller asked. What one call used stands on the event that follows it, and what
/// the last one used on the event that ends the execution too.
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
        let ends = event.state().is_some_and(TaskState::is_boundary);
        let metadata = match &mut event.payload {
            Some(Payload::StatusUpdate(update)) => &mut update.metadata,
            Some(Payload::ArtifactUpdate(update)) => &mut update.metadata,
            Some(Payload::Task(task)) => &mut task.metadata,
            Some(Payload::Message(_)) | None => return,
        };
        let Some(meter) = cx.extensions().get::<UsageMeter>() else {
            return;
        };
        if let Some(call) = meter.call_to_tell(ends) {
            call.write_to(metadata.get_or_insert_default());
        }
        let usage = meter.usage();
        if ends && !usage.is_zero() {
            usage.write_to(metadata.get_or_insert_default());
        }
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

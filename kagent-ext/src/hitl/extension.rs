use a2a_proto::A2aError;
use a2a_proto::v1::AgentExtension;
use a2a_server::{EventSink, ExecutionContext, Extension, async_trait};

use super::{Hitl, HitlRequest};
use crate::{card, uri};

/// Human in the loop for an agent: lets an answer in only if it fits the pause.
///
/// A wrong answer is InvalidParams to its sender and changes nothing: the task goes on waiting. Plain text is let in
/// as ordinary input.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct HitlExtension;

impl HitlExtension {
    /// The extension.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Extension for HitlExtension {
    fn declaration(&self) -> AgentExtension {
        card::hitl()
    }

    fn admit(&self, cx: &ExecutionContext) -> Result<(), A2aError> {
        Hitl::read(cx.task(), cx.message())?;
        Ok(())
    }
}

/// Asks the user and closes the task until the answer comes, which starts a new execution: there [`Hitl::of`] has it.
///
/// People see a text in any case. A client that did not activate the extension gets nothing else, and can't answer.
///
/// # Errors
///
/// INTERNAL for a request that nobody could answer, and as [`EventSink::send`].
pub async fn pause(
    cx: &ExecutionContext,
    out: &EventSink,
    request: impl Into<HitlRequest>,
) -> Result<(), A2aError> {
    let activated = cx.is_activated(uri::HITL);
    let question = request
        .into()
        .into_status_message(activated)
        .map_err(|error| {
            A2aError::internal("the agent asks what can't be answered").with_source(error)
        })?;
    out.input_required(question).await
}

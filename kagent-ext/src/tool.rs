//! Tool calls in an agent's output.

use a2a_proto::A2aError;
use a2a_proto::v1::{Artifact, Part};
use a2a_server::EventSink;

use crate::part::{FunctionCall, FunctionResponse};

/// Shows tool calls and their results, each as an artifact of its own (kagent contract 5).
pub trait ToolSink: sealed::Sealed {
    /// Shows that a tool is called.
    ///
    /// # Errors
    ///
    /// As [`EventSink::send`].
    fn tool_call(&self, call: FunctionCall) -> impl Future<Output = Result<(), A2aError>> + Send;

    /// Shows what it returned.
    ///
    /// # Errors
    ///
    /// As [`EventSink::send`].
    fn tool_result(
        &self,
        result: FunctionResponse,
    ) -> impl Future<Output = Result<(), A2aError>> + Send;
}

impl ToolSink for EventSink {
    async fn tool_call(&self, call: FunctionCall) -> Result<(), A2aError> {
        show(self, call.into()).await
    }

    async fn tool_result(&self, result: FunctionResponse) -> Result<(), A2aError> {
        show(self, result.into()).await
    }
}

async fn show(out: &EventSink, part: Part) -> Result<(), A2aError> {
    out.artifact(Artifact::new("", [part])).await
}

mod sealed {
    #[expect(unnameable_types, reason = "only this crate may implement the trait")]
    pub trait Sealed {}

    impl Sealed for a2a_server::EventSink {}
}

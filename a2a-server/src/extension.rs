//! How protocol extensions plug into the engine.

use a2a_proto::A2aError;
use a2a_proto::v1::{AgentExtension, StreamResponse};
use async_trait::async_trait;

use crate::executor::ExecutionContext;

/// A protocol extension of the agent (A2A 1.0 §4.6).
///
/// A panic in an extension is logged and its step skipped; in [`admit`](Self::admit) it refuses the message with
/// INTERNAL.
#[async_trait]
pub trait Extension: Send + Sync + 'static {
    /// How the card announces the extension.
    fn declaration(&self) -> AgentExtension;

    /// Decides whether a message is let in, on the task's state just loaded and under its lock: two answers to one
    /// pause can't both be admitted. Refused, the message changes nothing.
    ///
    /// # Errors
    ///
    /// What the caller of the message is told.
    fn admit(&self, cx: &ExecutionContext) -> Result<(), A2aError> {
        let _ = cx;
        Ok(())
    }

    /// Puts state into [`ExecutionContext::extensions_mut`] before the executor, or its cancel hook, is called.
    fn begin(&self, cx: &mut ExecutionContext) {
        let _ = cx;
    }

    /// Changes an event before it is applied to the task and stored; the engine's own events included.
    fn outgoing(&self, cx: &ExecutionContext, event: &mut StreamResponse) {
        let _ = (cx, event);
    }

    /// The executor has returned. Called before a held boundary event is stored, elsewhere after its publication;
    /// given up after 10 seconds.
    async fn finish(&self, cx: &ExecutionContext) {
        let _ = cx;
    }
}

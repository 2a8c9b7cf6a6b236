use std::fmt;

use a2a_proto::A2aError;
use a2a_proto::v1::{Artifact, Part, TaskArtifactUpdateEvent};

use super::EventSink;
use crate::execution::new_id;

/// A text on its way, chunk by chunk, as one artifact.
///
/// Each chunk is a part of its own. [`finish`](Self::finish) tells readers that the text is whole; one that is dropped
/// is left open.
pub struct TextStream {
    sink: EventSink,
    artifact_id: String,
    name: String,
    begun: bool,
    /// All chunks, where the end repeats the whole text.
    whole: Option<String>,
}

impl TextStream {
    pub(super) fn new(sink: EventSink, repeats_whole: bool) -> Self {
        Self {
            sink,
            artifact_id: new_id(),
            name: String::new(),
            begun: false,
            whole: repeats_whole.then(String::new),
        }
    }

    /// Names the artifact.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The id of the artifact.
    #[must_use]
    pub fn artifact_id(&self) -> &str {
        &self.artifact_id
    }

    /// Sends the next chunk. An empty one is skipped.
    ///
    /// # Errors
    ///
    /// As [`EventSink::send`].
    ///
    /// # Cancel safety
    ///
    /// As [`EventSink`]; but whether a dropped chunk went out is not known to the end of the text.
    pub async fn push(&mut self, chunk: impl Into<String>) -> Result<(), A2aError> {
        let chunk = chunk.into();
        if chunk.is_empty() {
            return Ok(());
        }
        if let Some(whole) = &mut self.whole {
            whole.push_str(&chunk);
        }
        let append = std::mem::replace(&mut self.begun, true);
        self.emit(chunk, append, false).await
    }

    /// Says that the text is whole.
    ///
    /// This is an event with an empty text, so that nothing is said twice. Under kagent's convention, where the caller
    /// has asked for it, it is one with the whole text in place of the chunks.
    ///
    /// # Errors
    ///
    /// As [`EventSink::send`].
    pub async fn finish(mut self) -> Result<(), A2aError> {
        if !self.begun {
            return Ok(());
        }
        match self.whole.take() {
            // kagent's UI takes the whole text as the end of the stream (kagent contract 5).
            Some(whole) => self.emit(whole, false, true).await,
            None => self.emit(String::new(), true, true).await,
        }
    }

    async fn emit(&self, text: String, append: bool, last_chunk: bool) -> Result<(), A2aError> {
        let artifact = Artifact {
            name: self.name.clone(),
            ..Artifact::new(self.artifact_id.clone(), [Part::text(text)])
        };
        let event = TaskArtifactUpdateEvent {
            artifact: Some(artifact),
            append,
            last_chunk,
            ..TaskArtifactUpdateEvent::default()
        };
        self.sink.send(event).await
    }
}

impl fmt::Debug for TextStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream")
            .field("artifact_id", &self.artifact_id)
            .finish_non_exhaustive()
    }
}

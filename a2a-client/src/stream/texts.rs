//! The reply of a stream as text that grows.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{Artifact, StreamResponse, Task, TaskArtifactUpdateEvent};
use futures_core::Stream;

use super::{EventStream, fold};
use crate::error::Result;

/// The text of a reply, piece by piece: what can be printed as it comes.
///
/// Gives the text of artifacts and of a message, each piece once, however the agent sends it: in chunks, as a longer
/// artifact in place of a shorter one, or as a task with all of it at the end. What the agent says of its progress, or
/// asks, is in the [task](Self::task).
///
/// ```no_run
/// # async fn run(client: a2a_client::Client) -> a2a_client::Result<()> {
/// let mut reply = client.stream_text("Tell me a story").await?.into_texts();
/// while let Some(text) = reply.next().await {
///     print!("{}", text?);
/// }
/// if let Some(task) = reply.task() {
///     println!("\n{:?} {}", task.state(), task.status_text());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a stream does nothing unless it is read"]
pub struct Texts {
    events: EventStream,
    task: Option<Task>,
    /// Something was given out: the text of another artifact begins on a new line.
    begun: bool,
}

impl Texts {
    pub(super) fn new(events: EventStream) -> Self {
        Self {
            events,
            task: None,
            begun: false,
        }
    }

    /// The next piece, which is never empty; `None` at the end.
    ///
    /// # Cancel safety
    ///
    /// May be dropped at any time; no text is lost.
    pub async fn next(&mut self) -> Option<Result<String>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The task as it is by the events so far; `None` before the first, and where the agent answers with a message.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// The task as it is by the events so far.
    #[must_use]
    pub fn into_task(self) -> Option<Task> {
        self.task
    }

    /// Takes an event in, and gives the text that it adds.
    fn take(&mut self, event: &StreamResponse) -> Result<String> {
        let text = match &event.payload {
            Some(Payload::ArtifactUpdate(update)) => self.added_by_update(update),
            Some(Payload::Task(task)) => {
                let added = task
                    .artifacts
                    .iter()
                    .map(|artifact| self.added_by(artifact));
                added
                    .filter(|text| !text.is_empty())
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            Some(Payload::Message(message)) => message.text(),
            Some(Payload::StatusUpdate(_)) | None => String::new(),
        };
        match &mut self.task {
            Some(task) => fold(task, event)?,
            None => self.task = Task::from_event(event),
        }
        self.begun |= !text.is_empty();
        Ok(text)
    }

    fn added_by_update(&self, update: &TaskArtifactUpdateEvent) -> String {
        let Some(artifact) = &update.artifact else {
            return String::new();
        };
        match update.append && self.known(&artifact.artifact_id).is_some() {
            true => artifact.text(),
            false => self.added_by(artifact),
        }
    }

    /// What a whole artifact adds to what is known of it.
    fn added_by(&self, artifact: &Artifact) -> String {
        let text = artifact.text();
        let before = self.known(&artifact.artifact_id).map(Artifact::text);
        match before.as_deref().filter(|before| !before.is_empty()) {
            Some(before) => match text.strip_prefix(before) {
                Some(added) => added.to_owned(),
                None => format!("\n{text}"),
            },
            None if self.begun && !text.is_empty() => format!("\n{text}"),
            None => text,
        }
    }

    fn known(&self, id: &str) -> Option<&Artifact> {
        self.task.as_ref()?.artifact(id)
    }
}

impl Stream for Texts {
    type Item = Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let event = match ready!(Pin::new(&mut self.events).poll_next(cx)) {
                Some(Ok(event)) => event,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            match self.take(&event) {
                Ok(text) if text.is_empty() => {}
                Ok(text) => return Poll::Ready(Some(Ok(text))),
                Err(error) => {
                    self.events.over = true;
                    return Poll::Ready(Some(Err(self.events.named(error))));
                }
            }
        }
    }
}

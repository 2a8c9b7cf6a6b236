//! A task followed to its rest, whatever happens to the streams on the way.

use std::time::Duration;

use a2a_proto::ErrorCode;
use a2a_proto::v1::stream_response::Payload;
use a2a_proto::v1::{StreamResponse, Task};

use crate::error::{Error, Kind, Result};
use crate::{Client, EventStream};

/// The events of a task until it is at rest: terminal, waiting for somebody, or over.
///
/// A stream that is cut is joined again, with growing pauses; what was missed meanwhile comes as one snapshot, and a
/// snapshot that tells nothing new is left out, so that each change is seen once. An agent that does not stream is asked
/// for the task every second.
///
/// # Cancel safety
///
/// [`next`](Self::next) may be dropped at any time; no event is lost.
#[derive(Debug)]
#[must_use = "a task is not followed unless it is read"]
pub struct Follow {
    client: Client,
    task_id: String,
    task: Option<Task>,
    way: Way,
    /// Tries without anything new since the last that told something.
    futile: u32,
    /// A pause is due before the next try.
    pausing: bool,
}

/// How news come.
#[derive(Debug)]
enum Way {
    /// Nothing is open.
    Closed,
    Stream {
        events: EventStream,
        /// No event has come on it.
        fresh: bool,
    },
    Polling,
    Over,
}

impl Follow {
    pub(crate) fn new(client: Client, task_id: String) -> Self {
        Self {
            client,
            task_id,
            task: None,
            way: Way::Closed,
            futile: 0,
            pausing: false,
        }
    }

    /// The task as the events so far make it; `None` before the first.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// The next event; `None` once the task is at rest.
    ///
    /// # Errors
    ///
    /// The agent's, such as TaskNotFound; and the last of ten tries in a row that told nothing new. Nothing comes after.
    pub async fn next(&mut self) -> Option<Result<StreamResponse>> {
        loop {
            if self.pausing {
                tokio::time::sleep(self.pause()).await;
                self.pausing = false;
            }
            let step = match &mut self.way {
                Way::Over => return None,
                Way::Closed => self.join().await,
                Way::Stream { events, .. } => match events.next().await {
                    Some(Ok(event)) => self.take(event),
                    // It ended where the task is at rest.
                    None => {
                        self.way = Way::Over;
                        Ok(None)
                    }
                    Some(Err(error)) => self.lost(error),
                },
                Way::Polling => self.poll().await,
            };
            match step {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(error) => {
                    self.way = Way::Over;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Follows to the end and gives the task as it is then.
    ///
    /// # Errors
    ///
    /// As for [`next`](Self::next).
    pub async fn into_task(mut self) -> Result<Task> {
        while let Some(event) = self.next().await {
            event?;
        }
        self.task
            .ok_or_else(|| Error::decode("the agent told of no task"))
    }

    async fn join(&mut self) -> Result<Option<StreamResponse>> {
        match self.client.subscribe_to_task(&*self.task_id).await {
            Ok(events) => {
                self.way = Way::Stream {
                    events,
                    fresh: true,
                };
                Ok(None)
            }
            // The task has ended, or the agent does not stream: the task itself tells.
            Err(error) if error.code() == Some(ErrorCode::UnsupportedOperation) => {
                self.way = Way::Polling;
                Ok(None)
            }
            Err(error) => self.lost(error),
        }
    }

    async fn poll(&mut self) -> Result<Option<StreamResponse>> {
        match self.client.get_task(&*self.task_id).await {
            Ok(task) => {
                let at_rest = task.state().is_boundary();
                let news = self.snapshot(task);
                match at_rest {
                    true => self.way = Way::Over,
                    // That nothing is new is no failure here.
                    false => (self.futile, self.pausing) = (0, true),
                }
                Ok(news)
            }
            Err(error) => self.lost(error),
        }
    }

    /// An event of the stream, unless it is a snapshot that tells nothing new.
    fn take(&mut self, event: StreamResponse) -> Result<Option<StreamResponse>> {
        let first = match &mut self.way {
            Way::Stream { fresh, .. } => std::mem::take(fresh),
            _ => false,
        };
        match event.payload {
            Some(Payload::Task(task)) if first => Ok(self.snapshot(task)),
            payload => {
                let event = StreamResponse { payload };
                match &mut self.task {
                    // What does not fit the copy is told all the same.
                    Some(task) => drop(task.apply(&event)),
                    None => self.task = Task::from_event(&event),
                }
                self.futile = 0;
                Ok(Some(event))
            }
        }
    }

    fn snapshot(&mut self, task: Task) -> Option<StreamResponse> {
        if self.task.as_ref() == Some(&task) {
            return None;
        }
        self.futile = 0;
        let event = StreamResponse::from(task.clone());
        self.task = Some(task);
        Some(event)
    }

    /// Tries again, unless the agent said no, or too many tries were in vain.
    fn lost(&mut self, error: Error) -> Result<Option<StreamResponse>> {
        self.futile += 1;
        let passes = error.is_retryable()
            || error.is_cut()
            || error.is_timeout()
            || matches!(error.kind(), Kind::Transport);
        if !passes || self.futile > TRIES {
            return Err(error);
        }
        tracing::debug!(%error, tries = self.futile, "the task is followed again");
        self.pausing = true;
        if !matches!(self.way, Way::Polling) {
            self.way = match self.futile {
                // A stream that is closed at once each time is none.
                CLOSED_AT_ONCE.. if error.is_cut() => Way::Polling,
                _ => Way::Closed,
            };
        }
        Ok(None)
    }

    fn pause(&self) -> Duration {
        match self.futile {
            0 => POLL,
            tries => FIRST_PAUSE
                .saturating_mul(1 << tries.min(10).saturating_sub(1))
                .min(LONGEST_PAUSE),
        }
    }
}

/// How many tries in a row may be in vain.
const TRIES: u32 = 10;
/// Behind so many streams that told nothing the task is asked for instead.
const CLOSED_AT_ONCE: u32 = 3;
const POLL: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

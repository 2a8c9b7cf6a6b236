use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_proto::v1::StreamResponse;
use tokio::sync::Semaphore;

use crate::executor::{AgentError, AgentExecutor, ExecutionContext};
use crate::sink::EventSink;

/// An executor that does, step by step, what a test tells it.
///
/// Each call of `execute` takes the next turn, whichever task it is for: [`then`](Self::then) begins one, such as what
/// follows an answer. A message for which there is no turn fails its task.
#[derive(Debug)]
#[must_use]
pub struct Script {
    turns: Vec<Vec<Step>>,
    next: AtomicUsize,
}

#[derive(Clone, Debug)]
enum Step {
    AuthRequired(String),
    Chunks(Vec<String>),
    Complete,
    Fail(String),
    InputRequired(String),
    Panic(String),
    Reply(String),
    Send(Box<StreamResponse>),
    Wait(Signal),
    Working(String),
}

impl Script {
    /// A script whose first turn does nothing yet.
    pub fn new() -> Self {
        Self {
            turns: vec![Vec::new()],
            next: AtomicUsize::new(0),
        }
    }

    /// Says that it works.
    pub fn working(self, text: impl Into<String>) -> Self {
        self.step(Step::Working(text.into()))
    }

    /// Streams a text in these chunks, as one artifact.
    pub fn chunks(self, chunks: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.step(Step::Chunks(chunks.into_iter().map(Into::into).collect()))
    }

    /// Sends any event.
    pub fn send(self, event: impl Into<StreamResponse>) -> Self {
        self.step(Step::Send(Box::new(event.into())))
    }

    /// Asks the user.
    pub fn input_required(self, question: impl Into<String>) -> Self {
        self.step(Step::InputRequired(question.into()))
    }

    /// Waits for an authorisation.
    pub fn auth_required(self, explanation: impl Into<String>) -> Self {
        self.step(Step::AuthRequired(explanation.into()))
    }

    /// Sends a text as an artifact and completes the task.
    pub fn reply(self, text: impl Into<String>) -> Self {
        self.step(Step::Reply(text.into()))
    }

    /// Completes the task.
    pub fn complete(self) -> Self {
        self.step(Step::Complete)
    }

    /// Returns an error with that text, which only the log shows.
    pub fn fail(self, text: impl Into<String>) -> Self {
        self.step(Step::Fail(text.into()))
    }

    /// Panics.
    pub fn panic(self, text: impl Into<String>) -> Self {
        self.step(Step::Panic(text.into()))
    }

    /// Waits until the test releases the signal.
    pub fn wait(self, signal: &Signal) -> Self {
        self.step(Step::Wait(signal.clone()))
    }

    /// Ends the turn; what follows is for the next message.
    pub fn then(mut self) -> Self {
        self.turns.push(Vec::new());
        self
    }

    fn step(mut self, step: Step) -> Self {
        if let Some(turn) = self.turns.last_mut() {
            turn.push(step);
        }
        self
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl AgentExecutor for Script {
    async fn execute(&self, _: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let steps = self.turns.get(turn);
        let steps = steps.ok_or_else(|| format!("the script has no turn {}", turn + 1))?;
        for step in steps {
            step.run(&out).await?;
        }
        Ok(())
    }
}

impl Step {
    #[expect(clippy::panic, reason = "that is the step")]
    async fn run(&self, out: &EventSink) -> Result<(), AgentError> {
        match self.clone() {
            Self::AuthRequired(text) => out.auth_required(text).await?,
            Self::Chunks(chunks) => {
                let mut text = out.text();
                for chunk in chunks {
                    text.push(chunk).await?;
                }
                text.finish().await?;
            }
            Self::Complete => out.complete().await?,
            Self::Fail(text) => return Err(text.into()),
            Self::InputRequired(text) => out.input_required(text).await?,
            Self::Panic(text) => panic!("{text}"),
            Self::Reply(text) => out.reply(text).await?,
            Self::Send(event) => out.send(*event).await?,
            Self::Wait(signal) => signal.wait().await,
            Self::Working(text) => out.working(text).await?,
        }
        Ok(())
    }
}

/// Where a [`Script`] and its test wait for each other. Cheap to clone.
#[derive(Clone)]
pub struct Signal(Arc<Gate>);

struct Gate {
    reached: Semaphore,
    released: Semaphore,
}

impl Signal {
    /// A signal that nobody has reached or released.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Gate {
            reached: Semaphore::new(0),
            released: Semaphore::new(0),
        }))
    }

    /// Waits until the script waits for this signal. Each arrival is told once.
    pub async fn reached(&self) {
        take(&self.0.reached).await;
    }

    /// Lets one arrival go on, be it there already or yet to come.
    pub fn release(&self) {
        self.0.released.add_permits(1);
    }

    /// Whether somebody has come to this signal and has not been told of by [`reached`](Self::reached).
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.0.reached.available_permits() > 0
    }

    /// Comes to this signal and waits until it is released: for executors and stores of a test's own.
    pub async fn wait(&self) {
        self.0.reached.add_permits(1);
        take(&self.0.released).await;
    }
}

impl Default for Signal {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").finish_non_exhaustive()
    }
}

async fn take(semaphore: &Semaphore) {
    // It is never closed.
    if let Ok(permit) = semaphore.acquire().await {
        permit.forget();
    }
}

//! A message to a task that exists.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::{Message, SendMessageRequest, Task, TaskState};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use super::{Begun, Join, worked_on};
use crate::context::CallContext;
use crate::execution::control::Accepted;
use crate::execution::state::{Hold, Run, State};
use crate::execution::{Busy, ConcurrentMessages, Engine, EntryRef, shutting_down};
use crate::executor::ExecutionContext;

impl Engine {
    pub(super) async fn continue_task(
        &self,
        call: CallContext,
        request: SendMessageRequest,
        message: Message,
        join: Join,
    ) -> Result<Begun, A2aError> {
        let entry = self.enter(&call, &message.task_id).await?;
        if !message.context_id.is_empty() && message.context_id != entry.context_id() {
            return Err(
                A2aError::invalid_params("the task belongs to another context")
                    .with_violation("message.context_id", "is not the context of the task"),
            );
        }
        let limits = &self.0.settings.limits;
        let give_up = tokio::time::Instant::now() + limits.cleanup_time + limits.grace;
        let engine = self.clone();
        let mut step = Step {
            engine,
            entry,
            call,
            request,
            message,
            join,
        };
        loop {
            let state = step.entry.lock().await;
            let over: Wait = match self.own(step.take(state)).await? {
                Turn::Begun(begun) => return Ok(begun),
                Turn::Wait(again, over) => {
                    step = *again;
                    over
                }
            };
            tokio::select! {
                () = over.ended() => {}
                () = self.0.draining.cancelled() => return Err(shutting_down()),
                () = tokio::time::sleep_until(give_up) => return Err(worked_on()),
            }
        }
    }

    /// Whether a running execution takes a further message.
    fn may_deliver(&self, run: &Run, task: &Task) -> Result<(), A2aError> {
        let waits = task.state() == TaskState::AuthRequired && run.is_open();
        if !waits && self.0.settings.concurrent == ConcurrentMessages::Reject {
            return Err(match self.0.settings.busy {
                Busy::Unavailable => worked_on(),
                Busy::Unsupported => super::session_busy(),
            });
        }
        if run.control().cancel_reason().is_some() {
            return Err(canceled());
        }
        if run.control().waiting() >= self.0.settings.limits.waiting_messages {
            return Err(A2aError::unsupported_operation(
                "too many messages wait for the agent",
            ));
        }
        Ok(())
    }
}

/// A message to a task, with all that it takes to try again when an execution first has to end.
struct Step {
    engine: Engine,
    entry: EntryRef,
    call: CallContext,
    request: SendMessageRequest,
    message: Message,
    join: Join,
}

enum Turn {
    Begun(Begun),
    /// The task waits for a message, and its last execution is not over yet.
    Wait(Box<Step>, Wait),
}

enum Wait {
    /// The execution is here, and past the event that closed the task.
    Run(CancellationToken),
    /// Another engine has the task still in its hands.
    Elsewhere,
}

impl Step {
    /// Takes the message in, under the task's lock.
    async fn take(mut self, mut state: OwnedMutexGuard<State>) -> Result<Turn, A2aError> {
        self.engine.refuse_when_draining()?;
        let task = self
            .engine
            .load(&self.entry, &mut state, &self.call)
            .await?;
        if task.state().is_terminal() {
            return Err(super::terminal(&task));
        }
        if state.canceling {
            return Err(canceled());
        }
        self.engine.check_input_modes(&self.message)?;
        self.entry.task_id().clone_into(&mut self.message.task_id);
        self.entry
            .context_id()
            .clone_into(&mut self.message.context_id);
        match state.run.as_ref() {
            None => self.wake(state, task).await,
            Some(run) if run.is_live() => {
                self.engine.may_deliver(run, &task)?;
                self.hand_over(state, task).await.map(Turn::Begun)
            }
            Some(run) => {
                // What will be refused need not wait, nor cut the clean-up short.
                self.engine.admit(&self.context(task))?;
                run.signals.hurry.cancel();
                let done = run.signals.done.clone();
                Ok(Turn::Wait(Box::new(self), Wait::Run(done)))
            }
        }
    }

    /// Starts an execution for the message.
    async fn wake(
        self,
        mut state: OwnedMutexGuard<State>,
        task: Arc<Task>,
    ) -> Result<Turn, A2aError> {
        let permit = self.engine.take_slot()?;
        let Some(lease) = self.engine.lease(&self.entry).await? else {
            return match task.state().is_interrupted() {
                true => Ok(Turn::Wait(Box::new(self), Wait::Elsewhere)),
                false => Err(worked_on()),
            };
        };
        let (engine, entry) = (&self.engine, &self.entry);
        let cx = self.context(task);
        engine.admit(&cx)?;
        engine
            .claim(entry, &mut state, &cx, &self.call, self.message.clone())
            .await?;
        // The message is taken: it is worked on even if the caller can't follow it.
        let begun = self.join.take(entry);
        let (hold, cursor) = (Hold::new(permit, lease), engine.origin_cursor(&begun));
        engine.start(entry, &mut state, cx, hold, None, cursor);
        begun.map(Turn::Begun)
    }

    /// Hands the message to the executor that is at work.
    async fn hand_over(
        self,
        mut state: OwnedMutexGuard<State>,
        task: Arc<Task>,
    ) -> Result<Begun, A2aError> {
        let (engine, entry) = (&self.engine, &self.entry);
        engine.admit(&self.context(task))?;
        let running = state.run.as_ref().map(|run| run.cx.clone());
        let running = running.ok_or_else(worked_on)?;
        engine
            .claim(
                entry,
                &mut state,
                &running,
                &self.call,
                self.message.clone(),
            )
            .await?;
        running.control().stop_clock(false);
        let begun = self.join.take(entry);
        running.control().deliver(Accepted {
            call: self.call,
            request: self.request,
            message: self.message,
        });
        begun
    }

    fn context(&self, task: Arc<Task>) -> ExecutionContext {
        let ids = (self.entry.task_id(), self.entry.context_id());
        let (call, request) = (self.call.clone(), self.request.clone());
        let message = self.message.clone();
        self.engine
            .context(call, request, message, Some(task), ids, VecDeque::new())
    }
}

impl Wait {
    async fn ended(self) {
        match self {
            Self::Run(done) => done.cancelled().await,
            Self::Elsewhere => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

fn canceled() -> A2aError {
    A2aError::unsupported_operation("the task is being canceled")
}

/// How often it is tried to take a task over that another engine is about to let go.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

//! How a task is canceled: a running one by its executor, a waiting one right away.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::A2aError;
use a2a_proto::v1::{CancelTaskRequest, Message, Role, SendMessageRequest, Task, TaskState};
use tokio::sync::{OwnedMutexGuard, oneshot};

use super::bus::{Outcome, Until};
use super::catch::catch;
use super::commit::Ending;
use super::normalize::status_event;
use super::state::State;
use super::{Engine, EntryRef};
use crate::context::CallContext;
use crate::executor::CancelReason;

impl Engine {
    /// Cancels a task and waits for its terminal state. Once begun it goes on, whoever waits.
    pub(crate) async fn cancel(
        &self,
        call: CallContext,
        request: CancelTaskRequest,
    ) -> Result<Arc<Task>, A2aError> {
        self.refuse_when_draining()?;
        self.ready().await?;
        let entry = self.enter(&call, &request.id).await?;
        let state = entry.lock().await;
        let (engine, held) = (self.clone(), entry.clone());
        let step = async move { engine.begin_cancel(held, state, call, request).await };
        match self.own(step).await? {
            Cancel::Done(task) => Ok(task),
            Cancel::Wait(ended) => {
                // The entry is held so long: it is where the end is told.
                let task = ended
                    .await
                    .unwrap_or_else(|_| Err(A2aError::internal("the task was lost")));
                drop(entry);
                task
            }
        }
    }

    async fn begin_cancel(
        &self,
        entry: EntryRef,
        mut state: OwnedMutexGuard<State>,
        call: CallContext,
        request: CancelTaskRequest,
    ) -> Result<Cancel, A2aError> {
        let task = self.load(&entry, &mut state, &call).await?;
        match task.state() {
            TaskState::Canceled => return Ok(Cancel::Done(task)),
            terminal if terminal.is_terminal() => {
                let name = terminal.as_str_name();
                return Err(A2aError::task_not_cancelable(format!(
                    "the task is in the terminal state {name}"
                )));
            }
            _ => {}
        }
        let ended = entry.bus().wait(Until::Terminal);
        if state.canceling {
            return Ok(Cancel::Wait(ended));
        }
        let reason = CancelReason::Request {
            metadata: request.metadata.clone(),
        };
        if let Some(control) = state
            .run
            .as_ref()
            .filter(|run| run.is_live())
            .map(|run| Arc::clone(run.control()))
        {
            state.cancel_call = Some(call);
            control.cancel(reason);
        } else if state.run.is_some()
            || !self
                .is_elsewhere(&entry, &mut state, &call, &request)
                .await?
        {
            // Past INPUT_REQUIRED or without an executor: it waits, and no answer is taken any more.
            state.canceling = true;
            let (engine, entry) = (self.clone(), entry.clone());
            self.0
                .tracker
                .spawn(async move { engine.cancel_waiting(entry, call, reason, task).await });
        }
        Ok(Cancel::Wait(ended))
    }

    /// Hands the wish to the engine that executes the task, if another does, and follows what becomes of it.
    async fn is_elsewhere(
        &self,
        entry: &EntryRef,
        state: &mut State,
        call: &CallContext,
        request: &CancelTaskRequest,
    ) -> Result<bool, A2aError> {
        self.follow(entry, state, call);
        let asked = self
            .0
            .placement
            .request_cancel(entry.task_id(), request.metadata.clone())
            .await;
        asked.map_err(super::deliver::unreadable)
    }

    async fn cancel_waiting(
        self,
        entry: EntryRef,
        call: CallContext,
        reason: CancelReason,
        task: Arc<Task>,
    ) {
        let leaving = {
            let state = entry.lock().await;
            state.run.as_ref().map(|run| {
                run.signals.kill.cancel();
                run.signals.done.clone()
            })
        };
        if let Some(done) = leaving {
            done.cancelled().await;
        }
        let newest = task
            .history
            .iter()
            .rev()
            .find(|message| message.role() == Role::User);
        let message = newest.cloned().unwrap_or_else(Message::default);
        let ids = (entry.task_id(), entry.context_id());
        let request = SendMessageRequest::default();
        let cx = self.context(
            call.clone(),
            request,
            message,
            Some(task.clone()),
            ids,
            VecDeque::new(),
        );
        cx.control().cancel(reason);
        match tokio::time::timeout(
            HOOK_TIME,
            catch(async { self.0.executor.cancel(cx.clone()).await }),
        )
        .await
        {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => {
                tracing::warn!(a2a.task.id = entry.task_id(), error = ?error.as_error(), "the cancel hook failed");
            }
            Ok(Err(panicked)) => {
                tracing::error!(a2a.task.id = entry.task_id(), error = %panicked, "the cancel hook panicked");
            }
            Err(_) => tracing::warn!(
                a2a.task.id = entry.task_id(),
                "the cancel hook took too long"
            ),
        }
        drop(task);
        let mut state = entry.lock().await;
        let loaded = self.load(&entry, &mut state, &call).await;
        let canceled = match loaded {
            Ok(task) if task.state().is_terminal() => Ok(()),
            Ok(task) => {
                drop(task);
                let event = status_event(&entry, TaskState::Canceled, None);
                self.commit(&entry, &mut state, &cx, &call, event, Ending::PLAIN)
                    .await
            }
            Err(error) => Err(error),
        };
        state.canceling = false;
        if let Err(error) = canceled {
            tracing::error!(a2a.task.id = entry.task_id(), error = %error, "the task was not canceled");
            entry.bus().fail(&error, None);
            state.version = None;
        }
        drop(state);
        self.finish_extensions(&cx).await;
    }

    /// Asks the live execution of a task, if there is one, to stop.
    pub(crate) async fn cancel_run(&self, entry: &EntryRef, reason: CancelReason) {
        let state = entry.lock().await;
        if let Some(run) = &state.run {
            run.control().cancel(reason);
        }
    }
}

enum Cancel {
    Done(Arc<Task>),
    Wait(oneshot::Receiver<Outcome>),
}

/// How long the executor's cancel hook may take.
const HOOK_TIME: Duration = Duration::from_secs(5);

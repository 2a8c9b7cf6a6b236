//! One execution from its start to its end.

use std::sync::Arc;

use a2a_proto::v1::{Message, StreamResponse, TaskState};
use a2a_proto::{A2aError, ErrorCode};

use tracing::Instrument as _;

use super::catch::{Panicked, catch, catch_now};
use super::commit::Ending;
use super::emit::SinkTarget;
use super::normalize::status_event;
use super::state::{RunId, Signals, Stage, State};
use super::{Engine, EntryRef, shutting_down};
use crate::executor::{AgentError, CancelReason, ExecutionContext};
use crate::sink::EventSink;
use crate::trace;

/// How an execution came to its end.
enum End {
    Returned(Result<(), AgentError>),
    Panicked(Panicked),
    /// It was dropped, for this reason or because its state is lost.
    Dropped(Option<CancelReason>),
}

/// What follows an execution.
enum Next {
    Nothing,
    /// A message that the executor did not take.
    Run(RunId, ExecutionContext, Signals),
}

impl Engine {
    /// Runs the executor, and again for messages that it did not take.
    pub(crate) async fn drive(
        self,
        entry: EntryRef,
        mut id: RunId,
        mut cx: ExecutionContext,
        mut signals: Signals,
        mut cause: Option<tracing::Id>,
    ) {
        let agent = &self.0.settings.agent;
        loop {
            let span = trace::execution(agent, cx.task_id(), cx.context_id(), cause.take());
            let mut observed = self.0.settings.watch.execution();
            let execution = self.run_once(&entry, id, &cx, &signals);
            let next = execution.instrument(span.clone()).await;
            if let Some(task) = entry.bus().task() {
                trace::left_in(&span, task.state());
                observed.left_in(task.state());
            }
            drop(observed);
            if let Some(hook) = &self.0.settings.boundary.hook
                && catch_now(|| hook.execution_ended(&cx)).is_err()
            {
                tracing::error!(a2a.task.id = cx.task_id(), "the boundary hook panicked");
            }
            match next {
                Next::Nothing => break,
                Next::Run(next_id, next_cx, next_signals) => {
                    (id, cx, signals) = (next_id, next_cx, next_signals)
                }
            }
        }
        let mut state = entry.lock().await;
        if state.run_mut(id).is_some() {
            let call = cx.control().serving();
            // A failure has been told to all whom it concerns.
            let _ = self.flush(&entry, &mut state, &call).await;
            self.follow_if_read(&entry, &mut state, &call);
            state.release();
        }
    }

    async fn run_once(
        &self,
        entry: &EntryRef,
        id: RunId,
        cx: &ExecutionContext,
        signals: &Signals,
    ) -> Next {
        let end = self.execute(entry, id, cx, signals).await;
        let held = self.0.settings.boundary.hold;
        if held {
            self.finish_extensions(cx).await;
        }
        let next = self.finish(entry, id, cx, end).await;
        if !held {
            self.finish_extensions(cx).await;
        }
        next
    }

    async fn execute(
        &self,
        entry: &EntryRef,
        id: RunId,
        cx: &ExecutionContext,
        signals: &Signals,
    ) -> End {
        let target = SinkTarget::new(self.clone(), entry.clone(), id);
        let sink = EventSink::new(target);
        let executor = Arc::clone(&self.0.executor);
        // Called within, since the call itself may panic before there is a future.
        let call = async { executor.execute(cx.clone(), sink).await };
        let mut execution = Box::pin(catch(call));
        let end = tokio::select! {
            biased;
            reason = self.stopped(cx, signals) => End::Dropped(reason),
            outcome = &mut execution => match outcome {
                Ok(outcome) => End::Returned(outcome),
                Err(panicked) => End::Panicked(panicked),
            },
        };
        // What the executor holds may panic when it is dropped.
        match catch_now(move || drop(execution)) {
            Ok(()) => end,
            Err(panicked) => End::Panicked(panicked),
        }
    }

    /// Ends when the executor is to be dropped, with the reason for which it had been asked to stop.
    async fn stopped(&self, cx: &ExecutionContext, signals: &Signals) -> Option<CancelReason> {
        let limits = &self.0.settings.limits;
        let canceled = async {
            let reason = cx.cancelled().await;
            tokio::time::sleep(limits.grace).await;
            reason
        };
        let cleaned_up = async {
            signals.closed.cancelled().await;
            tokio::select! {
                () = tokio::time::sleep(limits.cleanup_time) => {}
                () = async {
                    signals.hurry.cancelled().await;
                    tokio::time::sleep(limits.grace).await;
                } => {}
            }
        };
        let out_of_time = async {
            cx.control().out_of_time().await;
            cx.control().cancel(CancelReason::TimeLimit);
            std::future::pending::<()>().await;
        };
        let shut_down = async {
            self.0.draining.cancelled().await;
            cx.control().cancel(CancelReason::Shutdown);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            reason = canceled => Some(reason),
            () = cleaned_up => None,
            () = signals.kill.cancelled() => None,
            () = self.0.aborting.cancelled() => Some(CancelReason::Shutdown),
            () = out_of_time => None,
            () = shut_down => None,
        }
    }

    /// Gives the task the state that the end of its execution calls for.
    async fn finish(&self, entry: &EntryRef, id: RunId, cx: &ExecutionContext, end: End) -> Next {
        log_end(entry, &end);
        let mut state = entry.lock().await;
        let Some(run) = state.run_mut(id) else {
            return Next::Nothing;
        };
        if let Some(origin) = run.origin.take() {
            let _ = origin.begun.send(Err(no_first_event(end)));
            return Next::Nothing;
        }
        if run.signals.kill.is_cancelled() || entry.bus().task().is_none() {
            return Next::Nothing;
        }
        let call = state
            .cancel_call
            .take()
            .unwrap_or_else(|| cx.control().serving());
        let waiting = cx.control().waiting() > 0;
        if let Some((event, failure)) = last_event(entry, &mut state, cx, end, waiting) {
            let goes_on = waiting && !event.state().is_some_and(TaskState::is_terminal);
            let releases = self.0.settings.boundary.hold && !goes_on;
            let ending = Ending { failure, releases };
            let committed = self
                .commit(entry, &mut state, cx, &call, event, ending)
                .await;
            if let Err(error) = committed {
                tracing::error!(a2a.task.id = entry.task_id(), error = %error, "the end of an execution was not stored");
                return Next::Nothing;
            }
        }
        self.next_run(entry, &mut state, id, cx).await
    }

    /// Starts over with a message that the executor did not take.
    async fn next_run(
        &self,
        entry: &EntryRef,
        state: &mut State,
        id: RunId,
        cx: &ExecutionContext,
    ) -> Next {
        let Some(task) = entry.bus().task() else {
            return Next::Nothing;
        };
        if task.state().is_terminal() || cx.cancel_reason().is_some() || state.canceling {
            return Next::Nothing;
        }
        let mut waiting = cx.control().take_waiting();
        let Some(accepted) = waiting.pop_front() else {
            return Next::Nothing;
        };
        let next = self.context(
            accepted.call,
            accepted.request,
            accepted.message,
            Some(Arc::clone(&task)),
            (entry.task_id(), entry.context_id()),
            waiting,
        );
        if task.state() != TaskState::Working {
            let working = status_event(entry, TaskState::Working, None);
            let call = next.call().clone();
            if self
                .commit(entry, state, &next, &call, working, Ending::PLAIN)
                .await
                .is_err()
            {
                return Next::Nothing;
            }
        }
        let Some(run) = state.run_mut(id) else {
            return Next::Nothing;
        };
        let (id, signals) = (RunId::next(), Signals::default());
        let previous = std::mem::replace(&mut run.signals, signals.clone());
        (run.id, run.stage, run.spoke, run.cx) = (id, Stage::Open, false, next.clone());
        previous.done.cancel();
        Next::Run(id, next, signals)
    }
}

/// The event that ends the execution, and the error with which streams end in its place.
fn last_event(
    entry: &EntryRef,
    state: &mut State,
    cx: &ExecutionContext,
    end: End,
    waiting: bool,
) -> Option<(StreamResponse, Option<A2aError>)> {
    let current = entry
        .bus()
        .task()
        .map_or(TaskState::Unspecified, |task| task.state());
    let run = state.run.as_mut()?;
    let reason = match &end {
        End::Dropped(reason) => reason.clone().or_else(|| cx.cancel_reason()),
        End::Returned(_) | End::Panicked(_) => cx.cancel_reason(),
    };
    let plain = |state, text: Option<&str>| {
        Some((status_event(entry, state, text.map(Message::agent)), None))
    };
    let canceled = matches!(reason, Some(CancelReason::Request { .. }));
    match std::mem::replace(&mut run.stage, Stage::Closed) {
        // A pause that came behind the cancel gives way to it.
        Stage::Closed if canceled && !current.is_terminal() => {
            return plain(TaskState::Canceled, None);
        }
        Stage::Closed => return None,
        Stage::Held(event) => {
            let terminal = event.state().is_some_and(TaskState::is_terminal);
            return if canceled && !terminal {
                plain(TaskState::Canceled, None)
            } else {
                Some((*event, None))
            };
        }
        Stage::Open => {}
    }
    run.control().close();
    let (spoke, failed) = (run.spoke, TaskState::Failed);
    match (reason, end) {
        (Some(CancelReason::Request { .. }), _) => plain(TaskState::Canceled, None),
        (_, End::Panicked(_)) => plain(failed, Some("the agent failed")),
        (_, End::Returned(Err(error))) => {
            let public = error.protocol();
            let text = shortened(public.map_or("the agent failed", A2aError::message));
            let broken = public
                .filter(|error| error.code() == ErrorCode::InvalidAgentResponse)
                .cloned();
            Some((
                status_event(entry, failed, Some(Message::agent(text))),
                broken,
            ))
        }
        (Some(CancelReason::TimeLimit), _) => plain(failed, Some("time limit reached")),
        (Some(CancelReason::Shutdown), _) if current.is_interrupted() => None,
        (Some(CancelReason::Shutdown), _) => plain(failed, Some("agent shut down")),
        (None, End::Dropped(_)) => None,
        (None, End::Returned(Ok(()))) if waiting || current == TaskState::AuthRequired => None,
        (None, End::Returned(Ok(()))) if spoke => plain(TaskState::Completed, None),
        (None, End::Returned(Ok(()))) => plain(failed, Some(NO_RESULT)),
    }
}

/// The text of an error, which the store must have room for.
fn shortened(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST_REASON))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// What the caller of an executor is told that ended before its first event.
fn no_first_event(end: End) -> A2aError {
    match end {
        End::Returned(Ok(())) => {
            A2aError::invalid_agent_response("the agent ended without an answer")
        }
        End::Returned(Err(error)) => error
            .protocol()
            .cloned()
            .unwrap_or_else(|| A2aError::internal("the agent failed")),
        End::Panicked(panicked) => A2aError::internal("the agent failed").with_source(panicked),
        End::Dropped(Some(CancelReason::Shutdown)) => shutting_down(),
        End::Dropped(Some(CancelReason::TimeLimit)) => A2aError::internal("time limit reached"),
        End::Dropped(_) => A2aError::internal("the agent was stopped"),
    }
}

fn log_end(entry: &EntryRef, end: &End) {
    let task_id = entry.task_id();
    match end {
        End::Returned(Ok(())) => {}
        End::Returned(Err(error)) => {
            tracing::warn!(a2a.task.id = task_id, error = ?error.as_error(), "the executor failed");
        }
        End::Panicked(panicked) => {
            tracing::error!(a2a.task.id = task_id, error = %panicked, "the executor panicked")
        }
        End::Dropped(reason) => {
            tracing::warn!(a2a.task.id = task_id, ?reason, "the executor was dropped")
        }
    }
}

/// What the status of a task says whose executor ended without a result.
pub const NO_RESULT: &str = "agent ended without a result";

/// The bytes of the text with which a task fails.
const LONGEST_REASON: usize = 8 * 1024;

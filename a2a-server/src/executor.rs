//! What an agent's author writes.

mod context;
mod erased;
mod past;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use a2a_proto::A2aError;
use a2a_proto::error::causes;

use crate::sink::EventSink;

pub(crate) use context::ContextParts;
pub use context::{CancelReason, ExecutionContext};
pub(crate) use erased::DynExecutor;
pub use past::PastTasks;

/// The agent: one `async fn`, called for each message that is to be worked on.
///
/// Each call runs on a task of its own, apart from the request that caused it: a caller that leaves changes nothing.
/// What ends it besides its return: a CancelTask call or shutdown (it is dropped 5 seconds after
/// [`ExecutionContext::cancelled`] fires), a task store that fails, the server's `max_execution_time`, and 30 seconds
/// of clean-up after an event that closes the task. A panic counts as an error.
///
/// ```
/// use a2a_server::{AgentError, AgentExecutor, EventSink, ExecutionContext};
///
/// struct Echo;
///
/// impl AgentExecutor for Echo {
///     async fn execute(&self, cx: ExecutionContext, out: EventSink) -> Result<(), AgentError> {
///         out.reply(cx.message().text()).await?;
///         Ok(())
///     }
/// }
/// ```
pub trait AgentExecutor: Send + Sync + 'static {
    /// Works on a message. Can be written as `async fn`.
    ///
    /// `Ok` without a closing event completes the task when an artifact or a status message with text was sent, and
    /// fails it otherwise; in AUTH_REQUIRED the task stays there. An error fails the task: the message of an
    /// [`A2aError`] becomes the text of its status, any other error is for the log only.
    fn execute(
        &self,
        cx: ExecutionContext,
        out: EventSink,
    ) -> impl Future<Output = Result<(), AgentError>> + Send;

    /// Undoes what a pause left when a waiting task is canceled, such as a subagent's task. Can be written as
    /// `async fn`; given up after 5 seconds.
    fn cancel(&self, cx: ExecutionContext) -> impl Future<Output = Result<(), AgentError>> + Send {
        let _ = cx;
        std::future::ready(Ok(()))
    }

    /// Whether a new conversation may be answered without a task.
    fn reply_mode(&self) -> ReplyMode {
        ReplyMode::Task
    }
}

/// How an executor answers a message that belongs to no task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum ReplyMode {
    /// With a task, which exists before the executor is called.
    #[default]
    Task,
    /// With a task or a message: the first event decides, and until then nothing exists.
    Either,
}

impl<T: AgentExecutor> AgentExecutor for Arc<T> {
    fn execute(
        &self,
        cx: ExecutionContext,
        out: EventSink,
    ) -> impl Future<Output = Result<(), AgentError>> + Send {
        T::execute(self, cx, out)
    }

    fn cancel(&self, cx: ExecutionContext) -> impl Future<Output = Result<(), AgentError>> + Send {
        T::cancel(self, cx)
    }

    fn reply_mode(&self) -> ReplyMode {
        T::reply_mode(self)
    }
}

/// An executor from a closure.
///
/// ```
/// # use a2a_server::executor_fn;
/// let echo = executor_fn(|cx, out| async move {
///     out.reply(cx.message().text()).await?;
///     Ok(())
/// });
/// ```
pub fn executor_fn<F, Fut>(execute: F) -> ExecutorFn<F>
where
    F: Fn(ExecutionContext, EventSink) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send,
{
    ExecutorFn {
        execute,
        reply_mode: ReplyMode::Task,
    }
}

/// See [`executor_fn`].
pub struct ExecutorFn<F> {
    execute: F,
    reply_mode: ReplyMode,
}

impl<F> ExecutorFn<F> {
    /// Sets how a message that belongs to no task is answered.
    #[must_use]
    pub fn with_reply_mode(mut self, reply_mode: ReplyMode) -> Self {
        self.reply_mode = reply_mode;
        self
    }
}

impl<F> fmt::Debug for ExecutorFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorFn")
            .field("reply_mode", &self.reply_mode)
            .finish_non_exhaustive()
    }
}

impl<F, Fut> AgentExecutor for ExecutorFn<F>
where
    F: Fn(ExecutionContext, EventSink) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send,
{
    fn execute(
        &self,
        cx: ExecutionContext,
        out: EventSink,
    ) -> impl Future<Output = Result<(), AgentError>> + Send {
        (self.execute)(cx, out)
    }

    fn reply_mode(&self) -> ReplyMode {
        self.reply_mode
    }
}

/// Why an executor gave up: anything that `?` takes.
///
/// Only the message of an [`A2aError`] in the chain of causes is shown to the caller.
pub struct AgentError(Box<dyn Error + Send + Sync>);

impl AgentError {
    /// An error whose text the caller sees as the text of the failed task's status.
    #[must_use]
    pub fn public(message: impl Into<String>) -> Self {
        Self(Box::new(A2aError::internal(message)))
    }

    /// The [`A2aError`] in the chain of causes.
    #[must_use]
    pub fn protocol(&self) -> Option<&A2aError> {
        let error: &(dyn Error + 'static) = &*self.0;
        std::iter::once(error)
            .chain(causes(error))
            .find_map(<dyn Error>::downcast_ref)
    }

    /// The error itself, for the log.
    #[must_use]
    pub fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for AgentError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use a2a_proto::Struct;
use a2a_proto::v1::{Message, SendMessageRequest, Task};

use super::PastTasks;
use crate::auth::Principal;
use crate::context::CallContext;
use crate::execution::Control;
use crate::store::{StoreError, TaskStore};

/// All that an executor knows about the message that it works on.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct ExecutionContext {
    inner: Arc<Inner>,
    extensions: Arc<http::Extensions>,
}

struct Inner {
    call: CallContext,
    request: SendMessageRequest,
    message: Message,
    task: Option<Arc<Task>>,
    task_id: String,
    context_id: String,
    control: Arc<Control>,
    store: Arc<dyn TaskStore>,
}

/// Why an execution is asked to stop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CancelReason {
    /// A CancelTask call, with its metadata.
    Request {
        /// The metadata of the call.
        metadata: Option<Struct>,
    },
    /// The server shuts down.
    Shutdown,
    /// The server's limit on the time of an execution has passed.
    TimeLimit,
}

/// What the engine builds a context from.
pub(crate) struct ContextParts {
    pub(crate) call: CallContext,
    /// The request without its message.
    pub(crate) request: SendMessageRequest,
    pub(crate) message: Message,
    pub(crate) task: Option<Arc<Task>>,
    pub(crate) task_id: String,
    pub(crate) context_id: String,
    pub(crate) control: Arc<Control>,
    pub(crate) store: Arc<dyn TaskStore>,
}

impl ExecutionContext {
    pub(crate) fn new(parts: ContextParts) -> Self {
        let ContextParts {
            call,
            request,
            message,
            task,
            task_id,
            context_id,
            control,
            store,
        } = parts;
        let inner = Inner {
            call,
            request,
            message,
            task,
            task_id,
            context_id,
            control,
            store,
        };
        Self {
            inner: Arc::new(inner),
            extensions: Arc::default(),
        }
    }

    /// The message to work on. In the cancel hook the newest of the user.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.inner.message
    }

    /// The task as it was stored before this message; `None` for a new one.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        self.inner.task.as_deref()
    }

    /// The id of the task, which for a [`ReplyMode::Either`](super::ReplyMode::Either) executor may never exist.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.inner.task_id
    }

    /// The id of the context, in which the conversation happens.
    #[must_use]
    pub fn context_id(&self) -> &str {
        &self.inner.context_id
    }

    /// The tenant; empty for none.
    #[must_use]
    pub fn tenant(&self) -> &str {
        self.inner.call.tenant()
    }

    /// The caller.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        self.inner.call.principal()
    }

    /// The headers of the call, or on gRPC its metadata.
    #[must_use]
    pub fn headers(&self) -> &http::HeaderMap {
        self.inner.call.headers()
    }

    /// What tower layers attached to the request.
    #[must_use]
    pub fn http_extensions(&self) -> &http::Extensions {
        self.inner.call.http_extensions()
    }

    /// The call that brought the message.
    #[must_use]
    pub fn call(&self) -> &CallContext {
        &self.inner.call
    }

    /// The URIs of the extensions that the caller listed.
    #[must_use]
    pub fn requested_extensions(&self) -> &[String] {
        self.inner.call.requested_extensions()
    }

    /// The URIs of the extensions that the caller listed and the agent has.
    #[must_use]
    pub fn activated_extensions(&self) -> &[String] {
        self.inner.call.activated_extensions()
    }

    /// Whether that extension is activated for this message.
    #[must_use]
    pub fn is_activated(&self, uri: &str) -> bool {
        self.activated_extensions()
            .iter()
            .any(|activated| activated == uri)
    }

    /// The metadata of the request; those of the message are at the message.
    #[must_use]
    pub fn request_metadata(&self) -> Option<&Struct> {
        self.inner.request.metadata.as_ref()
    }

    /// The media types that the caller can show; empty when it did not say.
    #[must_use]
    pub fn accepted_output_modes(&self) -> &[String] {
        self.inner
            .request
            .configuration
            .as_ref()
            .map_or(&[], |configuration| &configuration.accepted_output_modes)
    }

    /// The server's limit on the time of one execution.
    #[must_use]
    pub fn time_limit(&self) -> Option<Duration> {
        self.inner.control.time_limit()
    }

    /// Waits until the execution is asked to stop, and says why. It is dropped 5 seconds later.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped wait loses nothing.
    pub async fn cancelled(&self) -> CancelReason {
        self.inner.control.cancelled().await
    }

    /// Why the execution is asked to stop, if it is.
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelReason> {
        self.inner.control.cancel_reason()
    }

    /// The next message of the user to this task: the answer to AUTH_REQUIRED, or one to steer the agent with where
    /// the server delivers those. `None` when there will be none: the task is closed, or the execution is to stop.
    ///
    /// A message that is not taken starts the next execution.
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped wait loses no message.
    pub async fn next_message(&self) -> Option<Message> {
        self.inner.control.next_message().await
    }

    /// The earlier tasks of this context, newest first, as far as the caller may see them.
    #[must_use]
    pub fn past_tasks(&self) -> PastTasks {
        PastTasks::new(
            Arc::clone(&self.inner.store),
            self.inner.call.clone(),
            self.inner.context_id.clone(),
            self.inner.task_id.clone(),
        )
    }

    /// The newest `limit` messages of this context before this task, oldest first. An artifact counts as a message of
    /// the agent: that is where its replies are.
    ///
    /// # Errors
    ///
    /// When the store fails.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn conversation(&self, limit: usize) -> Result<Vec<Message>, StoreError> {
        self.past_tasks().newest_messages(limit).await
    }

    /// The state that extensions keep for this execution.
    #[must_use]
    pub fn extensions(&self) -> &http::Extensions {
        &self.extensions
    }

    /// The state that extensions keep for this execution, to be filled by
    /// [`Extension::begin`](crate::Extension::begin).
    pub fn extensions_mut(&mut self) -> &mut http::Extensions {
        Arc::make_mut(&mut self.extensions)
    }

    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.inner.control
    }
}

impl fmt::Debug for ExecutionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionContext")
            .field("task_id", &self.inner.task_id)
            .field("context_id", &self.inner.context_id)
            .field("call", &self.inner.call)
            .finish_non_exhaustive()
    }
}

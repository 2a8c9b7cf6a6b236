//! The executor trait with boxed futures, so that the engine needs no type parameter.

use std::pin::Pin;

use super::{AgentError, AgentExecutor, ExecutionContext, ReplyMode};
use crate::sink::EventSink;

type Outcome<'a> = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send + 'a>>;

pub(crate) trait DynExecutor: Send + Sync + 'static {
    fn execute(&self, cx: ExecutionContext, out: EventSink) -> Outcome<'_>;
    fn cancel(&self, cx: ExecutionContext) -> Outcome<'_>;
    fn reply_mode(&self) -> ReplyMode;
}

impl<T: AgentExecutor> DynExecutor for T {
    fn execute(&self, cx: ExecutionContext, out: EventSink) -> Outcome<'_> {
        Box::pin(AgentExecutor::execute(self, cx, out))
    }

    fn cancel(&self, cx: ExecutionContext) -> Outcome<'_> {
        Box::pin(AgentExecutor::cancel(self, cx))
    }

    fn reply_mode(&self) -> ReplyMode {
        AgentExecutor::reply_mode(self)
    }
}

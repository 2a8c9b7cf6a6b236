//! The eleven operations on the engine.

use std::pin::Pin;
use std::task::{Context, Poll};

use a2a_proto::A2aError;
use a2a_proto::v1::{
    AgentCard, CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest,
    ListTasksResponse, Message, SendMessageRequest, StreamResponse, SubscribeToTaskRequest,
};
use async_trait::async_trait;
use futures_core::Stream;

use super::Agent;
use crate::context::CallContext;
use crate::event::{Event, EventStream};
use crate::execution::{Begun, Join, Joined};
use crate::handler::{RequestHandler, SendReply, TaskReply, push_not_supported};

#[async_trait]
impl RequestHandler for Agent {
    async fn send_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<SendReply, A2aError> {
        refuse_push(&request)?;
        let configuration = request.configuration.clone().unwrap_or_default();
        let join = if configuration.return_immediately {
            Join::Now
        } else {
            Join::Boundary
        };
        let task = match self.0.engine.deliver(cx, request, join).await? {
            Begun::Message(message) => return Ok(SendReply::Message(message)),
            Begun::Now(task) => task,
            Begun::Boundary(ended) => ended
                .await
                .unwrap_or_else(|_| Err(A2aError::internal("the task was lost")))?,
            Begun::Stream(task, _) => task,
        };
        Ok(SendReply::Task(
            TaskReply::new(task).with_history_length(length(configuration.history_length)),
        ))
    }

    async fn send_streaming_message(
        &self,
        cx: CallContext,
        request: SendMessageRequest,
    ) -> Result<EventStream, A2aError> {
        refuse_push(&request)?;
        let history_length = request
            .configuration
            .as_ref()
            .and_then(|configuration| configuration.history_length);
        match self.0.engine.deliver(cx, request, Join::Stream).await? {
            Begun::Stream(task, joined) => {
                let first = TaskReply::new(task).with_history_length(length(history_length));
                Ok(EventStream::new(TaskStream::new(first, joined)))
            }
            Begun::Message(message) => Ok(EventStream::new(OneMessage(Some(message)))),
            Begun::Boundary(_) | Begun::Now(_) => Err(A2aError::internal("the stream was lost")),
        }
    }

    async fn get_task(
        &self,
        cx: CallContext,
        request: GetTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        let task = self.0.engine.read(&cx, &request.id).await?;
        Ok(TaskReply::new(task).with_history_length(length(request.history_length)))
    }

    async fn list_tasks(
        &self,
        cx: CallContext,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2aError> {
        let request = ListTasksRequest {
            page_size: Some(request.page_size.unwrap_or(DEFAULT_PAGE)),
            ..request
        };
        self.0.engine.list(&cx, &request).await
    }

    async fn cancel_task(
        &self,
        cx: CallContext,
        request: CancelTaskRequest,
    ) -> Result<TaskReply, A2aError> {
        self.0.engine.cancel(cx, request).await.map(TaskReply::new)
    }

    async fn subscribe_to_task(
        &self,
        cx: CallContext,
        request: SubscribeToTaskRequest,
    ) -> Result<EventStream, A2aError> {
        let (task, joined) = self.0.engine.subscribe(&cx, &request.id).await?;
        Ok(EventStream::new(TaskStream::new(
            TaskReply::new(task),
            joined,
        )))
    }

    async fn get_extended_agent_card(
        &self,
        cx: CallContext,
        _: GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2aError> {
        let provider =
            self.0.extended_card.as_ref().ok_or_else(|| {
                A2aError::unsupported_operation("this agent has no extended card")
            })?;
        let mut card = provider(&cx).ok_or_else(|| {
            A2aError::extended_agent_card_not_configured(
                "there is no extended card for this caller",
            )
        })?;
        // They are what the agent is configured to do: a client goes by the newest card that it has.
        card.capabilities = card
            .capabilities
            .or_else(|| self.0.card.capabilities.clone());
        Ok(card)
    }

    async fn shutdown(&self) {
        self.0.engine.shutdown().await;
    }
}

/// A webhook that comes with a message would be lost: the message is refused (A2A 1.0 §3.3.4).
fn refuse_push(request: &SendMessageRequest) -> Result<(), A2aError> {
    let wanted = request
        .configuration
        .as_ref()
        .and_then(|configuration| configuration.task_push_notification_config.as_ref());
    if wanted.is_some() {
        Err(push_not_supported())
    } else {
        Ok(())
    }
}

fn length(requested: Option<i32>) -> Option<usize> {
    requested.and_then(|length| usize::try_from(length).ok())
}

/// A snapshot, and the events behind it.
struct TaskStream {
    first: Option<TaskReply>,
    joined: Joined,
}

impl TaskStream {
    fn new(first: TaskReply, joined: Joined) -> Self {
        Self {
            first: Some(first),
            joined,
        }
    }
}

impl Stream for TaskStream {
    type Item = Result<Event, A2aError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Event::snapshot(first.into_task().into())))),
            None => Pin::new(&mut self.joined.events).poll_next(cx),
        }
    }
}

/// The stream of an agent that answers without a task.
struct OneMessage(Option<Message>);

impl Stream for OneMessage {
    type Item = Result<Event, A2aError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(
            self.0
                .take()
                .map(|message| Ok(Event::from(StreamResponse::from(message)))),
        )
    }
}

const DEFAULT_PAGE: i32 = 50;

"""An agent as the cases meet it: the SDK's client over one binding."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.client import ClientCallContext
from a2a.types import a2a_pb2 as pb

from expect import equal, expect, in_state
from values import GRPC_OPTIONS, struct

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")


def new_id() -> str:
    return str(uuid.uuid4())


def text_part(text: str) -> pb.Part:
    return pb.Part(text=text)


class Peer:
    """Calls of the contract's cases."""

    def __init__(self, card: pb.AgentCard, binding: str, http: httpx.AsyncClient) -> None:
        self.card = card
        self.binding = binding
        self._http = http
        self.client = self.another(streaming=False)
        self._streaming = self.another(streaming=True)

    @classmethod
    async def connect(cls, url: str, binding: str, http: httpx.AsyncClient) -> Peer:
        card = await A2ACardResolver(http, url).get_agent_card()
        return cls(card, binding, http)

    def another(self, *, streaming: bool) -> Client:
        config = ClientConfig(
            streaming=streaming,
            httpx_client=self._http,
            supported_protocol_bindings=[self.binding],
            grpc_channel_factory=lambda url: grpc.aio.insecure_channel(url, options=GRPC_OPTIONS),
        )
        return ClientFactory(config).create(self.card)

    def _request(
        self,
        content: str | list[pb.Part],
        *,
        task: pb.Task | None = None,
        task_id: str = "",
        context_id: str = "",
        tenant: str = "",
        metadata: dict[str, Any] | None = None,
        message_metadata: dict[str, Any] | None = None,
        immediately: bool = False,
    ) -> pb.SendMessageRequest:
        message = pb.Message(
            message_id=new_id(),
            role=pb.ROLE_USER,
            task_id=task.id if task else task_id,
            context_id=task.context_id if task else context_id,
            parts=[text_part(content)] if isinstance(content, str) else content,
            metadata=message_metadata and struct(message_metadata),
        )
        request = pb.SendMessageRequest(tenant=tenant, message=message, metadata=metadata and struct(metadata))
        request.configuration.return_immediately = immediately
        return request

    async def send(
        self, content: str | list[pb.Part], *, context: ClientCallContext | None = None, **options: Any
    ) -> pb.StreamResponse:
        """Sends a message and waits for the one reply."""
        request = self._request(content, **options)
        replies = [reply async for reply in self.client.send_message(request, context=context)]
        equal(len(replies), 1, "the number of replies")
        return replies[0]

    async def task(self, content: str | list[pb.Part], **options: Any) -> pb.Task:
        reply = await self.send(content, **options)
        expect(reply.HasField("task"), "the reply is no task")
        expect(reply.task.id and reply.task.context_id, "the task lacks its id or its context")
        return reply.task

    async def task_in(self, state: int, content: str | list[pb.Part], **options: Any) -> pb.Task:
        return in_state(await self.task(content, **options), state)

    async def completed(self, content: str | list[pb.Part], **options: Any) -> pb.Task:
        return await self.task_in(pb.TASK_STATE_COMPLETED, content, **options)

    def stream(self, content: str, **options: Any) -> AsyncIterator[pb.StreamResponse]:
        return self._streaming.send_message(self._request(content, **options))

    async def streamed(self, content: str, **options: Any) -> list[pb.StreamResponse]:
        return [event async for event in self.stream(content, **options)]

    def subscribe(self, task_id: str) -> AsyncIterator[pb.StreamResponse]:
        return self._streaming.subscribe(pb.SubscribeToTaskRequest(id=task_id))

    async def subscribed(self, task_id: str) -> list[pb.StreamResponse]:
        return [event async for event in self.subscribe(task_id)]

    async def get(self, task_id: str, history_length: int | None = None) -> pb.Task:
        return await self.client.get_task(pb.GetTaskRequest(id=task_id, history_length=history_length))

    async def cancel(self, task_id: str) -> pb.Task:
        return await self.client.cancel_task(pb.CancelTaskRequest(id=task_id))

    async def list(self, **query: Any) -> pb.ListTasksResponse:
        return await self.client.list_tasks(pb.ListTasksRequest(**query))

    async def release(self, key: str) -> None:
        reply = await self.send(f"release {key}")
        expect(reply.HasField("message"), "release is not answered with a message")
        equal(reply.message.parts[0].text, "released", "the answer to release")

"""An agent on kagent-core's own task store and request handler: `python agent.py CONTROLLER_URL IDENTITY_FILE`.

It does what the first word of a message says, as its twin in `src/kagent/script.rs` does.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from kagent.core._grpc import AsyncControllerClient
from kagent.core.a2a import KAgentGrpcServerCallContextBuilder, KAgentRequestContextBuilder
from kagent.core.a2a._task_store import KAgentRequestHandler, KAgentTaskStore

LIFE = 300


class Script(AgentExecutor):
    def __init__(self) -> None:
        self.canceled = asyncio.Event()

    async def execute(self, context, events) -> None:
        if context.current_task is not None:
            await self.artifact(context, events, "answer", f"got {text(context.message)}", last=True)
            return await self.status(context, events, pb.TASK_STATE_COMPLETED)
        word = text(context.message)
        if word != "reject":
            await self.status(context, events, pb.TASK_STATE_WORKING)
        match word:
            case "reply":
                await self.artifact(context, events, "reply", "done", last=True)
                await self.status(context, events, pb.TASK_STATE_COMPLETED)
            case "stream":
                for number, chunk in enumerate(["a", "b", "c"]):
                    await self.artifact(context, events, "stream", chunk, append=number > 0)
                await self.artifact(context, events, "stream", "abc", last=True)
                await self.status(context, events, pb.TASK_STATE_COMPLETED)
            case "progress":
                await self.status(context, events, pb.TASK_STATE_WORKING, "half way")
                await self.status(context, events, pb.TASK_STATE_COMPLETED)
            case "pause":
                await self.status(context, events, pb.TASK_STATE_INPUT_REQUIRED, "which one?")
            case "auth":
                await self.status(context, events, pb.TASK_STATE_AUTH_REQUIRED, "log in")
            case "fail":
                await self.status(context, events, pb.TASK_STATE_FAILED, "no disk")
            case "reject":
                await self.status(context, events, pb.TASK_STATE_REJECTED, "no")
            case "wait":
                await self.canceled.wait()
            case other:
                raise ValueError(other)

    async def cancel(self, context, events) -> None:
        await self.status(context, events, pb.TASK_STATE_CANCELED)
        self.canceled.set()

    async def status(self, context, events, state, message: str = "") -> None:
        status = pb.TaskStatus(state=state)
        if message:
            part = pb.Part(text=message)
            status.message.CopyFrom(pb.Message(message_id="m", role=pb.ROLE_AGENT, parts=[part]))
        update = pb.TaskStatusUpdateEvent(
            task_id=context.task_id, context_id=context.context_id, status=status
        )
        await events.enqueue_event(update)

    async def artifact(self, context, events, name, content, append=False, last=False) -> None:
        update = pb.TaskArtifactUpdateEvent(
            task_id=context.task_id,
            context_id=context.context_id,
            artifact=pb.Artifact(artifact_id=name, parts=[pb.Part(text=content)]),
            append=append,
            last_chunk=last,
        )
        await events.enqueue_event(update)


def text(message) -> str:
    return "".join(part.text for part in message.parts)


def card() -> pb.AgentCard:
    return pb.AgentCard(
        name="oracle",
        version="v1",
        capabilities=pb.AgentCapabilities(streaming=True),
        default_input_modes=["text"],
        default_output_modes=["text"],
    )


async def main(controller: str, identity: str) -> None:
    store = KAgentTaskStore(AsyncControllerClient(controller), Path(identity))
    handler = KAgentRequestHandler(
        agent_executor=Script(),
        task_store=store,
        agent_card=card(),
        request_context_builder=KAgentRequestContextBuilder(task_store=store),
    )
    server = grpc.aio.server()
    service = GrpcHandler(handler, KAgentGrpcServerCallContextBuilder())
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
    loop = asyncio.get_running_loop()
    try:
        # The input closes when whoever started this has ended.
        await asyncio.wait_for(loop.run_in_executor(None, sys.stdin.read), LIFE)
    finally:
        await server.stop(None)


asyncio.run(main(*sys.argv[1:]))

"""An agent on kagent-core's own task store and request handler: `python agent.py CONTROLLER_URL IDENTITY_FILE`.

It does what the first word of a message says, as its twin in `src/kagent/script.rs` does. Without arguments it is an image
for kagent, told by its environment: what `byo-doctor` examines.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from kagent.core._grpc import AsyncControllerClient
from kagent.core.a2a import (
    HitlTool,
    KAgentGrpcServerCallContextBuilder,
    KAgentRequestContextBuilder,
    ToolApprovalRequest,
    attach_hitl_extension,
    hitl_activated,
)
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
            case "ask":
                await self.ask(context, events)
            case "fail":
                await self.status(context, events, pb.TASK_STATE_FAILED, "no disk")
            case "reject":
                await self.status(context, events, pb.TASK_STATE_REJECTED, "no")
            case "wait":
                await self.canceled.wait()
            case other:
                raise ValueError(other)

    async def ask(self, context, events) -> None:
        part = pb.Part(text="Approval is required for tool(s): rm")
        message = pb.Message(message_id="m", role=pb.ROLE_AGENT, parts=[part])
        if hitl_activated(context.call_context.state.get("headers")):
            tool = HitlTool(id="1", call_id="1", name="rm")
            request = ToolApprovalRequest(type="tool_approval_request", tools=[tool])
            attach_hitl_extension(message, request)
        status = pb.TaskStatus(state=pb.TASK_STATE_INPUT_REQUIRED, message=message)
        update = pb.TaskStatusUpdateEvent(
            task_id=context.task_id, context_id=context.context_id, status=status
        )
        await events.enqueue_event(update)

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


def serve(controller: str, identity: str) -> grpc.aio.Server:
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
    return server


async def main(controller: str, identity: str) -> None:
    server = serve(controller, identity)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
    loop = asyncio.get_running_loop()
    try:
        # The input closes when whoever started this has ended.
        await asyncio.wait_for(loop.run_in_executor(None, sys.stdin.read), LIFE)
    finally:
        await server.stop(None)


async def image() -> None:
    runtime = json.loads(os.environ["KAGENT_CONFIG_JSON"])["runtime"]
    server = serve(runtime["control_plane_url"], os.environ["KAGENT_IDENTITY_FILE"])
    servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    await servicer.set("lf.a2a.v1.A2AService", health_pb2.HealthCheckResponse.SERVING)
    server.add_insecure_port(f"[::]:{runtime['port']}")
    await server.start()
    port = int(os.environ["KAGENT_READINESS_PORT"])
    ready = [await asyncio.start_server(answer_ready, host, port) for host in ("0.0.0.0", "::")]
    await asyncio.wait_for(ready[0].serve_forever(), LIFE)


async def answer_ready(reader, writer) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nOK")
    await writer.drain()
    writer.close()


asyncio.run(main(*sys.argv[1:]) if sys.argv[1:] else image())

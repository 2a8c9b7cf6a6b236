"""The agent of the contract, on the SDK's own server: `python agent.py`."""

from __future__ import annotations

import asyncio
import json
import socket
import sys

import grpc
import uvicorn
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from starlette.applications import Starlette

from executor import ContractExecutor
from values import ECHO_EXTENSION, GRPC_OPTIONS

SDK = "a2a-sdk 1.3.0"
LIFE = 600


def skill(name: str) -> pb.AgentSkill:
    return pb.AgentSkill(id=name, name=name, description=f"The skill {name}", tags=[name])


def make_card(http: str, grpc_address: str) -> pb.AgentCard:
    def offer(url: str, binding: str) -> pb.AgentInterface:
        return pb.AgentInterface(url=url, protocol_binding=binding, protocol_version="1.0")

    modes = ["text/plain", "application/octet-stream", "image/png", "application/json"]
    return pb.AgentCard(
        name="interop python",
        description="Does what the text of a message says",
        version="1.0.0",
        default_input_modes=modes,
        default_output_modes=modes,
        capabilities=pb.AgentCapabilities(
            streaming=True,
            push_notifications=True,
            extended_agent_card=True,
            extensions=[pb.AgentExtension(uri=ECHO_EXTENSION, description="Changes nothing")],
        ),
        supported_interfaces=[
            offer(f"{http}/rpc", "JSONRPC"),
            offer(http, "HTTP+JSON"),
            offer(grpc_address, "GRPC"),
        ],
        skills=[skill("script")],
    )


async def any_url(_url: str) -> bool:
    """Configurations are only kept here: nothing is sent to them in the contract's cases."""
    return True


async def until_input_closes() -> None:
    """Waits until standard input is at its end, or the agent has lived long enough."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        await asyncio.wait_for(reader.read(), LIFE)
    except asyncio.TimeoutError:
        pass


async def serve() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    http = f"http://127.0.0.1:{listener.getsockname()[1]}"
    rpc = grpc.aio.server(options=GRPC_OPTIONS)
    rpc_port = rpc.add_insecure_port("127.0.0.1:0")
    card = make_card(http, f"127.0.0.1:{rpc_port}")
    extended = pb.AgentCard()
    extended.CopyFrom(card)
    extended.skills.append(skill("extended"))
    handler = DefaultRequestHandlerV2(
        ContractExecutor(),
        InMemoryTaskStore(),
        card,
        push_config_store=InMemoryPushNotificationConfigStore(),
        push_url_validator=any_url,
        extended_agent_card=extended,
    )
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), rpc)
    await rpc.start()
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/rpc"),
        *create_rest_routes(handler),
    ]
    app = Starlette(routes=routes)
    config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off")
    web = uvicorn.Server(config)
    serving = asyncio.create_task(web.serve(sockets=[listener]))
    while not web.started and not serving.done():
        await asyncio.sleep(0.01)
    print(json.dumps({"ready": True, "url": http, "sdk": SDK}), flush=True)
    await until_input_closes()
    web.should_exit = web.force_exit = True
    await rpc.stop(grace=None)
    await serving


if __name__ == "__main__":
    asyncio.run(serve())

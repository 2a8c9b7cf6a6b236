"""The card, extensions, versions, tenants, metadata and push configurations."""

from __future__ import annotations

from typing import Any

from a2a.client.client import ClientCallContext
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    PushNotificationNotSupportedError,
    TaskNotFoundError,
    VersionNotSupportedError,
)

from connection import BINDINGS, Peer, new_id
from expect import Skipped, equal, expect, fails_with, only_artifact
from values import ECHO_EXTENSION, plain

UNKNOWN_EXTENSION = "https://example.com/ext/unknown/v1"
HOOK = "https://example.com/hook"


async def card(peer: Peer) -> None:
    found = peer.card
    expect(found.name and found.version, "the name or the version is missing")
    equal([offer.protocol_binding for offer in found.supported_interfaces], [*BINDINGS], "the interfaces")
    expect(found.capabilities.streaming, "the agent does not stream")
    echo = [extension for extension in found.capabilities.extensions if extension.uri == ECHO_EXTENSION]
    equal([extension.required for extension in echo], [False], "the echo extension")


async def card_extended(peer: Peer) -> None:
    request = pb.GetExtendedAgentCardRequest()
    if peer.card.capabilities.extended_agent_card:
        extended = await peer.another(streaming=False).get_extended_agent_card(request)
        expect("extended" in [skill.id for skill in extended.skills], "the skill extended is missing")
        return
    raise Skipped("this SDK gives back the public card without a call where it names no extended one")


def seen(task: pb.Task) -> dict[str, Any]:
    """What the executor says in the artifact of `meta`."""
    (part,) = only_artifact(task, "meta").parts
    return plain(part.data)


async def meta_tenant(peer: Peer) -> None:
    task = await peer.completed("meta", tenant="acme/north")
    equal(seen(task)["tenant"], "acme/north", "the tenant")


async def meta_metadata(peer: Peer) -> None:
    metadata = {"of": "request", "count": 2, "nested": {"list": [1, None]}}
    message_metadata = {"of": "message", "flag": True}
    task = await peer.completed("meta", metadata=metadata, message_metadata=message_metadata)
    equal(seen(task)["requestMetadata"], metadata, "the metadata of the request")
    equal(seen(task)["messageMetadata"], message_metadata, "the metadata of the message")
    equal(plain(only_artifact(task, "meta").metadata), {"k": "v"}, "the metadata of the artifact")


async def meta_extensions(peer: Peer) -> None:
    """The SDK's client does not show what an agent activated, so only the executor's side is asked."""
    update = with_a2a_extensions([ECHO_EXTENSION, UNKNOWN_EXTENSION])
    context = ClientCallContext(service_parameters=ServiceParametersFactory.create([update]))
    extensions = seen(await peer.completed("meta", context=context))["extensions"]
    expect(ECHO_EXTENSION in extensions, f"the executor sees {extensions}")


async def version_unknown(peer: Peer) -> None:
    if peer.binding == "GRPC":
        raise Skipped("this SDK sends 1.0 over gRPC, and another version beside it at most")
    context = ClientCallContext(service_parameters={"A2A-Version": "9.9"})
    await fails_with(peer.send("echo never", context=context), VersionNotSupportedError)


async def push(peer: Peer) -> None:
    task = await peer.task_in(pb.TASK_STATE_INPUT_REQUIRED, "ask")
    client = peer.client
    config = pb.TaskPushNotificationConfig(task_id=task.id, url=HOOK)
    listing = pb.ListTaskPushNotificationConfigsRequest(task_id=task.id)

    def reading(config_id: str) -> pb.GetTaskPushNotificationConfigRequest:
        return pb.GetTaskPushNotificationConfigRequest(task_id=task.id, id=config_id)

    def removing(config_id: str) -> pb.DeleteTaskPushNotificationConfigRequest:
        return pb.DeleteTaskPushNotificationConfigRequest(task_id=task.id, id=config_id)

    if not peer.card.capabilities.push_notifications:
        for call in (
            client.create_task_push_notification_config(config),
            client.get_task_push_notification_config(reading(new_id())),
            client.list_task_push_notification_configs(listing),
            client.delete_task_push_notification_config(removing(new_id())),
        ):
            await fails_with(call, PushNotificationNotSupportedError)
        return
    created = await client.create_task_push_notification_config(config)
    expect(created.id, "the configuration has no id")
    equal((created.task_id, created.url), (task.id, HOOK), "the configuration")
    equal((await client.get_task_push_notification_config(reading(created.id))).url, HOOK, "the url")
    listed = await client.list_task_push_notification_configs(listing)
    equal([found.id for found in listed.configs], [created.id], "the configurations")
    await client.delete_task_push_notification_config(removing(created.id))
    await fails_with(client.get_task_push_notification_config(reading(created.id)), TaskNotFoundError)


SURROUNDINGS = {
    "card": card,
    "card.extended": card_extended,
    "meta.tenant": meta_tenant,
    "meta.metadata": meta_metadata,
    "meta.extensions": meta_extensions,
    "version.unknown": version_unknown,
    "push": push,
}

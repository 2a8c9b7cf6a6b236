"""Values that the agent and the client of this peer both build or compare."""

from __future__ import annotations

from typing import Any

from a2a.types import a2a_pb2 as pb
from google.protobuf import json_format, struct_pb2

ECHO_EXTENSION = "https://example.com/ext/echo/v1"

#: The object that the verb `data` answers with.
DATA: dict[str, Any] = {
    "text": 'żółw 🐢 \u2028 " \\ <&>',
    "integer": 42,
    "negative": -7,
    "float": 1.5,
    "small": 1e-7,
    "safe": 9007199254740991,
    "null": None,
    "true": True,
    "list": [1, "two", None, [], {}],
    "object": {},
    "empty": "",
}

#: The bytes 0 to 255, once each.
ALL_BYTES = bytes(range(256))

#: Beyond what gRPC takes by default: 5 MiB parts are part of the contract.
GRPC_LIMIT = 16 * 1024 * 1024
GRPC_OPTIONS = [
    ("grpc.max_receive_message_length", GRPC_LIMIT),
    ("grpc.max_send_message_length", GRPC_LIMIT),
]


def data_part(value: Any) -> pb.Part:
    part = pb.Part()
    json_format.ParseDict(value, part.data)
    return part


def struct(value: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(value, struct_pb2.Struct())


def plain(message: Any) -> Any:
    """A Struct or Value as plain Python; whole numbers as JSON has them compare equal to integers."""
    return json_format.MessageToDict(message)


def first_text(parts: Any) -> str | None:
    return next((part.text for part in parts if part.HasField("text")), None)

"""What parts and artifacts carry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from a2a.types import a2a_pb2 as pb

from connection import Peer, text_part
from expect import equal, expect, only_artifact, texts
from values import ALL_BYTES, DATA, data_part, plain

BIG = 5 * 1024 * 1024


def comparable(part: pb.Part) -> tuple[Any, ...]:
    """A part as it is compared: what it holds, and what is said of it."""
    kind = part.WhichOneof("content")
    value = plain(part.data) if kind == "data" else kind and getattr(part, kind)
    return kind, value, part.filename, part.media_type


def same_parts(actual: Any, expected: list[pb.Part]) -> None:
    equal(len(actual), len(expected), "the number of parts")
    for one, other in zip(actual, expected, strict=True):
        equal(comparable(one), comparable(other), "a part")


async def parts_file(peer: Peer) -> None:
    task = await peer.completed("file")
    expected = [
        pb.Part(raw=ALL_BYTES, filename="bytes.bin", media_type="application/octet-stream"),
        pb.Part(url="https://example.com/a.png", filename="a.png", media_type="image/png"),
    ]
    same_parts(only_artifact(task, "file").parts, expected)


async def parts_data(peer: Peer) -> None:
    task = await peer.completed("data")
    same_parts(only_artifact(task, "data").parts, [data_part(DATA)])


async def parts_echo(peer: Peer) -> None:
    others = [
        pb.Part(raw=ALL_BYTES, filename="all.bin", media_type="application/octet-stream"),
        pb.Part(url="https://example.com/b.png", filename="b.png", media_type="image/png"),
        data_part(DATA),
    ]
    task = await peer.completed([text_part("echo all four"), *others])
    same_parts(only_artifact(task, "echo").parts, [text_part("all four"), *others])


def echoes(text: str) -> Callable[[Peer], Awaitable[None]]:
    """A case of a text that comes back as it was sent."""

    async def case(peer: Peer) -> None:
        task = await peer.completed(f"echo {text}")
        equal(texts(only_artifact(task, "echo")), [text], "the echo")

    return case


def same_long(actual: list[str], expected: str) -> None:
    text = "".join(actual)
    expect(text == expected, f"{len(text)} letters came, not the {len(expected)} expected")


async def big_reply(peer: Peer) -> None:
    task = await peer.completed(f"big {BIG}")
    same_long(texts(only_artifact(task, "big")), "x" * BIG)


async def big_request(peer: Peer) -> None:
    task = await peer.completed("echo " + "y" * BIG)
    same_long(texts(only_artifact(task, "echo")), "y" * BIG)


async def message_unary(peer: Peer) -> None:
    reply = await peer.send("message hi")
    expect(reply.HasField("message"), "the reply is no message")
    same_parts(reply.message.parts, [text_part("hi")])


async def artifacts_many(peer: Peer) -> None:
    task = await peer.completed("artifacts 20")
    found = [(artifact.artifact_id, texts(artifact)) for artifact in task.artifacts]
    equal(found, [(f"a{index}", [f"artifact {index}"]) for index in range(20)], "the artifacts")


async def artifacts_appends(peer: Peer) -> None:
    task = await peer.completed("appends")
    found = [(artifact.artifact_id, texts(artifact)) for artifact in task.artifacts]
    equal(found, [("a", ["a1", "a2"]), ("b", ["b1", "b2"])], "the artifacts")


CONTENTS = {
    "parts.file": parts_file,
    "parts.data": parts_data,
    "parts.echo": parts_echo,
    "parts.unicode": echoes('żółw 🐢 \u2028 " \\ <&>'),
    "parts.empty_text": echoes(""),
    "parts.big_reply": big_reply,
    "parts.big_request": big_request,
    "message.unary": message_unary,
    "artifacts.many": artifacts_many,
    "artifacts.appends": artifacts_appends,
}

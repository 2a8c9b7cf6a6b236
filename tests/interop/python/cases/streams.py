"""Streams: as they are produced, cut, and joined."""

from __future__ import annotations

import asyncio

from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError

from connection import Peer, new_id
from expect import (
    ends_in,
    equal,
    expect,
    fails_with,
    first_task,
    in_state,
    of_one_task,
    only_artifact,
    texts,
    updates,
)

NUMBERS = "".join(f"{number} " for number in range(100))


async def echo_unary(peer: Peer) -> None:
    task = await peer.completed("echo hello there")
    equal(texts(only_artifact(task, "echo")), ["hello there"], "the echo")


async def echo_stream(peer: Peer) -> None:
    events = await peer.streamed("echo hello there")
    of_one_task(events)
    ends_in(events, pb.TASK_STATE_COMPLETED)
    equal([text for update in updates(events) for text in texts(update.artifact)], ["hello there"], "the echo")


async def stream_unary(peer: Peer) -> None:
    task = await peer.completed("stream 100")
    equal("".join(texts(only_artifact(task, "stream"))), NUMBERS, "the stream")


async def stream_chunks(peer: Peer) -> None:
    events = await peer.streamed("stream 100")
    of_one_task(events)
    chunks = updates(events)
    equal("".join(text for chunk in chunks for text in texts(chunk.artifact)), NUMBERS, "the chunks")
    equal([chunk.append for chunk in chunks], [False] + [True] * 99, "append")
    equal([chunk.last_chunk for chunk in chunks], [False] * 99 + [True], "lastChunk")
    ends_in(events, pb.TASK_STATE_COMPLETED)


def says(event: pb.StreamResponse, text: str) -> bool:
    return any(text in texts(update.artifact) for update in updates([event]))


async def stream_live(peer: Peer) -> None:
    key, seen = new_id(), []
    async for event in peer.stream(f"slow {key}"):
        seen.append(event)
        if says(event, "first"):
            await peer.release(key)
    equal([text for update in updates(seen) for text in texts(update.artifact)], ["first", "second"], "the texts")
    ends_in(seen, pb.TASK_STATE_COMPLETED)


async def until_completed(peer: Peer, task_id: str) -> pb.Task:
    while True:
        task = await peer.get(task_id)
        if task.status.state == pb.TASK_STATE_COMPLETED:
            return task
        await asyncio.sleep(0.05)


async def send_immediate(peer: Peer) -> None:
    key = new_id()
    task = await peer.task(f"slow {key}", immediately=True)
    running = (pb.TASK_STATE_SUBMITTED, pb.TASK_STATE_WORKING)
    expect(task.status.state in running, f"the task has ended: {task.status.state}")
    await peer.release(key)
    done = await until_completed(peer, task.id)
    equal(texts(only_artifact(done, "slow")), ["first", "second"], "the texts")


async def subscribe_after_cut(peer: Peer) -> None:
    key, task_id = new_id(), ""
    stream = peer.stream(f"slow {key}")
    async for event in stream:
        if event.HasField("task"):
            task_id = event.task.id
        if says(event, "first"):
            break
    await stream.aclose()
    events = []
    async for event in peer.subscribe(task_id):
        events.append(event)
        if len(events) == 1:
            snapshot = first_task(events)
            equal(texts(only_artifact(snapshot, "slow")), ["first"], "the texts of the snapshot")
            await peer.release(key)
    expect(any(says(event, "second") for event in events), "the rest did not arrive")
    ends_in(events, pb.TASK_STATE_COMPLETED)


async def subscribe_finished(peer: Peer) -> None:
    task = await peer.completed("echo done")
    await fails_with(peer.subscribed(task.id), UnsupportedOperationError)


async def subscribe_unknown(peer: Peer) -> None:
    await fails_with(peer.subscribed(new_id()), TaskNotFoundError)


async def input_stream(peer: Peer) -> None:
    asked = await peer.streamed("ask")
    ends_in(asked, pb.TASK_STATE_INPUT_REQUIRED)
    equal(asked[-1].status_update.status.message.parts[0].text, "which?", "the question")
    events = await peer.streamed("this one", task=first_task(asked))
    ends_in(events, pb.TASK_STATE_COMPLETED)
    answers = [(update.artifact.artifact_id, texts(update.artifact)) for update in updates(events)]
    equal(answers, [("answer", ["this one"])], "the answer")


async def message_stream(peer: Peer) -> None:
    events = await peer.streamed("message hi")
    equal([event.WhichOneof("payload") for event in events], ["message"], "the events")
    equal(events[0].message.parts[0].text, "hi", "the message")


async def big_stream(peer: Peer) -> None:
    events = await peer.streamed("big 5242880")
    big = "".join(text for update in updates(events) for text in texts(update.artifact))
    expect(big == "x" * 5242880, f"{len(big)} letters came")
    ends_in(events, pb.TASK_STATE_COMPLETED)


async def error_stream(peer: Peer) -> None:
    await fails_with(peer.streamed("echo lost", task_id=new_id()), TaskNotFoundError)


async def cancel_running(peer: Peer) -> None:
    task = await peer.task("hang", immediately=True)
    in_state(await peer.cancel(task.id), pb.TASK_STATE_CANCELED)
    in_state(await peer.get(task.id), pb.TASK_STATE_CANCELED)


STREAMS = {
    "echo.unary": echo_unary,
    "echo.stream": echo_stream,
    "stream.unary": stream_unary,
    "stream.chunks": stream_chunks,
    "stream.live": stream_live,
    "send.immediate": send_immediate,
    "subscribe.after_cut": subscribe_after_cut,
    "subscribe.finished": subscribe_finished,
    "subscribe.unknown": subscribe_unknown,
    "input.stream": input_stream,
    "message.stream": message_stream,
    "parts.big_stream": big_stream,
    "error.stream": error_stream,
    "cancel.running": cancel_running,
}

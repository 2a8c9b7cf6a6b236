"""What the cases expect of replies, streams and errors."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Any

from a2a.types import a2a_pb2 as pb

from values import first_text


class Unexpected(AssertionError):
    """A case found something else than it expects."""


class Skipped(Exception):
    """The SDK has no way to say what the case needs."""


def expect(condition: object, detail: str) -> None:
    if not condition:
        raise Unexpected(detail)


def equal(actual: Any, expected: Any, what: str) -> None:
    expect(actual == expected, f"{what}: {str(actual)[:120]!r}, not {str(expected)[:120]!r}")


async def fails_with(call: Awaitable[Any], *types: type[Exception]) -> None:
    """Expects a call to fail with one of the SDK's error types."""
    names = " or ".join(kind.__name__ for kind in types)
    try:
        await call
    except types:
        return
    except Exception as error:
        raise Unexpected(f"expected {names}, but was {describe(error)}") from error
    raise Unexpected(f"expected {names}, but the call succeeded")


def describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def state_name(state: int) -> str:
    return pb.TaskState.Name(state)


def in_state(task: pb.Task, state: int) -> pb.Task:
    equal(state_name(task.status.state), state_name(state), "the state of the task")
    return task


def state_of(event: pb.StreamResponse) -> int | None:
    """The state that an event tells, if any."""
    if event.HasField("task"):
        return event.task.status.state
    return event.status_update.status.state if event.HasField("status_update") else None


def first_task(events: list[pb.StreamResponse]) -> pb.Task:
    expect(events and events[0].HasField("task"), "the first event is not a task")
    return events[0].task


def ends_in(events: list[pb.StreamResponse], state: int) -> None:
    expect(events, "the stream is empty")
    last = state_of(events[-1])
    expect(last == state, f"the last event tells {last and state_name(last)}")


def of_one_task(events: list[pb.StreamResponse]) -> None:
    task = first_task(events)
    expect(task.id and task.context_id, "the task lacks its id or its context")
    for event in events[1:]:
        payload = getattr(event, event.WhichOneof("payload"))
        named = payload.id if event.HasField("task") else payload.task_id
        equal((named, payload.context_id), (task.id, task.context_id), "the task of an event")


def updates(events: Iterable[pb.StreamResponse]) -> list[pb.TaskArtifactUpdateEvent]:
    return [event.artifact_update for event in events if event.HasField("artifact_update")]


def texts(artifact: pb.Artifact) -> list[str]:
    for part in artifact.parts:
        expect(part.HasField("text"), "a part is not a text")
    return [part.text for part in artifact.parts]


def only_artifact(task: pb.Task, name: str) -> pb.Artifact:
    equal([artifact.artifact_id for artifact in task.artifacts], [name], "the artifacts")
    return task.artifacts[0]


def status_text(status: pb.TaskStatus) -> str | None:
    return first_text(status.message.parts)

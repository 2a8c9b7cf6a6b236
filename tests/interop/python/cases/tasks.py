"""Tasks: read, listed, canceled, answered, and how they end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from connection import Peer, new_id
from expect import (
    Unexpected,
    equal,
    expect,
    fails_with,
    in_state,
    only_artifact,
    state_name,
    status_text,
    texts,
)


async def cancel_finished(peer: Peer) -> None:
    task = await peer.completed("echo done")
    await fails_with(peer.cancel(task.id), TaskNotCancelableError)


async def cancel_unknown(peer: Peer) -> None:
    await fails_with(peer.cancel(new_id()), TaskNotFoundError)


async def get(peer: Peer) -> None:
    sent = await peer.completed("echo kept")
    task = in_state(await peer.get(sent.id), pb.TASK_STATE_COMPLETED)
    equal((task.id, task.context_id), (sent.id, sent.context_id), "the task")
    equal(texts(only_artifact(task, "echo")), ["kept"], "the echo")


async def get_unknown(peer: Peer) -> None:
    await fails_with(peer.get(new_id()), TaskNotFoundError)


async def answered(peer: Peer, verb: str, state: int, question: str) -> str:
    """Lets a task ask, and answers it."""
    asked = await peer.task_in(state, verb)
    equal(status_text(asked.status), question, "the question")
    task = await peer.completed("this one", task=asked)
    equal(task.id, asked.id, "the task")
    equal(texts(only_artifact(task, "answer")), ["this one"], "the answer")
    return asked.id


async def input_unary(peer: Peer) -> None:
    await answered(peer, "ask", pb.TASK_STATE_INPUT_REQUIRED, "which?")


async def auth_unary(peer: Peer) -> None:
    await answered(peer, "auth", pb.TASK_STATE_AUTH_REQUIRED, "sign in")


async def get_history(peer: Peer) -> None:
    task_id = await answered(peer, "ask", pb.TASK_STATE_INPUT_REQUIRED, "which?")
    expect(len((await peer.get(task_id, 1)).history) <= 1, "historyLength 1 gives more than one message")
    expect(not (await peer.get(task_id, 0)).history, "historyLength 0 gives messages")
    history = (await peer.get(task_id)).history
    said = [message.parts[0].text for message in history if message.role == pb.ROLE_USER]
    equal(said, ["ask", "this one"], "what the user said")


async def three_tasks(peer: Peer) -> tuple[str, list[str]]:
    """Three finished tasks of one new context, oldest first."""
    context_id, ids = new_id(), []
    for name in ("one", "two", "three"):
        task = await peer.completed(f"echo {name}", context_id=context_id)
        equal(task.context_id, context_id, "the context")
        ids.append(task.id)
    return context_id, ids


def ids_of(page: pb.ListTasksResponse) -> list[str]:
    return [task.id for task in page.tasks]


async def list_paging(peer: Peer) -> None:
    context_id, ids = await three_tasks(peer)
    newest = await peer.list(context_id=context_id, page_size=2)
    equal(ids_of(newest), [ids[2], ids[1]], "the first page")
    expect(newest.next_page_token, "nextPageToken is missing")
    rest = await peer.list(context_id=context_id, page_size=2, page_token=newest.next_page_token)
    equal((ids_of(rest), rest.next_page_token), ([ids[0]], ""), "the second page")


async def list_filter(peer: Peer) -> None:
    context_id, ids = await three_tasks(peer)
    asking = await peer.task_in(pb.TASK_STATE_INPUT_REQUIRED, "ask", context_id=context_id)
    equal(set(ids_of(await peer.list(context_id=context_id))), {*ids, asking.id}, "the context")
    waiting = await peer.list(context_id=context_id, status=pb.TASK_STATE_INPUT_REQUIRED)
    equal(ids_of(waiting), [asking.id], "the state within the context")
    anywhere = await peer.list(status=pb.TASK_STATE_INPUT_REQUIRED, page_size=100)
    expect(asking.id in ids_of(anywhere), "the state alone does not find the task")
    states = {state_name(task.status.state) for task in anywhere.tasks}
    equal(states, {"TASK_STATE_INPUT_REQUIRED"}, "the states")


async def list_artifacts(peer: Peer) -> None:
    shown = await peer.completed("echo shown")
    (without,) = (await peer.list(context_id=shown.context_id)).tasks
    equal(len(without.artifacts), 0, "artifacts that nobody asked for")
    (complete,) = (await peer.list(context_id=shown.context_id, include_artifacts=True)).tasks
    equal(texts(only_artifact(complete, "echo")), ["shown"], "the artifact")


async def list_page_size(peer: Peer) -> None:
    await fails_with(peer.list(page_size=101), InvalidParamsError)


async def ending_raise(peer: Peer) -> None:
    context_id = new_id()
    try:
        await peer.task_in(pb.TASK_STATE_FAILED, "raise broken", context_id=context_id)
    except Unexpected:
        raise
    except Exception:  # noqa: BLE001 - the call may fail; what counts is the task
        pass
    tasks = (await peer.list(context_id=context_id)).tasks
    equal([state_name(task.status.state) for task in tasks], ["TASK_STATE_FAILED"], "the tasks")


def ends_with_text(verb: str, state: int) -> Callable[[Peer], Awaitable[None]]:
    async def case(peer: Peer) -> None:
        task = await peer.task_in(state, f"{verb} no luck")
        equal(status_text(task.status), "no luck", "the text of the status")

    return case


async def error_no_parts(peer: Peer) -> None:
    await fails_with(peer.send([]), InvalidParamsError)


async def error_finished(peer: Peer) -> None:
    done = await peer.completed("echo done")
    await fails_with(peer.send("echo more", task=done), UnsupportedOperationError)


async def error_unknown_task(peer: Peer) -> None:
    await fails_with(peer.send("echo lost", task_id=new_id()), TaskNotFoundError)


async def context_reuse(peer: Peer) -> None:
    first = await peer.completed("echo one")
    second = await peer.completed("echo two", context_id=first.context_id)
    equal(second.context_id, first.context_id, "the context")
    expect(first.id != second.id, "both are one task")
    asking = await peer.task_in(pb.TASK_STATE_INPUT_REQUIRED, "ask")
    elsewhere = peer.send("this one", task_id=asking.id, context_id=first.context_id)
    await fails_with(elsewhere, InvalidParamsError)


TASKS = {
    "cancel.finished": cancel_finished,
    "cancel.unknown": cancel_unknown,
    "get": get,
    "get.unknown": get_unknown,
    "get.history": get_history,
    "list.paging": list_paging,
    "list.filter": list_filter,
    "list.artifacts": list_artifacts,
    "list.page_size": list_page_size,
    "input.unary": input_unary,
    "auth.unary": auth_unary,
    "ending.fail": ends_with_text("fail", pb.TASK_STATE_FAILED),
    "ending.raise": ending_raise,
    "ending.reject": ends_with_text("reject", pb.TASK_STATE_REJECTED),
    "error.no_parts": error_no_parts,
    "error.finished": error_finished,
    "error.unknown_task": error_unknown_task,
    "context.reuse": context_reuse,
}

"""The executor of the contract: what the agent does for each verb."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import a2a_pb2 as pb

from values import ALL_BYTES, DATA, data_part, first_text, plain

GATE_LIMIT = 60
WAITING = (pb.TASK_STATE_INPUT_REQUIRED, pb.TASK_STATE_AUTH_REQUIRED)


class Run:
    """One message to the agent."""

    def __init__(self, request: RequestContext, queue: EventQueue, argument: str) -> None:
        self.request = request
        self.queue = queue
        self.argument = argument
        self.updater = TaskUpdater(queue, request.task_id or "", request.context_id or "")

    async def begin(self) -> None:
        """Publishes the task, which the SDK wants first."""
        if self.request.current_task is None:
            await self.queue.enqueue_event(
                pb.Task(
                    id=self.request.task_id,
                    context_id=self.request.context_id,
                    status=pb.TaskStatus(state=pb.TASK_STATE_SUBMITTED),
                    history=[self.request.message],
                )
            )

    async def message(self, text: str) -> None:
        """Answers with a message and no task."""
        message = self.updater.new_agent_message([pb.Part(text=text)])
        message.ClearField("task_id")
        await self.queue.enqueue_event(message)

    def says(self, text: str) -> pb.Message:
        return self.updater.new_agent_message([pb.Part(text=text)])

    async def artifact(
        self, name: str, parts: list[pb.Part], *, append: bool = False, last: bool = True, **rest: object
    ) -> None:
        await self.updater.add_artifact(
            parts, artifact_id=name, name=name, append=append, last_chunk=last, **rest
        )


class ContractExecutor(AgentExecutor):
    """Does what the text of a message says."""

    def __init__(self) -> None:
        self._gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._canceled: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._verbs: dict[str, Callable[[Run], Awaitable[None]]] = {
            "echo": self._echo,
            "stream": self._stream,
            "slow": self._slow,
            "hang": self._hang,
            "raise": self._raise,
            "file": self._file,
            "data": self._data,
            "big": self._big,
            "artifacts": self._artifacts,
            "appends": self._appends,
            "meta": self._meta,
        }

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = first_text(context.message.parts) or ""
        verb, _, argument = text.partition(" ")
        run = Run(context, event_queue, argument)
        task = context.current_task
        if task is not None and task.status.state in WAITING:
            await run.updater.start_work()
            await run.artifact("answer", [pb.Part(text=text)])
            await run.updater.complete()
        elif verb == "message":
            await run.message(argument)
        elif verb == "release":
            self._gates[argument].set()
            await run.message("released")
        else:
            await run.begin()
            await self._answer(run, verb, text)

    async def _answer(self, run: Run, verb: str, text: str) -> None:
        updater = run.updater
        if verb == "fail":
            await updater.start_work()
            await updater.failed(run.says(run.argument))
        elif verb == "ask":
            await updater.requires_input(run.says("which?"))
        elif verb == "auth":
            await updater.requires_auth(run.says("sign in"))
        elif verb in self._verbs:
            await updater.start_work()
            await self._verbs[verb](run)
            if not self._canceled[updater.task_id].is_set():
                await updater.complete()
        else:
            await updater.reject(run.says(run.argument if verb == "reject" else text))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        task_id = context.task_id or ""
        self._canceled[task_id].set()
        await TaskUpdater(event_queue, task_id, context.context_id or "").cancel()

    async def _echo(self, run: Run) -> None:
        parts, shortened = [], False
        for sent in run.request.message.parts:
            part = pb.Part()
            part.CopyFrom(sent)
            if not shortened and part.HasField("text"):
                part.text, shortened = run.argument, True
            parts.append(part)
        await run.artifact("echo", parts)

    async def _stream(self, run: Run) -> None:
        count = int(run.argument)
        for chunk in range(count):
            part = pb.Part(text=f"{chunk} ")
            await run.artifact("stream", [part], append=chunk > 0, last=chunk == count - 1)

    async def _slow(self, run: Run) -> None:
        await run.artifact("slow", [pb.Part(text="first")], last=False)
        canceled = self._canceled[run.updater.task_id]
        waits = [asyncio.create_task(event.wait()) for event in (self._gates[run.argument], canceled)]
        done, pending = await asyncio.wait(
            waits, timeout=GATE_LIMIT, return_when=asyncio.FIRST_COMPLETED
        )
        for wait in pending:
            wait.cancel()
        if not done:
            raise TimeoutError(f"nobody released {run.argument}")
        if not canceled.is_set():
            await run.artifact("slow", [pb.Part(text="second")], append=True)

    async def _hang(self, run: Run) -> None:
        await self._canceled[run.updater.task_id].wait()

    async def _raise(self, run: Run) -> None:
        raise RuntimeError(run.argument)

    async def _file(self, run: Run) -> None:
        raw = pb.Part(raw=ALL_BYTES, filename="bytes.bin", media_type="application/octet-stream")
        url = pb.Part(url="https://example.com/a.png", filename="a.png", media_type="image/png")
        await run.artifact("file", [raw, url])

    async def _data(self, run: Run) -> None:
        await run.artifact("data", [data_part(DATA)])

    async def _big(self, run: Run) -> None:
        await run.artifact("big", [pb.Part(text="x" * int(run.argument))])

    async def _artifacts(self, run: Run) -> None:
        for index in range(int(run.argument)):
            await run.artifact(f"a{index}", [pb.Part(text=f"artifact {index}")])

    async def _appends(self, run: Run) -> None:
        for name, text in (("a", "a1"), ("b", "b1"), ("a", "a2"), ("b", "b2")):
            again = text.endswith("2")
            await run.artifact(name, [pb.Part(text=text)], append=again, last=again)

    async def _meta(self, run: Run) -> None:
        request = run.request
        seen = {
            "tenant": request.tenant,
            "extensions": sorted(request.requested_extensions),
            "requestMetadata": request.metadata,
            "messageMetadata": plain(request.message.metadata),
        }
        await run.artifact("meta", [data_part(seen)], metadata={"k": "v"})

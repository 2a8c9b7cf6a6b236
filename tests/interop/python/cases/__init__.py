"""The cases of the contract in its order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from cases.contents import CONTENTS
from cases.streams import STREAMS
from cases.surroundings import SURROUNDINGS
from cases.tasks import TASKS
from connection import Peer

ORDER = """
card card.extended
echo.unary echo.stream stream.unary stream.chunks stream.live
send.immediate
subscribe.after_cut subscribe.finished subscribe.unknown
cancel.running cancel.finished cancel.unknown
get get.unknown get.history
list.paging list.filter list.artifacts list.page_size
input.unary input.stream auth.unary
ending.fail ending.raise ending.reject
error.no_parts error.finished error.unknown_task error.stream
parts.file parts.data parts.echo parts.unicode parts.empty_text
parts.big_reply parts.big_request parts.big_stream
message.unary message.stream
artifacts.many artifacts.appends
meta.tenant meta.metadata meta.extensions
version.unknown
context.reuse
push
""".split()

_BY_NAME: dict[str, Callable[[Peer], Awaitable[None]]] = {**SURROUNDINGS, **STREAMS, **TASKS, **CONTENTS}

if set(ORDER) != set(_BY_NAME):
    raise LookupError(f"cases and their places differ: {sorted(set(ORDER) ^ set(_BY_NAME))}")

CASES = {name: _BY_NAME[name] for name in ORDER}

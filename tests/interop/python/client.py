"""The client of the contract, on the SDK's own client: `python client.py URL BINDING`."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx

from cases import CASES
from connection import BINDINGS, Peer
from expect import Skipped, describe

CASE_LIMIT = 20
PROGRAM_LIMIT = 300
DETAIL_LENGTH = 300


def tell(**line: object) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)


async def run(url: str, binding: str) -> None:
    async with httpx.AsyncClient(timeout=CASE_LIMIT) as http:
        peer: Peer | None = None
        for name, case in CASES.items():
            try:
                if peer is None:
                    peer = await asyncio.wait_for(Peer.connect(url, binding, http), CASE_LIMIT)
                await asyncio.wait_for(case(peer), CASE_LIMIT)
            except Skipped as reason:
                tell(case=name, skipped=True, detail=str(reason))
            except Exception as error:  # noqa: BLE001 - whatever an SDK throws is the outcome of the case
                tell(case=name, ok=False, detail=describe(error)[:DETAIL_LENGTH])
            else:
                tell(case=name, ok=True)
    tell(done=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in BINDINGS:
        sys.exit(f"usage: python client.py URL {'|'.join(BINDINGS)}")
    asyncio.run(asyncio.wait_for(run(sys.argv[1], sys.argv[2]), PROGRAM_LIMIT))

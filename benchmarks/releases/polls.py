"""Edges that only poll, many in one process: each asks with the tag it runs, and is told 304.

In: one JSON line {port, product, tag, tokens, every_s}, and out: {"ready": n}. After a line in all
begin, spread over a pause, so that they poll at their full rate from the first second. A second
line begins to count; after a third it tells {"polled": n, "refused": n} of what lay between.

Each poll has a connection of its own: both ends close one that is idle for five seconds, long
before the next poll.
"""

import asyncio
import json
import random
import sys
from typing import Any

HOST = "127.0.0.1"


class Poller:
    """A fleet that polls with jitter until it is told to stop."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.port, self.every_s = given["port"], given["every_s"]
        self.tokens: list[str] = given["tokens"]
        path = f"/edge/v1/products/{given['product']}/bundle"
        self.head = f"GET {path} HTTP/1.1\r\nHost: x\r\nIf-None-Match: {given['tag']}\r\n"
        self.polled = self.refused = 0

    async def run(self) -> None:
        print(json.dumps({"ready": len(self.tokens)}), flush=True)
        await _line()
        async with asyncio.TaskGroup() as polling:
            edges = [polling.create_task(self._follow(token)) for token in self.tokens]
            await _line()
            self.polled = self.refused = 0
            await _line()
            print(json.dumps({"polled": self.polled, "refused": self.refused}), flush=True)
            for edge in edges:
                edge.cancel()

    async def _follow(self, token: str) -> None:
        asked = f"{self.head}Authorization: Bearer {token}\r\n\r\n".encode()
        await asyncio.sleep(random.uniform(0, 0.75 * self.every_s))  # noqa: S311 - spreads load
        while True:
            answer = await self._poll(asked)
            self.polled += 1
            self.refused += not answer.startswith(b"HTTP/1.1 304")
            await asyncio.sleep(self.every_s * random.uniform(0.5, 1.0))  # noqa: S311

    async def _poll(self, asked: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(HOST, self.port)
        writer.write(asked)
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.close()
        return answer


async def _line() -> None:
    await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run(Poller(json.loads(sys.stdin.readline())).run())

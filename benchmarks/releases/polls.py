"""Edges that only poll, many in one process: each asks with the tag it runs, and is told 304.

In: one JSON line {port, product, tag, tokens, every_s, for_s}. Out: {"ready": n}; after a line in,
{"polled": n, "refused": n}. Each poll has a connection of its own: both ends close one that is idle
for five seconds, long before the next poll.
"""

import asyncio
import json
import random
import sys
import time
from typing import Any

HOST = "127.0.0.1"


class Poller:
    """A fleet that polls with jitter for a while."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.port, self.every_s, self.for_s = given["port"], given["every_s"], given["for_s"]
        self.tokens: list[str] = given["tokens"]
        path = f"/edge/v1/products/{given['product']}/bundle"
        self.head = f"GET {path} HTTP/1.1\r\nHost: x\r\nIf-None-Match: {given['tag']}\r\n"
        self.polled = self.refused = 0

    async def run(self) -> None:
        print(json.dumps({"ready": len(self.tokens)}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        until = time.monotonic() + self.for_s
        await asyncio.gather(*(self._follow(token, until) for token in self.tokens))
        print(json.dumps({"polled": self.polled, "refused": self.refused}), flush=True)

    async def _follow(self, token: str, until: float) -> None:
        asked = f"{self.head}Authorization: Bearer {token}\r\n\r\n".encode()
        await asyncio.sleep(random.uniform(0, self.every_s))  # noqa: S311 - spreads load
        while time.monotonic() < until:
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


if __name__ == "__main__":
    asyncio.run(Poller(json.loads(sys.stdin.readline())).run())

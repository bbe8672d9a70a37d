"""Edges that only poll, many in one process: each asks with the tag it runs, and is told 304.

In: one JSON line {port, product, tag, tokens, every_s, for_s}. Out: {"polled": n, "refused": n}.
Each keeps one connection open between its polls, as an edge behind a proxy does.
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
        self.connecting = asyncio.Semaphore(50)

    async def run(self) -> None:
        connections = await asyncio.gather(*(self._open() for _ in self.tokens))
        print(json.dumps({"connected": len(connections)}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        until = time.monotonic() + self.for_s
        polling = zip(self.tokens, connections, strict=True)
        await asyncio.gather(*(self._poll(token, *pair, until) for token, pair in polling))
        print(json.dumps({"polled": self.polled, "refused": self.refused}), flush=True)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with self.connecting:
            return await asyncio.open_connection(HOST, self.port)

    async def _poll(
        self,
        token: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        until: float,
    ) -> None:
        asked = f"{self.head}Authorization: Bearer {token}\r\n\r\n".encode()
        await asyncio.sleep(random.uniform(0, self.every_s))  # noqa: S311 - spreads load
        while time.monotonic() < until:
            writer.write(asked)
            answer = await reader.readuntil(b"\r\n\r\n")
            self.polled += 1
            self.refused += not answer.startswith(b"HTTP/1.1 304")
            await asyncio.sleep(self.every_s * random.uniform(0.5, 1.0))  # noqa: S311
        writer.close()


if __name__ == "__main__":
    asyncio.run(Poller(json.loads(sys.stdin.readline())).run())

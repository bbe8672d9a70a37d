"""Clients of the bare fan-out: each says when it has read an event.

In: one JSON line {port, clients}. Out: {"connected": n}, then {"read_ns"} for each event.
"""

import asyncio
import json
import sys
import time

ASK = b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"


class Clients:
    def __init__(self, port: int, count: int) -> None:
        self.port, self.count = port, count
        self.opened, self.read_ns = 0, list[int]()
        self.connecting = asyncio.Semaphore(50)

    async def run(self) -> None:
        await asyncio.gather(*(self._follow() for _ in range(self.count)))

    async def _follow(self) -> None:
        async with self.connecting:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(ASK)
            await reader.readuntil(b": hello\n\n")
        self.opened += 1
        if self.opened == self.count:
            print(json.dumps({"connected": self.count}), flush=True)
        while True:
            await reader.readuntil(b"data: ")
            self.read_ns.append(time.monotonic_ns())
            if len(self.read_ns) == self.count:
                print(json.dumps({"read_ns": self.read_ns}), flush=True)
                self.read_ns = []


if __name__ == "__main__":
    given = json.loads(sys.stdin.readline())
    asyncio.run(Clients(given["port"], given["clients"]).run())

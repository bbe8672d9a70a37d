"""Edges in the small, many in one process: each reads its stream, verifies what comes, reports it.

Each verifies as a real edge does and doesn't compile the policy, which takes a core 15 ms and which
a thousand machines do at once; `activation` measures that on one real edge. Times are of the
machine's monotonic clock, which all processes share.

In: one JSON line {port, product, keys, edges: [[name, token]]}. Out: {"connected": n}, then for
each publication that all have verified {"publication", "verified_ns", "acknowledged_ns"}. For each
further line it verifies the last bundle once an edge, nothing sent, and tells {"floor_ns"}
since it began: what these processes take for themselves.
"""

import asyncio
import gc
import json
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httptools

from orchid.edge.stream import Event, Parser
from orchid.engine.wire.bundle import Bundle, verify

HOST = "127.0.0.1"
CONNECTS_AT_ONCE = 50
RETRY_S = 0.5


@dataclass
class Publications:
    """What was heard of each number, in nanoseconds of the monotonic clock."""

    verified: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    acknowledged: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


class Fleet:
    """All edges of this process; prints when the last of them has been answered."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.port, self.product, self.keys = given["port"], given["product"], given["keys"]
        self.edges = [Edge(self, name, token) for name, token in given["edges"]]
        self.heard, self.connected = Publications(), 0
        self.last, self.news_within_s = "", 0.0
        self.reports: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        loop, gate = asyncio.get_running_loop(), asyncio.Semaphore(CONNECTS_AT_ONCE)

        async def connect(edge: Edge) -> None:
            async with gate:
                await loop.create_connection(lambda: edge, HOST, self.port)
                await edge.open.wait()

        await asyncio.gather(*map(connect, self.edges))
        while await asyncio.to_thread(sys.stdin.readline):
            tell({"floor_ns": self._floor()})

    def _floor(self) -> list[int]:
        event, done = f"event: bundle\ndata: {self.last}\n\n".encode(), []
        begin = time.monotonic_ns()
        for _ in self.edges:
            for heard in Parser().feed(event):
                self.believed(heard, None)
            done.append(time.monotonic_ns() - begin)
        return done

    def believed(self, event: Event, active: Bundle | None) -> Bundle:
        """What an event carries, as an edge that runs `active` takes it."""
        return verify(
            event.data,
            self.keys,
            product=self.product,
            floor_publication=active.publication if active else 0,
            now=datetime.now(UTC),
            active=active,
        )

    def is_open(self) -> None:
        self.connected += 1
        if self.connected == len(self.edges):
            tell({"connected": self.connected})

    def verified(self, edge: "Edge", bundle: Bundle) -> None:
        self.heard.verified[bundle.publication].append(time.monotonic_ns())
        task = asyncio.create_task(self._report(edge, bundle.publication))
        self.reports.add(task)
        task.add_done_callback(self.reports.discard)

    async def _report(self, edge: "Edge", number: int) -> None:
        body = json.dumps({"edge": edge.name, "publication": number, "state": "active"}).encode()
        path = f"/edge/v1/products/{self.product}/activations"
        head = f"POST {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        await asyncio.sleep(random.uniform(0.25, 1.0) * self.news_within_s)  # noqa: S311
        # As a real edge does; its pause counts against us.
        while not await self._recorded(edge.asking(head) + body):  # noqa: ASYNC110
            await asyncio.sleep(RETRY_S)
        done = self.heard.acknowledged[number]
        done.append(time.monotonic_ns())
        if len(done) == len(self.edges):
            verified = self.heard.verified[number]
            tell({"publication": number, "verified_ns": verified, "acknowledged_ns": done})

    async def _recorded(self, request: bytes) -> bool:
        try:
            reader, writer = await asyncio.open_connection(HOST, self.port)
            writer.write(request)
            answer = await reader.read()
        except OSError as lost:
            print(lost, file=sys.stderr, flush=True)
            return False
        writer.close()
        if not answer.startswith(b"HTTP/1.1 200"):
            print(answer[:300].decode(), file=sys.stderr, flush=True)
            return False
        said = json.loads(answer.partition(b"\r\n\r\n")[2])
        self.news_within_s = said.get("news_within_s", 0.0)
        return True


class Edge(asyncio.Protocol):
    """One edge and its stream."""

    def __init__(self, fleet: Fleet, name: str, token: str) -> None:
        self.fleet, self.name, self.token = fleet, name, token
        self._http, self._events = httptools.HttpResponseParser(self), Parser()
        self._active: Bundle | None = None
        self.open = asyncio.Event()

    def asking(self, head: str) -> bytes:
        return f"{head}Host: x\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self.asking("GET /edge/v1/stream HTTP/1.1\r\n"))

    def data_received(self, data: bytes) -> None:
        self._http.feed_data(data)

    def on_body(self, body: bytes) -> None:
        for event in self._events.feed(body):
            self._hinted(event)

    def _hinted(self, event: Event) -> None:
        bundle, self.fleet.last = self.fleet.believed(event, self._active), event.data
        first, self._active = self._active is None, bundle
        if first:
            self.open.set()
            self.fleet.is_open()
        self.fleet.verified(self, bundle)


def tell(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    gc.disable()  # five hundred bundles at hand are looked through again and again; an edge has one
    asyncio.run(Fleet(json.loads(sys.stdin.readline())).run())

"""The edges' stream: each newest bundle as it is published, whole, as a hint.

A stream has no queue. Only the newest bundle matters, so an edge that reads slowly misses those in
between and is handed the last; one that doesn't read at all is let go.
"""

import asyncio
import contextlib
import random

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from releases.edge_hub import Held, Hub
from releases.edge_store import Caller

COMMENT_S = 15.0
SEND_S = 20.0  # an edge that takes nothing for so long isn't reading
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would keep events until its buffer is full
]


class EventStream(Response):
    """Ends when the edge goes, when its credential does, or when it opens others in its place."""

    def __init__(self, hub: Hub, caller: Caller, active: str) -> None:
        super().__init__()
        self._hub, self._caller, self._active = hub, caller, active

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._hub.holding(self._caller) as held:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            watching = asyncio.create_task(_until_gone(receive, held))
            try:
                await self._events(held, send)
                await _sent(send, b"", more=False)
            finally:
                watching.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await watching

    async def _events(self, held: Held, send: Send) -> None:
        # Clients that are cut off together come back spread over some seconds.
        await _sent(send, b"retry: %d\n\n" % random.randint(1000, 3000))  # noqa: S311
        told = self._active
        while not held.ended:
            held.woken.clear()
            if held.drill is not None:
                await _sent(send, b"event: drill\ndata: %d\n\n" % held.drill)
                held.drill = None
            served = self._hub.known(held.caller.product)
            if served is not None and served.etag != told:
                await _sent(send, served.event)
                told = served.etag
                if held.caller.edge_id is not None:
                    self._hub.writes.saw(held.caller.edge_id, served.publication)
                continue
            try:
                async with asyncio.timeout(COMMENT_S):
                    await held.woken.wait()
            except TimeoutError:
                await _sent(send, b":\n\n")


async def _sent(send: Send, body: bytes, more: bool = True) -> None:
    """Raises TimeoutError for an edge that doesn't read: the server then cuts the connection."""
    async with asyncio.timeout(SEND_S):
        await send({"type": "http.response.body", "body": body, "more_body": more})


async def _until_gone(receive: Receive, held: Held) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    held.end()

"""Reads the control plane's stream of hints, which carry what was published the moment it is.

A hint is verified exactly as what is pulled, and nothing rests on one: without the stream the long
poll brings the same bytes, and beside it a slow poll finds what a lost hint did not bring.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import httpx

from orchid.edge.sync import Sync, seconds_asked

log = logging.getLogger(__name__)

PATH = "/edge/v1/stream"
SILENCE_S = 45.0  # three comments of the control plane that didn't come
SOONEST_S, LATEST_S = 0.5, 30.0  # between two tries to open it
ABSENT_S = 300.0  # a control plane without a stream may be replaced by one that has it
#: A bundle is far smaller; whoever sends more without a line's end is no control plane.
LARGEST_LINE = 8 * 1024 * 1024


@dataclass(frozen=True)
class Event:
    """One server-sent event with data."""

    name: str
    data: str


class Parser:
    """Server-sent events from pieces of a stream, as the HTML standard reads them.

    Lines end with LF or CRLF; ids aren't kept, because the tag of what is active says more.
    """

    def __init__(self) -> None:
        self._rest, self._name = bytearray(), ""
        self._data: list[str] = []
        self.retry_s: float | None = None

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Events that this piece completes. Raises ValueError for a line larger than any bundle."""
        self._rest += piece
        *lines, self._rest = self._rest.split(b"\n")
        if len(self._rest) > LARGEST_LINE:
            raise ValueError(f"a line of the stream has over {LARGEST_LINE} bytes")
        for line in lines:
            if event := self._line(line.removesuffix(b"\r").decode("utf-8", "replace")):
                yield event

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._ended()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "retry" if value.isascii() and value.isdigit() and len(value) < 8:
                self.retry_s = int(value) / 1000.0
        return None

    def _ended(self) -> Event | None:
        name, data = self._name or "message", self._data
        self._name, self._data = "", []
        return Event(name, "\n".join(data)) if data else None


class Stream:
    """Keeps one stream open and hands its hints to `sync`, which decides what comes of them."""

    def __init__(self, client: httpx.AsyncClient, sync: Sync) -> None:
        self._client, self._sync = client, sync
        self._retry_s = SOONEST_S

    async def run(self) -> None:
        """Follow for ever. Without it the poll holds again, and is told so at once."""
        failures = 0
        while True:
            opened, pause_s = await self.follow_once()
            failures = 0 if opened else failures + 1
            longest = max(pause_s, min(LATEST_S, SOONEST_S * 2**failures))
            await asyncio.sleep(random.uniform(longest / 2, longest))  # noqa: S311 (no secret)

    async def follow_once(self) -> tuple[bool, float]:
        """Read one stream to its end: whether it opened, and how long to wait before the next."""
        if self._sync.active is None and not self._sync.keys:
            return False, SOONEST_S  # the first poll registers this edge and pins the keys
        timeout = httpx.Timeout(10.0, read=SILENCE_S)
        opened = False
        try:
            async with self._client.stream(
                "GET", PATH, headers=self._sync.running, timeout=timeout
            ) as answer:
                opened = answer.status_code == httpx.codes.OK
                if not opened:
                    return False, _pause_s(answer)
                self._sync.streaming = True
                await self._read(answer.aiter_bytes())
        except (httpx.HTTPError, ValueError) as problem:
            log.info("the stream ended: %s", problem or type(problem).__name__)
        finally:
            if opened:
                self._sync.streaming = False
                self._sync.pull.set()
        return opened, self._retry_s

    async def _read(self, pieces: AsyncIterator[bytes]) -> None:
        parser = Parser()
        async for piece in pieces:
            for event in parser.feed(piece):
                self._hinted(event)
            self._retry_s = parser.retry_s or self._retry_s

    def _hinted(self, event: Event) -> None:
        if event.name == "drill":
            self._sync.told_of_drill(event.data)
        elif event.name == "bundle" and not self._sync.offered(event.data):
            self._sync.pull.set()  # refused here: what is offered by then, the poll asks


def _pause_s(answer: httpx.Response) -> float:
    if answer.status_code in (404, 405):
        return ABSENT_S
    return seconds_asked(answer)

"""JSON over kept-alive HTTP/1.1 to one loopback server, at a tenth of a general client's CPU.

The driver shares two cores with all that it measures: with a general client, its own two calls a
request cost a third of a core at 25 requests a second.
"""

import asyncio
import contextlib
import json
from typing import Any
from urllib.parse import urlsplit

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class HttpError(Exception):
    """No answer, or none that can be read."""


class LeanHttp:
    """A pool of connections to the server of `url`; an answer is its status and its JSON body."""

    def __init__(self, url: str, timeout_s: float):
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._timeout_s = timeout_s
        self._idle: list[Connection] = []

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send and wait for the answer; raises HttpError."""
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(head.encode() + content)
        except TimeoutError:
            raise HttpError(f"{path}: no answer within {self._timeout_s:.0f} s") from None
        except (OSError, EOFError, ValueError) as problem:
            raise HttpError(f"{path}: {problem or type(problem).__name__}") from None

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        self._idle.clear()

    async def _exchange(self, message: bytes) -> tuple[int, Any]:
        connection = await self._connect()
        kept = False
        try:
            reader, writer = connection
            writer.write(message)
            status, headers = await _head(reader)
            content = await reader.readexactly(int(headers.get("content-length", "0")))
            kept = headers.get("connection", "").lower() != "close"
        finally:
            if kept:
                self._idle.append(connection)
            else:
                connection[1].close()
        return status, json.loads(content) if content else None

    async def _connect(self) -> Connection:
        """An idle connection that the server has not closed meanwhile, or a new one."""
        while self._idle:
            reader, writer = self._idle.pop()
            if not (reader.at_eof() or writer.is_closing()):
                return reader, writer
            writer.close()
        return await asyncio.open_connection(self._host, self._port)


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines[1:] if line)
    return int(lines[0].split(" ", 2)[1]), {name.lower(): value.strip() for name, _, value in pairs}

"""Bounds on what any client may send, before a byte of it is read or written anywhere.

Django spools a body to disk whole, and only some readers of it look at its size. It decodes a query
and a form by whatever codec the request names, and Python has some that are no text (base64) and
some that write a NUL or half a character in plain letters (UTF-7, unicode_escape).
"""

import json

from django.utils.http import parse_header_parameters
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controlplane.errors import (
    MACHINES,
    PROBLEM_JSON,
    BadInput,
    Problem,
    TooLarge,
    problem_body,
    standing_alone,
)

#: A file of 48 MiB is the largest delivery; a form adds its own lines to it.
LARGEST_BODY = 64 * 1024 * 1024


class BoundedBodies:
    """ASGI middleware: 413 for a declared excess at once, for an undeclared one as it comes in."""

    def __init__(self, app: ASGIApp, limit: int = LARGEST_BODY) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif _declared(scope) > self.limit:
            await _refuse(scope, _too_large(self.limit), send, "413.html")
        else:
            await self._counted(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        received, refused = 0, False

        async def counting() -> Message:
            nonlocal received, refused
            message = await receive()
            received += len(message.get("body", b""))
            if received <= self.limit:
                return message
            if not refused:
                refused = True
                await _refuse(scope, _too_large(self.limit), send, "413.html")
            return {"type": "http.disconnect"}

        async def sending(message: Message) -> None:
            if not refused:
                await send(message)

        await self.app(scope, counting, sending)


def _declared(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) < 19 else 0


async def _refuse(scope: Scope, problem: Problem, send: Send, template: str = "500.html") -> None:
    media, body = _told(scope, problem, template)
    headers = [(b"content-type", media.encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _too_large(limit: int) -> TooLarge:
    then = "`orchid ingest FILE` sends a file of any size, in parts."
    return TooLarge("too_large", f"A body may have {limit:,} bytes. {then}")


def _told(scope: Scope, problem: Problem, template: str) -> tuple[str, bytes]:
    """A page for whoever sends with a browser, else a problem document."""
    by_browser = "text/html" in Headers(scope=scope).get("Accept", "")
    if by_browser and not scope["path"].startswith(MACHINES):
        page = standing_alone(problem, template)
        return page.headers["Content-Type"], page.content
    return PROBLEM_JSON, json.dumps(problem_body(problem, scope["path"])).encode()


class Utf8Text:
    """ASGI middleware: 415 for text in any other encoding, or in one that can't be told."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _charset(scope) in ("", "utf-8", "utf8", "us-ascii"):
            await self.app(scope, receive, send)
            return
        detail = "Text is read as UTF-8. Send it so, and leave the charset out."
        await _refuse(scope, BadInput("unknown_charset", detail, status=415), send)


def _charset(scope: Scope) -> str:
    """What the request calls its encoding, read as Django reads it; "?" for what it can't read."""
    named = ",".join(Headers(scope=scope).getlist("Content-Type"))
    try:
        return str(parse_header_parameters(named)[1].get("charset", "")).lower()
    except ValueError:
        return "?"

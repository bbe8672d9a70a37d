"""A bound on what any client may send, before a byte of it is written anywhere.

Django spools a body to disk whole, and only some readers of it look at its size.
"""

import json

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controlplane.errors import MACHINES, PROBLEM_JSON, TooLarge, problem_body, standing_alone

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
            await _refuse(scope, self.limit, send)
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
                await _refuse(scope, self.limit, send)
            return {"type": "http.disconnect"}

        async def sending(message: Message) -> None:
            if not refused:
                await send(message)

        await self.app(scope, counting, sending)


def _declared(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) < 19 else 0


async def _refuse(scope: Scope, limit: int, send: Send) -> None:
    media, body = _told(scope, limit)
    headers = [(b"content-type", media.encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": TooLarge.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _told(scope: Scope, limit: int) -> tuple[str, bytes]:
    """A page for whoever brings a file in a browser, else a problem document."""
    then = "`orchid ingest FILE` sends a file of any size, in parts."
    problem = TooLarge("too_large", f"A body may have {limit:,} bytes. {then}")
    by_browser = "text/html" in Headers(scope=scope).get("Accept", "")
    if by_browser and not scope["path"].startswith(MACHINES):
        page = standing_alone(problem, "413.html")
        return page.headers["Content-Type"], page.content
    return PROBLEM_JSON, json.dumps(problem_body(problem, scope["path"])).encode()

"""An ASGI application that answers every request with one 304: the server's own cost."""

from typing import Any


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for answer in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{answer}.complete"})
        return
    await send({"type": "http.response.start", "status": 304, "headers": [(b"etag", b'"x"')]})
    await send({"type": "http.response.body", "body": b""})

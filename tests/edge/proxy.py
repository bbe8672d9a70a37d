"""What stands before the control plane where edges show certificates: it ends TLS and says whose.

As a proxy of a site does: it demands a certificate of its own authority, strips the headers that
say so from what clients send, and sets them itself.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from accounts.certificates import CERTIFICATE, PROXY_SECRET
from tests.edge.certificates import Authority

SECRET = "a-secret-that-the-proxy-shares-with-us"
OURS = {CERTIFICATE.lower().encode(), PROXY_SECRET.lower().encode()}


class Proxy:
    """Serves an ASGI application to whoever shows a certificate; `shown` are their fingerprints."""

    def __init__(self, app: Any, authority: Authority) -> None:
        self._app, self.authority = app, authority
        self.shown: list[str] = []
        self._open: list[Any] = []
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        own = self.authority.vouches_for("control-plane")
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            self._app,
            http=self._protocol(),
            lifespan="off",
            log_level="critical",
            timeout_graceful_shutdown=1,
            ws="none",
            ssl_certfile=own.certificate,
            ssl_keyfile=own.key,
            ssl_ca_certs=str(self.authority.file),
            ssl_cert_reqs=ssl.CERT_REQUIRED,
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield
        finally:
            server.should_exit = True
            await task
            listener.close()

    def drop(self) -> None:
        """End every connection, as a proxy does that starts again."""
        while self._open:
            self._open.pop().abort()

    def _protocol(self) -> type[H11Protocol]:
        proxy = self

        class Telling(H11Protocol):
            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                given = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
                fingerprint = sha256(given).hexdigest()
                proxy.shown.append(fingerprint)
                proxy._open.append(transport)
                self.app = _saying(self.app, fingerprint)

        return Telling


def _saying(app: Any, fingerprint: str) -> Any:
    told = [
        (CERTIFICATE.lower().encode(), fingerprint.encode()),
        (PROXY_SECRET.lower().encode(), SECRET.encode()),
    ]

    async def with_headers(scope: Any, receive: Any, send: Any) -> None:
        kept = [pair for pair in scope["headers"] if pair[0] not in OURS]
        await app({**scope, "headers": kept + told}, receive, send)

    return with_headers

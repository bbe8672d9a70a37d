"""A control plane in the small: serves whatever token it is told to, remembers all it hears."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import uvicorn
from joserfc.jwk import OKPKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from orchid.engine.document.load import load_document
from orchid.engine.wire.bundle import Bundle, Generation, Generations, etag_of, public_jwk, sign
from orchid.engine.wire.records import RequestRecord, parse_ndjson
from orchid.engine.wire.shadow import ShadowRecord, parse_shadows
from tests.small_policy import small_document

PRODUCT = "orchid-small"


def new_key() -> bytes:
    return OKPKey.generate_key("Ed25519").as_pem(private=True)


def bundle(publication: int, pool: str = "one", **changes: Any) -> Bundle:
    """A publication of the small document, changed by paths as `small_document` takes them."""
    loaded = load_document(small_document(**changes))
    now = datetime.now(UTC)
    return Bundle(
        product=PRODUCT,
        publication=publication,
        kind="publish",
        issued_at=now,
        not_before=now,
        expires_at=now + timedelta(days=1),
        generations=Generations(Generation(loaded.digest, loaded.given)),
        pools={loaded.digest: pool},
    )


class ControlPlane:
    """Speaks the edge's side of HTTP on a loopback port."""

    def __init__(self) -> None:
        self.key = new_key()
        self.shows = {"Authorization": "Bearer orc_edge_test"}  # by what it knows its edge
        self.token: str | None = None
        self.activations: list[dict[str, Any]] = []
        self.asks: dict[str, float] = {}  # of whoever reports: how often, and news how soon
        self.batches: dict[str, bytes] = {}
        self.shadow_batches: dict[str, bytes] = {}
        self.headers: list[dict[str, str]] = []
        self.tags: list[str | None] = []
        self.waits: list[str | None] = []  # what each poll preferred
        self.ingest_status = 202
        self.ingest_headers: dict[str, str] = {}
        self.url = ""
        self.hints: str | None = None  # served by the stream; None where there is no stream
        self.streams = 0
        self._changed = asyncio.Event()

    def publish(self, published: Bundle, *, key: bytes | None = None, kid: str = "k1") -> None:
        self.serve(sign(published, key or self.key, kid))

    def serve(self, token: str) -> None:
        self.token = token
        self._pulse()

    @property
    def records(self) -> list[RequestRecord]:
        parsed = [parse_ndjson(body) for body in self.batches.values()]
        assert not any(batch.rejected for batch in parsed)
        return [record for batch in parsed for _, record in batch.records]

    @property
    def shadows(self) -> list[ShadowRecord]:
        parsed = [parse_shadows(body) for body in self.shadow_batches.values()]
        assert not any(batch.rejected for batch in parsed)
        return [record for batch in parsed for _, record in batch.records]

    async def until(self, ready: Any, within_s: float = 30.0) -> None:
        """Wait until something this control plane heard makes `ready()` true."""
        async with asyncio.timeout(within_s):
            while not ready():
                await self._changed.wait()

    def activated(self, publication: int) -> bool:
        return any(
            heard["publication"] == publication and heard["state"] == "active"
            for heard in self.activations
        )

    def refusals(self) -> list[str]:
        return [heard["reason"] for heard in self.activations if heard["state"] == "refused"]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            self.app(), log_level="critical", timeout_graceful_shutdown=1, ws="none"
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield
        finally:
            server.should_exit = True
            self._pulse()
            await task
            listener.close()

    def app(self) -> Starlette:
        base = f"/edge/v1/products/{PRODUCT}"
        return Starlette(
            routes=[
                Route(f"{base}/keys", self._keys),
                Route(f"{base}/bundle", self._bundle),
                Route("/edge/v1/stream", self._stream),
                Route(f"{base}/activations", self._activation, methods=["POST"]),
                Route("/api/v1/ingest/requests", self._ingest, methods=["POST"]),
                Route("/api/v1/ingest/shadow", self._shadow, methods=["POST"]),
            ]
        )

    async def _keys(self, request: Request) -> Response:
        assert (
            self.shows.items() <= {name: request.headers.get(name) for name in self.shows}.items()
        )
        return JSONResponse({"edge": "e1", "keys": {"k1": public_jwk(self.key)}})

    async def _bundle(self, request: Request) -> Response:
        tag = request.headers.get("If-None-Match")
        self.tags.append(tag)
        self.waits.append(request.headers.get("Prefer"))
        self._pulse()
        for _ in range(100):
            if self.token is not None and etag_of(self.token) != tag:
                headers = {"ETag": etag_of(self.token)}
                return Response(self.token, media_type="application/jose", headers=headers)
            if self.token is None:
                return Response(status_code=404)
            if "Prefer" not in request.headers or await request.is_disconnected():
                break
            await self._next_change(0.2)
        return Response(status_code=304)

    async def _stream(self, request: Request) -> Response:
        if self.hints is None:
            return Response(status_code=404)
        return StreamingResponse(self._hinted(), media_type="text/event-stream")

    async def _hinted(self) -> AsyncIterator[str]:
        """Every hint that is set, until it is None: then the stream ends."""
        told = ""
        self.streams += 1
        self._pulse()
        while self.hints is not None:
            if self.hints != told:
                told = self.hints
                yield told
            yield ":\n\n"
            await self._next_change(0.1)

    def hint(self, token: str, event: str = "bundle") -> None:
        """Send an event by the stream, whatever the pull serves."""
        self.hints = f"event: {event}\ndata: {token}\n\n"
        self._pulse()

    async def _next_change(self, within_s: float) -> None:
        try:
            await asyncio.wait_for(self._changed.wait(), within_s)
        except TimeoutError:
            return

    async def _activation(self, request: Request) -> Response:
        self.activations.append(await request.json())
        self._pulse()
        return JSONResponse({"recorded": True, **self.asks})

    async def _ingest(self, request: Request) -> Response:
        if self.ingest_status == 202:
            self.batches[request.headers["Batch-Id"]] = await request.body()
            self.headers.append(dict(request.headers))
        self._pulse()
        return Response(status_code=self.ingest_status, headers=self.ingest_headers)

    async def _shadow(self, request: Request) -> Response:
        if self.ingest_status == 202:
            self.shadow_batches[request.headers["Batch-Id"]] = await request.body()
        self._pulse()
        return Response(status_code=self.ingest_status, headers=self.ingest_headers)

    def _pulse(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

"""An edge follows a bundle that is a file on a web server, and trusts its signature alone."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.datastructures import Headers
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from orchid.edge import static_bundle
from orchid.edge.app import Edge
from orchid.engine.wire.bundle import Bundle, public_jwk, sign
from tests.edge.control_plane import PRODUCT, ControlPlane, bundle, new_key
from tests.edge.edge_site import Running, Site


async def until(ready: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not ready():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


class WebServer:
    """Serves a folder as any web server does, and remembers what it was asked and answered."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, list[tuple[dict[str, str], int]]()
        self.url = ""

    def put(self, published: Bundle, key: bytes) -> None:
        """As `orchid publish` does it: whole, by renaming."""
        place = self.folder / PRODUCT / "bundle.jws"
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_suffix(".new")
        fresh.write_text(sign(published, key, "k1"))
        fresh.replace(place)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(Headers(scope=scope))

        async def remembered(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.asked.append((headers, message["status"]))
            await send(message)

        await StaticFiles(directory=self.folder)(scope, receive, remembered)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        config = uvicorn.Config(
            self, port=0, log_level="critical", lifespan="off", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/{PRODUCT}/bundle.jws"
        try:
            yield
        finally:
            server.should_exit = True
            await task


@pytest.fixture
async def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebServer]:
    monkeypatch.setattr(static_bundle, "EVERY_S", 0.05)
    (tmp_path / "site").mkdir()
    made = WebServer(tmp_path / "site")
    async with made.serving():
        yield made


@asynccontextmanager
async def following(site: Site, web: WebServer, **more: Any) -> AsyncIterator[Running]:
    edge = Edge(replace(site.settings, bundle_url=web.url, **more))
    async with edge.running():
        yield Running(edge)


def active(running: Running) -> int | None:
    found = running.edge.sync.active
    return found.bundle.publication if found else None


async def test_each_bundle_that_is_put_there_becomes_active_and_is_reported(
    site: Site, plane: ControlPlane, web: WebServer
) -> None:
    web.put(bundle(1), plane.key)
    async with following(site, web):
        await plane.until(lambda: plane.activated(1))
        web.put(bundle(2), plane.key)
        await plane.until(lambda: plane.activated(2))


async def test_what_has_not_changed_is_not_sent_again(
    site: Site, plane: ControlPlane, web: WebServer
) -> None:
    web.put(bundle(1), plane.key)
    async with following(site, web):
        await until(lambda: [status for _, status in web.asked].count(304) > 2)
    assert [status for _, status in web.asked].count(200) == 1


async def test_the_web_server_never_sees_the_token_of_the_edge(
    site: Site, plane: ControlPlane, web: WebServer
) -> None:
    web.put(bundle(1), plane.key)
    async with following(site, web) as running:
        await until(lambda: active(running) == 1)
    assert not any("authorization" in headers for headers, _ in web.asked)


async def test_a_stranger_who_can_write_there_can_publish_nothing(
    site: Site, plane: ControlPlane, web: WebServer
) -> None:
    web.put(bundle(1), plane.key)
    async with following(site, web) as running:
        await until(lambda: active(running) == 1)
        web.put(bundle(2), new_key())
        await plane.until(lambda: any(said.startswith("altered") for said in plane.refusals()))
        web.put(bundle(1), plane.key)
        assert active(running) == 1


async def test_a_refused_file_is_asked_for_whole_until_it_is_mended(
    site: Site, plane: ControlPlane, web: WebServer
) -> None:
    web.put(bundle(1), plane.key)
    async with following(site, web) as running:
        await until(lambda: active(running) == 1)
        web.put(bundle(2), new_key())
        await until(lambda: [status for _, status in web.asked].count(200) > 3)
        web.put(bundle(3), plane.key)
        await until(lambda: active(running) == 3)


async def test_keys_from_a_file_do_without_a_control_plane(
    site: Site, plane: ControlPlane, web: WebServer, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": {"k1": public_jwk(plane.key)}}))
    plane.url = "http://127.0.0.1:9"
    web.put(bundle(1), plane.key)
    async with following(site, web, bundle_keys=keys) as running:
        await until(lambda: active(running) == 1)
        assert (await running.admit("r1")).status_code == 200

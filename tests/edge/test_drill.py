"""An edge rehearses a rollback: it says whether it could, and goes on as before."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orchid.engine.wire.bundle import Bundle, sign
from orchid.engine.wire.drill import sign_drill
from tests.edge.control_plane import PRODUCT, ControlPlane, bundle, new_key
from tests.edge.edge_site import Site


class Rehearsing(ControlPlane):
    """A control plane that has one rehearsal to try."""

    def __init__(self) -> None:
        super().__init__()
        self.drill = ""
        self.answers: list[dict[str, Any]] = []

    def rehearse(self, rehearsed: Bundle, *, key: bytes | None = None) -> None:
        self.drill = sign_drill(rehearsed, key or self.key, "k1")

    def app(self) -> Starlette:
        app = super().app()
        at = f"/edge/v1/products/{PRODUCT}/drills/7"
        app.routes.append(Route(at, self._drill, methods=["GET", "POST"]))
        return app

    async def _drill(self, request: Request) -> Response:
        if request.method == "GET":
            return Response(self.drill, media_type="application/jose")
        self.answers.append(await request.json())
        self._pulse()
        return JSONResponse({"recorded": True})


@pytest.fixture
async def rehearsing() -> AsyncIterator[Rehearsing]:
    plane = Rehearsing()
    async with plane.serving():
        yield plane


async def test_it_answers_once_and_decides_by_what_it_had(
    tmp_path: Path, rehearsing: Rehearsing
) -> None:
    rehearsing.publish(bundle(4))
    rehearsing.rehearse(bundle(5))
    async with Site(tmp_path, rehearsing).edge() as running:
        await rehearsing.until(lambda: rehearsing.activated(4))
        rehearsing.hint("7", "drill")
        await rehearsing.until(lambda: rehearsing.answers)
        running.edge.sync.told_of_drill("7")
        assert (await running.status())["publication"] == 4
    [answer] = rehearsing.answers
    assert (answer["edge"], answer["state"], answer["replicas"]) == ("e1", "ready", 1)
    assert answer["fetch_ms"] > 0
    assert answer["prepare_ms"] > 0


@pytest.mark.parametrize("fault", ["no replica", "another key", "a bundle"])
async def test_what_it_could_not_activate_it_refuses_with_the_reason(
    tmp_path: Path, rehearsing: Rehearsing, fault: str
) -> None:
    rehearsing.publish(bundle(4))
    rehearsing.rehearse(
        bundle(5, pool="gone" if fault == "no replica" else "one"),
        key=new_key() if fault == "another key" else None,
    )
    if fault == "a bundle":
        rehearsing.drill = sign(bundle(5), rehearsing.key, "k1")
    async with Site(tmp_path, rehearsing).edge() as running:
        await rehearsing.until(lambda: rehearsing.activated(4))
        running.edge.sync.told_of_drill("7")
        await rehearsing.until(lambda: rehearsing.answers)
    [answer] = rehearsing.answers
    assert answer["state"] == "refused"
    expected = {"no replica": "no_replica", "another key": "altered", "a bundle": "altered"}
    assert answer["reason"].startswith(expected[fault])

"""Where an edge is installed in a test, and a started one with a client of it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette

from orchid.edge.app import Edge
from orchid.edge.doors import Doors
from orchid.edge.settings import EdgeSettings
from tests.edge.control_plane import PRODUCT, ControlPlane
from tests.small_policy import small_document

#: Changes of the small document: work that may be put off for five minutes.
ASYNC: dict[str, Any] = {
    "classes__report": {
        **small_document()["classes"]["chat"],
        "interactive": False,
        "deadline_ms": 1000,
        "deferral": {"deadline": "10m", "max_queue_age": "5m", "after": "1s"},
    }
}
TOO_SOON = {"class": "report", "deadline_ms": 1}  # infeasible now, feasible later


class Running:
    """One started edge, and a client of it."""

    def __init__(self, edge: Edge) -> None:
        self.edge = edge
        doors = Doors(edge.service, edge.sync, edge.telemetry)
        transport = httpx.ASGITransport(Starlette(routes=doors.routes))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://edge")

    async def admit(self, request_id: str, **given: Any) -> httpx.Response:
        ask = {"request_id": request_id, "class": "chat", "deadline_ms": 5000, **given}
        return await self.client.post("/v1/admit", json=ask)

    async def settle(self, attempt_id: str, **given: Any) -> httpx.Response:
        known = {"status": "completed", "output_tokens": 10, "completion_ms": 300.0}
        validity = {"policy_valid": True, "schema_valid": True}
        return await self.client.post(
            "/v1/settle", json={"attempt_id": attempt_id, **known, **validity, **given}
        )

    async def status(self) -> dict[str, Any]:
        answer: dict[str, Any] = (await self.client.get("/v1/status")).json()
        return answer


class Site:
    """Where an edge is installed: its folders outlive each start of it."""

    def __init__(self, folder: Path, plane: ControlPlane) -> None:
        self.folder, self.plane = folder, plane
        self.pools = folder / "run"
        self.pools.mkdir()
        self.ready_pool("one", slots=4)

    @property
    def settings(self) -> EdgeSettings:
        return EdgeSettings(
            product=PRODUCT,
            name="e1",
            url=self.plane.url,
            token="orc_edge_test",
            state_dir=self.folder / "state",
            pools_dir=self.pools,
        )

    def ready_pool(
        self, name: str, slots: int, models: tuple[str, ...] = ("full", "compact"), **more: Any
    ) -> None:
        """The state file of a pool, or with `replica` that of one of its replicas."""
        state = {"pool": name, "slots": slots, "models": models, "http": "127.0.0.1:1", "kind": "x"}
        file = f"triton-{name}-{more['replica']}" if "replica" in more else f"triton-{name}"
        (self.pools / f"{file}.json").write_text(json.dumps(state | more))

    @asynccontextmanager
    async def edge(self) -> AsyncIterator[Running]:
        edge = Edge(self.settings)
        async with edge.running():
            yield Running(edge)

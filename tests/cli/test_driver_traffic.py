"""Slow servers, refusals and a failing edge never hold the next request up: it is open loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orchid.cli.demo.arrivals import DemoRequest
from orchid.cli.demo.edgeclient import Edge
from orchid.cli.demo.traffic import Driver
from orchid.cli.modelserver import application
from orchid.cli.triton.catalogue import Pool, ToyModel

Serve = Callable[[Any], AbstractContextManager[str]]
MODEL = ToyModel("full", base_ms=0, per_input_token_us=0, per_output_token_us=1000)


class FakeEdge:
    """Decides as told and writes down what it is asked, in order."""

    def __init__(self, model_server: str) -> None:
        self.endpoints = {"grpc": None, "http": model_server.removeprefix("http://")}
        #: By request, seconds from its arrival; the others have all the time of a busy machine.
        self.deadlines_s: dict[int, float] = {}
        self.extra: dict[str, Any] = {}
        self.refuse: set[int] = set()
        self.log: list[tuple[str, dict[str, Any]]] = []

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [body for what, body in self.log if what == kind]

    async def admit(self, request: Request) -> Response:
        body = await request.json()
        self.log.append(("admit", body))
        number = int(body["request_id"].rpartition("-")[2])
        if number in self.refuse:
            return JSONResponse({"reason": "queue_full", "retryable": True}, 503)
        deadline = timedelta(seconds=self.deadlines_s.get(number, 60.0))
        decision = {
            "attempt_id": f"{body['request_id']}-a1",
            "action": "admit",
            "route": "full",
            "model": "full",
            "publication": 1,
            "endpoints": self.endpoints,
            "deadline_at": (datetime.fromisoformat(body["arrived_at"]) + deadline).isoformat(),
        }
        return JSONResponse(decision | self.extra)

    async def settle(self, request: Request) -> Response:
        self.log.append(("settle", await request.json()))
        return JSONResponse({"settled": True})

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/admit", self.admit, methods=["POST"]),
                Route("/v1/settle", self.settle, methods=["POST"]),
            ]
        )


def wanted(number: int, at_s: float, answer_tokens: int = 1) -> DemoRequest:
    return DemoRequest(
        number=number,
        at_s=at_s,
        class_="short_assistant",
        tenant="cedar",
        tenant_class="standard",
        session="cedar-1",
        input_tokens=10,
        answer_tokens=answer_tokens,
        max_output_tokens=1024,
    )


@pytest.fixture
def model_server(serve: Serve) -> Iterator[str]:
    """One slot: a request of n answer tokens holds it for n milliseconds."""
    with serve(application(Pool("one", 1, {"full": 1}, {"full": MODEL}))) as url:
        yield url


@pytest.fixture
def edge(model_server: str) -> FakeEdge:
    return FakeEdge(model_server)


@pytest.fixture
async def driver(edge: FakeEdge, serve: Serve, tmp_path: Path) -> AsyncIterator[Driver]:
    with serve(edge.app()) as url:
        client = Edge(url)
        yield Driver(client, None, tmp_path, say=lambda line: None)
        await client.close()


async def test_nothing_waits_for_earlier_requests(driver: Driver, edge: FakeEdge) -> None:
    offered = [wanted(n, at_s=0.01 * n, answer_tokens=100) for n in range(8)]
    await driver.drive(iter(offered), None)
    kinds = [kind for kind, _ in edge.log]
    # One slot: the second answer comes after 200 ms, when all had long been sent.
    second_settlement = [i for i, kind in enumerate(kinds) if kind == "settle"][1]
    assert kinds[:second_settlement].count("admit") == 8
    assert driver.tally.outcomes == {"completed": 8}


async def test_times_count_from_the_intended_arrival(driver: Driver, edge: FakeEdge) -> None:
    await driver.drive(iter([wanted(n, at_s=0.0, answer_tokens=100) for n in range(3)]), None)
    waited = sorted(body["completion_ms"] for body in edge.of("settle"))
    assert waited[0] >= 100
    assert waited[1] >= 200
    assert waited[2] >= 300


async def test_the_edge_is_told_the_intended_arrival(driver: Driver, edge: FakeEdge) -> None:
    await driver.drive(iter([wanted(0, 0.0), wanted(1, 0.125)]), None)
    first, second = (datetime.fromisoformat(body["arrived_at"]) for body in edge.of("admit"))
    assert second - first == timedelta(milliseconds=125)


async def test_a_request_past_its_deadline_is_cancelled_and_its_slot_is_free(
    driver: Driver, edge: FakeEdge
) -> None:
    edge.deadlines_s = {0: 0.5}
    # The first would hold the only slot for ten minutes, and the second has one to wait for it.
    await driver.drive(iter([wanted(0, 0.0, answer_tokens=600_000), wanted(1, 0.05)]), None)
    statuses = {body["attempt_id"][-4]: body["status"] for body in edge.of("settle")}
    assert statuses == {"0": "timed_out", "1": "completed"}


async def test_a_refused_request_is_counted_by_reason_and_not_sent(
    driver: Driver, edge: FakeEdge
) -> None:
    edge.refuse = {0}
    await driver.drive(iter([wanted(0, 0.0), wanted(1, 0.01)]), None)
    assert driver.tally.refusals == {"queue_full": 1}
    assert len(edge.of("settle")) == 1


async def test_a_bounded_request_is_settled_as_bounded(driver: Driver, edge: FakeEdge) -> None:
    edge.extra = {"action": "bound", "max_output_tokens": 5}
    await driver.drive(iter([wanted(0, 0.0, answer_tokens=20)]), None)
    (settled,) = edge.of("settle")
    assert (settled["status"], settled["output_tokens"]) == ("bounded", 5)


async def test_an_answer_cut_by_its_own_cap_is_truncated(driver: Driver, edge: FakeEdge) -> None:
    edge.extra = {"max_output_tokens": 5}
    await driver.drive(iter([wanted(0, 0.0, answer_tokens=20)]), None)
    assert edge.of("settle")[0]["status"] == "truncated"


async def test_a_model_server_that_is_gone_makes_the_attempt_failed(
    driver: Driver, edge: FakeEdge
) -> None:
    edge.endpoints = {"grpc": None, "http": "127.0.0.1:9"}
    await driver.drive(iter([wanted(0, 0.0)]), None)
    (settled,) = edge.of("settle")
    assert settled["status"] == "failed"
    assert "output_tokens" not in settled


async def test_an_edge_that_is_gone_is_counted_and_the_run_goes_on(tmp_path: Path) -> None:
    driver = Driver(Edge("http://127.0.0.1:9"), None, tmp_path, say=lambda line: None)
    await driver.drive(iter([wanted(0, 0.0), wanted(1, 0.01)]), None)
    assert driver.tally.outcomes == {"unanswered": 2}
    assert driver.tally.in_flight == 0


async def test_a_stop_ends_the_sending_and_settles_what_is_under_way(
    driver: Driver, edge: FakeEdge
) -> None:
    def stopping() -> Iterator[DemoRequest]:
        yield wanted(0, 0.0, answer_tokens=50)
        asyncio.get_running_loop().call_later(0.05, driver.stop.set)
        yield wanted(1, 3600.0)

    await asyncio.wait_for(driver.drive(stopping(), None), 30)
    assert [body["status"] for body in edge.of("settle")] == ["completed"]

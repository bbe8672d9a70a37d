"""From a publish, or a rollback, until a thousand connected edges have verified what it serves.

The clock starts before the service is called that pages and API call too, so what it locks, checks,
signs and commits is inside. Against a bare fan-out of numbers to as many streams in the same run,
and against the goals: 250 ms at the median, 1 s at the 99th percentile, all recorded within 5 s.

The edges share two cores with what they measure. What they take for themselves, a thousand
verifications in as many processes with nothing sent, is a part of every figure and is measured in
the same run as `floor`; a fleet has a machine for each.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line
from benchmarks.releases import stage
from benchmarks.releases.peers import bare
from benchmarks.rounds import Series, percentile

EDGES, FEW = 1_000, 50
CLIENTS = 2  # processes that play them
PEER = "a bare SSE fan-out of numbers"
FLOOR = "as many verifications by the same processes, nothing sent"


@dataclass(frozen=True)
class Told:
    """Milliseconds from the call until it returned, and until each edge had verified, was told."""

    returned: float
    verified: list[float]
    acknowledged: list[float]


def run(smoke: bool) -> Iterable[Line]:
    rounds, count = (1, FEW) if smoke else (5, EDGES)
    with database():
        made = stage.product()
        told, floor, memory_mb = _measured(made, stage.edges(made, count), rounds)
        peer = bare.fanout(count, rounds * 2)
    for move, rows in told.items():
        yield from _lines(f"releases.{move}", rows, {PEER: peer, FLOOR: floor}, smoke)
    per_edge = memory_mb * 1024 / count
    yield Line("releases.memory", per_edge, "KiB/edge", Against("100 KiB", 100.0))


def _measured(
    made: Any, edges: list[list[str]], rounds: int
) -> tuple[dict[str, list[Told]], list[list[float]], float]:
    """What each move was told, the edges' own floor, and the memory that their streams take."""
    from releases.keys import public_keys

    with stage.web() as web:
        given = {"port": web.port, "product": stage.PRODUCT, "keys": public_keys()}
        before_mb = web.memory_mb()
        parts = [{**given, "edges": edges[n::CLIENTS]} for n in range(CLIENTS)]
        with stage.helpers("benchmarks.releases.edges", parts) as fleet:
            _expect(fleet, "connected")
            _expect(fleet, "publication")
            memory_mb = web.memory_mb() - before_mb
            told = _moves(made, fleet, rounds)
            return told, [_floor(fleet) for _ in range(rounds)], memory_mb


def _floor(fleet: Sequence[stage.Helper]) -> list[float]:
    """Milliseconds until each edge has read and verified what is at hand already."""
    for one in fleet:
        one.tell()
    return [ns / 1e6 for one in _expect(fleet, "floor_ns") for ns in one["floor_ns"]]


def _moves(made: Any, fleet: Sequence[stage.Helper], rounds: int) -> dict[str, list[Told]]:
    from releases.services.publish import publish
    from releases.services.rollback import roll_back

    told: dict[str, list[Told]] = {"publish": [], "rollback": []}
    dee = stage.actor("dee")
    for number in range(rounds + 1):
        proposal = stage.approved(made, 9_000 + number)
        told["publish"].append(_timed(fleet, partial(publish, dee, proposal)))
        told["rollback"].append(_timed(fleet, partial(roll_back, dee, made, "measured")))
    # The first round loads what a process that runs has loaded.
    return {move: rows[1:] for move, rows in told.items()}


def _timed(fleet: Sequence[stage.Helper], move: Callable[[], object]) -> Told:
    begin = time.monotonic_ns()
    move()
    returned = time.monotonic_ns()
    heard = _expect(fleet, "publication")
    verified = [ns for one in heard for ns in one["verified_ns"]]
    acknowledged = [ns for one in heard for ns in one["acknowledged_ns"]]
    return Told((returned - begin) / 1e6, _since(begin, verified), _since(begin, acknowledged))


def _expect(fleet: Sequence[stage.Helper], key: str) -> list[dict[str, Any]]:
    heard = [one.heard() for one in fleet]
    if not all(key in one for one in heard):
        raise RuntimeError(f"expected {key}, heard {[list(one) for one in heard]}")
    return heard


def _since(begin: int, moments: Iterable[int]) -> list[float]:
    return [(moment - begin) / 1e6 for moment in moments]


def _lines(
    name: str, rows: list[Told], peers: dict[str, list[list[float]]], smoke: bool
) -> Iterator[Line]:
    for share, goal_ms in ((0.5, 250.0), (0.99, 1_000.0)):
        mine = Series(tuple(percentile(row.verified, share) for row in rows))
        at = f"p{share * 100:g}"
        goal = None if smoke else "<= 1"
        limit = Against(f"{goal_ms:g} ms", goal_ms)
        yield Line(f"{name}.{at}", mine.median, "ms", limit, goal, mine.spread)
        for peer, rounds in peers.items():
            theirs = Series(tuple(percentile(one, share) for one in rounds)).median
            suffix = "peer" if peer == PEER else "floor"
            yield Line(f"{name}.{at}.{suffix}", mine.median, "ms", Against(peer, theirs))
    call = Series(tuple(row.returned for row in rows))
    whole = Against(
        "until the median edge", Series(tuple(percentile(r.verified, 0.5) for r in rows)).median
    )
    yield Line(f"{name}.call", call.median, "ms", whole, spread=call.spread)
    last = Series(tuple(max(row.acknowledged) for row in rows))
    goal = None if smoke else "<= 1"
    yield Line(f"{name}.recorded", last.median, "ms", Against("5 s", 5_000.0), goal, last.spread)

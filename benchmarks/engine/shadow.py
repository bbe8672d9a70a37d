"""How long a client waits for an edge's answer while a candidate is asked beside, and while not.

Arrivals come at a fixed rate, whatever the answers take. The journal is one without a disk: what a
disk adds is the same for both, and would hide the difference.
"""

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import cast

from msgspec import UNSET, UnsetType

from benchmarks.engine.documents import REFERENCE
from benchmarks.engine.scale import Scale
from benchmarks.engine.traffic import REPLICAS, SLOTS, Arrivals
from benchmarks.line import Against, Line
from benchmarks.rounds import Series, interleaved, percentile
from orchid.edge.active import activate
from orchid.edge.app import now_ms
from orchid.edge.ask import Admit, Settle
from orchid.edge.journal import Journal
from orchid.edge.metrics import Metrics
from orchid.edge.pools import Endpoints, PoolEndpoint
from orchid.edge.service import Service
from orchid.edge.standing import Granted
from orchid.engine.admission.policy import compile_policy
from orchid.engine.document.load import load_document
from orchid.engine.document.parse import parse
from orchid.engine.wire.bundle import Bundle, Exposure, Generation, Generations
from orchid.engine.wire.contents import EarlyStage

A_SECOND = 400
OPEN = 200  # attempts at once; the oldest is settled as the next is asked for
KINDS: dict[str, EarlyStage | UnsetType] = {
    "asked": "shadow",
    "limited": "hard_limits",
    "alone": UNSET,
}
NOTES = {
    "asked": f"{A_SECOND} requests a second, a candidate is asked",
    "limited": f"{A_SECOND} requests a second, a candidate's limits hold",
}
ROUND = 8  # rounds of the scale's length: a tail needs more requests than a rate


class _NoDisk:
    """A journal that is written at once and kept nowhere."""

    async def opened(self, *_: object) -> None: ...

    async def rested(self, *_: object) -> None: ...

    async def ended(self, *_: object) -> None: ...


def lines(scale: Scale) -> Iterator[Line]:
    """The median and the tail of the wait, with a candidate over without."""
    waits = {name: _Waits(kind, scale) for name, kind in KINDS.items()}
    medians = interleaved({name: one.round for name, one in waits.items()}, scale.rounds)
    tails = {name: Series(tuple(one.tails)) for name, one in waits.items()}
    figures = (("p50 of an answer", medians, "<= 1.2"), ("p99 of an answer", tails, "<= 1.5"))
    for figure, series, bound in figures:
        alone = Against("no candidate", series["alone"].median)
        for name in ("asked", "limited"):
            own, goal = series[name], scale.goal(bound)
            yield Line(f"{figure}, {name}", own.median, "us", alone, goal, own.spread, NOTES[name])


class _Waits:
    """Rounds of one stage; `tails` has the 99th percentile of each, in microseconds."""

    def __init__(self, kind: EarlyStage | UnsetType, scale: Scale) -> None:
        self.bundle, self.scale, self.tails = _bundle(kind), scale, list[float]()

    def round(self) -> float:
        """The median wait, in microseconds."""
        taken = asyncio.run(_driven(self.bundle, self.scale))
        self.tails.append(percentile(taken, 0.99) / 1000.0)
        return percentile(taken, 0.5) / 1000.0


async def _driven(bundle: Bundle, scale: Scale) -> list[int]:
    """Nanoseconds from the question to the answer, each at its moment; of the warm half alone.

    Before it the decision tables of both are filled, cell by cell.
    """
    journal = cast("Journal", _NoDisk())
    service = Service(bundle.product, "e1", journal, Metrics(), now_ms)
    service.use_pools(_pools(next(iter(bundle.pools.values()))))
    service.activate(activate("token", bundle, "e1"))
    reading = asyncio.create_task(service.shadow.run())
    taken: list[int] = []
    held: deque[tuple[str, int]] = deque()
    begin = time.perf_counter()
    for number, ask in enumerate(_asks(int(A_SECOND * ROUND * scale.round_s))):
        await asyncio.sleep(max(0.0, begin + number / A_SECOND - time.perf_counter()))
        asked_ns = time.perf_counter_ns()
        answer = await service.admit(ask)
        taken.append(time.perf_counter_ns() - asked_ns)
        if isinstance(answer, Granted):
            held.append((answer.attempt_id, (ask.max_output_tokens or 0) // 2))
        if len(held) > OPEN:
            await _settle(service, *held.popleft())
        service.shadow.lines.waiting.clear()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    return taken[len(taken) // 2 :]


async def _settle(service: Service, attempt_id: str, tokens: int) -> None:
    await service.settle(Settle(attempt_id=attempt_id, status="completed", output_tokens=tokens))


def _asks(count: int) -> list[Admit]:
    loaded = load_document(REFERENCE.read_bytes())
    policy = compile_policy(loaded.document, digest=loaded.digest)
    return [
        Admit(
            request_id=one.request_id,
            class_=one.class_,
            tenant=one.tenant,
            tenant_class=one.tenant_class,
            segment=dict(one.segment),
            input_tokens=one.input_tokens,
            max_output_tokens=one.max_output_tokens,
        )
        for one in Arrivals(policy).take(count)
    ]


def _bundle(kind: EarlyStage | UnsetType) -> Bundle:
    """The reference document, and a candidate with a shorter queue."""
    given = parse(REFERENCE.read_bytes(), "yaml")
    live = load_document(given)
    admission = {**given["admission"], "max_queued_teu": given["admission"]["max_queued_teu"] / 2}
    candidate = load_document({**given, "admission": admission})
    now = datetime.now(UTC)
    pool = live.document.fleet.pool or "default"
    return Bundle(
        product=live.document.product,
        publication=1,
        kind="publish",
        issued_at=now,
        not_before=now,
        expires_at=now + timedelta(days=1),
        generations=Generations(
            Generation(live.digest, live.given), Generation(candidate.digest, candidate.given)
        ),
        pools={live.digest: pool, candidate.digest: pool},
        exposure=Exposure(0, 0.0, "salt", kind=kind),
    )


def _pools(pool: str) -> Endpoints:
    loaded = load_document(REFERENCE.read_bytes())
    routes = tuple(loaded.document.models)
    names = [f"r{number}" for number in range(REPLICAS)]
    return {
        (pool, name): PoolEndpoint(pool, SLOTS, routes, replica=name, devices=1) for name in names
    }

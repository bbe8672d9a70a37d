"""Whether a candidate is asked or not, what decides answers the same and stands the same."""

import asyncio
import math
from collections.abc import Callable
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.edge.active import activate
from orchid.edge.ask import Admit, Cancel, Settle
from orchid.edge.journal import Journal
from orchid.edge.metrics import Metrics
from orchid.edge.pools import Endpoints, PoolEndpoint
from orchid.edge.service import Service
from orchid.edge.standing import Answer, Deferred, Granted
from orchid.engine.admission.replica import Replica
from orchid.engine.admission.state import AdmissionState
from orchid.engine.wire.bundle import Bundle
from tests.edge.edge_site import ASYNC
from tests.edge.shadow_site import early

BEGIN_MS = 1_700_000_000_000.0
BUSY: dict[str, Any] = {
    **ASYNC,
    "budgets": [{"tenant": "*", "window": "1m", "max_teu": 400}],
    "overload": ["stop_shadow", "compact_fallback", "reject_infeasible"],
    "admission__shares": {
        "control": {"guaranteed": 0.1},
        "region/here": {
            "guaranteed": 0.9,
            "children": {"tenant_class/standard": {"guaranteed": 1}},
        },
    },
}
STRICTER: dict[str, Any] = {
    "admission__live_tokens": {"per_device": 900, "per_tenant": 500, "per_request": 400},
    "admission__concurrency": {"mode": "static_knee", "per_replica": 2},
    "fallback": [{"from": "full", "to": "compact", "prefer": True, "where": {}}],
}


class _NoDisk:
    """A journal whose disk is never busy."""

    async def opened(self, *_: object) -> None: ...

    async def rested(self, *_: object) -> None: ...

    async def ended(self, *_: object) -> None: ...


class _Edge:
    """An edge without its processes, on a clock that somebody else moves."""

    def __init__(self, bundle: Bundle, now_ms: Callable[[], float]) -> None:
        journal = cast("Journal", _NoDisk())
        self.service = Service("orchid-small", "e1", journal, Metrics(), now_ms)
        self.service.use_pools(_replicas(2))
        self.service.activate(activate("token", bundle, "e1"))
        self.asked: dict[str, asyncio.Task[Answer]] = {}

    def admit(self, ask: Admit) -> None:
        self.asked[ask.request_id] = asyncio.create_task(self.service.admit(ask))

    async def settle(self, request_id: str, tokens: int, *, final: bool) -> None:
        if (attempt := self._open(request_id)) is not None:
            status = "completed" if final else "failed"
            await self.service.settle(
                Settle(attempt_id=attempt, status=status, output_tokens=tokens, final=final)  # type: ignore[arg-type]
            )

    async def cancel(self, request_id: str) -> None:
        if (attempt := self._open(request_id)) is not None:
            await self.service.cancel(Cancel(attempt_id=attempt, dispatched=False))

    def _open(self, request_id: str) -> str | None:
        granted = self.service.requests.granted.get(request_id)
        return granted.attempt_id if granted is not None else None

    async def stop(self) -> None:
        for task in self.asked.values():
            task.cancel()
        await asyncio.gather(*self.asked.values(), return_exceptions=True)


def _replicas(count: int) -> Endpoints:
    warm = ("full", "compact")
    return {("one", f"r{n}"): PoolEndpoint("one", 2, warm, replica=f"r{n}") for n in range(count)}


def answers(edge: _Edge) -> dict[str, object]:
    """What each request was told, as far as it was."""
    return {
        request_id: _told(task.result())
        if task.done() and not task.exception()
        else str(task.done())
        for request_id, task in edge.asked.items()
    }


def _told(answer: Answer) -> object:
    if isinstance(answer, Granted):
        attempt = answer.record.attempts[-1]
        return answer.record.decision, attempt.replica, attempt.teu_predicted
    if isinstance(answer, Deferred):
        return answer.deferral
    assert answer.decision is not None
    return answer.decision.refusal, answer.decision.explained


def standing(state: AdmissionState) -> dict[str, object]:
    """The whole state, with attempts by their requests: their ids are drawn at each edge."""
    names = {
        held.attempt_id: held.decision.shape.request.request_id for held in state.live.values()
    }
    return {
        "live": sorted((names[a], held.offer, held.reserved_ms) for a, held in state.live.items()),
        "tenants": state.tenants,
        "shares": {digest: [*map(str, b.nodes), b.moved_ms] for digest, b in state.shares.items()},
        "budgets": state.budgets,
        "retries": state.retries,
        "ladders": state.ladders,
        "pools": {
            name: (
                pool.live_tokens,
                pool.held,
                [_replica(replica, names) for replica in pool.replicas.values()],
                [(len(one.queue), one.queue.head, one.queue.queued_teu) for one in pool.lanes],
            )
            for name, pool in state.pools.items()
        },
    }


def _replica(replica: Replica, names: dict[str, str]) -> tuple[object, ...]:
    running = {names[attempt]: end for attempt, end in replica.running.items()}
    waiting = {names[attempt]: wait for attempt, wait in replica.waiting.items()}
    return replica.name, replica.slots, replica.live_tokens, running, waiting


REQUESTS = [f"r{n}" for n in range(12)]
admits = st.tuples(
    st.just("admit"),
    st.sampled_from(REQUESTS),
    st.sampled_from(["chat", "form", "report", "unknown"]),
    st.sampled_from(["t1", "t2"]),
    st.integers(0, 600),
    st.integers(1, 60),
    st.sampled_from([5.0, 800.0, 5000.0]),
)
settles = st.tuples(st.just("settle"), st.sampled_from(REQUESTS), st.integers(0, 80), st.booleans())
cancels = st.tuples(st.just("cancel"), st.sampled_from(REQUESTS))
passes = st.tuples(st.just("pass"), st.sampled_from([1.0, 40.0, 700.0, 40_000.0]))
fleets = st.tuples(st.just("fleet"), st.integers(0, 3))
STEPS = st.lists(st.one_of(admits, admits, admits, settles, cancels, passes, fleets), max_size=25)


async def _both(bundles: tuple[Bundle, Bundle], steps: list[tuple[Any, ...]]) -> None:
    clock = [BEGIN_MS]
    with_it, without = (_Edge(bundle, lambda: clock[0]) for bundle in bundles)
    try:
        for step in steps:
            for edge in (with_it, without):
                await _taken(edge, step)
            if step[0] == "pass":
                clock[0] += step[1]
            for edge in (with_it, without):
                await edge.service.expire()
                edge.service.fleet.observe_all()
                await _quiet()
            with_it.service.shadow.read_notes(math.inf)
            assert answers(with_it) == answers(without)
            assert standing(with_it.service.state) == standing(without.service.state)
    finally:
        await with_it.stop()
        await without.stop()


async def _taken(edge: _Edge, step: tuple[Any, ...]) -> None:
    match step:
        case ("admit", request_id, class_, tenant, tokens, cap, deadline_ms):
            edge.admit(
                Admit(
                    request_id=request_id,
                    class_=class_,
                    tenant=tenant,
                    tenant_class="standard",
                    input_tokens=tokens,
                    max_output_tokens=cap,
                    deadline_ms=deadline_ms,
                )
            )
        case ("settle", request_id, tokens, final):
            await edge.settle(request_id, tokens, final=final)
        case ("cancel", request_id):
            await edge.cancel(request_id)
        case ("fleet", count):
            edge.service.use_pools(_replicas(count))
    await _quiet()


async def _quiet() -> None:
    """Let every task come to where it waits for something."""
    for _ in range(8):
        await asyncio.sleep(0)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_asking_a_candidate_changes_no_answer_and_no_state(steps: list[tuple[Any, ...]]) -> None:
    asked = early("shadow", incumbent=BUSY, **STRICTER)
    plain = early(incumbent=BUSY, **STRICTER)
    asyncio.run(_both((asked, plain), steps))


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_limits_that_are_no_tighter_change_no_answer_and_no_state(
    steps: list[tuple[Any, ...]],
) -> None:
    looser: dict[str, Any] = {
        "admission__live_tokens": {
            "per_device": 200_000,
            "per_tenant": 90_000,
            "per_request": 9_000,
        },
        "admission__concurrency": {"mode": "static_knee", "per_replica": 9},
        "budgets": [{"tenant": "*", "window": "1m", "max_teu": 900}],
    }
    limited = early("hard_limits", incumbent=BUSY, **looser)
    asyncio.run(_both((limited, early(incumbent=BUSY, **looser)), steps))

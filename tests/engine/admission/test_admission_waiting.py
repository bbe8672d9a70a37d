"""A place in the queue is one place, whatever the request asks and wherever it may be served."""

import msgspec
import pytest

from orchid.engine.admission.decide import decide
from orchid.engine.admission.replica import Ready
from orchid.engine.admission.request import AdmissionRequest, Decision, Reason
from orchid.engine.admission.state import AdmissionState
from tests.small_policy import small_policy

POLICY = small_policy(admission__concurrency={"mode": "static_knee", "per_replica": 1})
NOW = 1_000_000.0


def two_lanes() -> AdmissionState:
    """One replica of each route, each with an attempt under way."""
    state = AdmissionState()
    state.replace_pools(
        [Ready("one", route, 1, frozenset({route})) for route in ("full", "compact")], NOW
    )
    state.equip(POLICY)
    for name, tenant_class in (("a1", None), ("a2", "standard")):
        decision = asked(state, name, tenant_class=tenant_class)
        assert decision.offer is not None
        if not decision.offer.wait:
            state.reserve(name, decision, POLICY, NOW, NOW + 60_000)
    return state


def asked(state: AdmissionState, name: str, **given: object) -> Decision:
    known = {"request_id": name, "class_": "chat", "arrived_ms": NOW, "deadline_ms": 5_000.0}
    return decide(AdmissionRequest(**{**known, **given}), state, POLICY, NOW)  # type: ignore[arg-type]


def test_who_waits_for_another_route_leaves_the_first_ones_queue() -> None:
    state = two_lanes()
    decision = asked(state, "r1")
    assert decision.offer is not None
    assert decision.offer.wait
    state.enqueue(decision, POLICY)
    other = msgspec.structs.replace(decision.offer, route="compact")
    state.enqueue(msgspec.structs.replace(decision, offer=other), POLICY)
    lanes = state.pools["one"].lanes
    assert [lane.queue.head for lane in lanes] == [None, "r1"]
    assert state.leave_queue("one", "r1")
    assert state.pools["one"].queued_teu() == 0.0


def test_no_time_at_all_is_not_the_time_of_the_class() -> None:
    decision = asked(two_lanes(), "r1", deadline_ms=0.0)
    assert decision.reason is Reason.DEADLINE_INFEASIBLE
    assert decision.shape.due_ms == NOW


@pytest.mark.parametrize("deadline_ms", [0.0, 5e-324])
def test_an_arrival_that_is_still_to_come_may_wait_without_any_time_of_its_own(
    deadline_ms: float,
) -> None:
    state = two_lanes()
    decision = asked(state, "r1", deadline_ms=deadline_ms, arrived_ms=NOW + 4_000.0)
    assert decision.offer is not None
    assert decision.offer.wait
    state.enqueue(decision, POLICY)
    assert state.reorder(POLICY, NOW) == ()
    assert state.reorder(POLICY, NOW + 5_000.0) == ("r1",)

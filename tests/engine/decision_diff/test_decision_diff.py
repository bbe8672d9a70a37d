"""Two documents over recorded requests: what changes, where, and how state decides it."""

import json
import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from benchmarks.engine.records import recorded_requests
from orchid.engine.decision_diff import Answer, DecisionDiff, decision_diff
from orchid.engine.document.load import LoadedDocument, load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, Rejected, RequestRecord
from tests.small_policy import small_document

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
PREFER = [{"from": "full", "to": "compact", "prefer": True, "where": {"tenant_class": "standard"}}]
# One request at a time, and room in the queue for a few.
NARROW = {"admission__concurrency": {"mode": "static_knee", "per_replica": 1}}


def document(**changes: Any) -> PolicyDocument:
    return load_document(small_document(**changes)).document


def record(at_ms: float = 0.0, **changes: Any) -> RequestRecord:
    """A chat of 128 tokens in and 20 out: 410 ms on full, 110 ms on compact."""
    took_ms = changes.pop("took_ms", 300.0)
    route = changes.pop("route", "full")
    fields: dict[str, Any] = {
        "request_id": f"r{at_ms:g}",
        "product": "orchid-small",
        "arrived_at": BEGIN + timedelta(milliseconds=at_ms),
        "outcome": "completed",
        "class_": "chat",
        "tenant": "acme",
        "segment": {"task": "chat", "tenant_class": "standard"},
        "input_tokens": 128,
        "max_output_tokens": 20,
        "output_tokens": 20,
        "deadline_ms": 1000.0,
        "decision": DecisionRecord(action="admit", route=route),
        "attempts": (AttemptRecord(attempt_id="a", route=route, released_ms=took_ms),),
    }
    return RequestRecord(**{**fields, **changes})


def pairs(diff: DecisionDiff) -> dict[tuple[str, str], int]:
    return {(_words(pair.before), _words(pair.after)): pair.n for pair in diff.pairs}


def _words(answer: Answer) -> str:
    return f"{answer.action} {answer.reason}"


def refused(diff: DecisionDiff) -> tuple[dict[str, int], dict[str, int]]:
    return dict(diff.before.refused_by_reason), dict(diff.after.refused_by_reason)


@pytest.mark.parametrize("mode", ["traffic", "shape"])
def test_a_document_changes_nothing_against_itself(reference: PolicyDocument, mode: Any) -> None:
    diff = decision_diff(
        reference, reference, recorded_requests(3000, reference, seed=4, load=3.0), mode=mode
    )
    assert (diff.n, diff.changed, diff.pairs, diff.examples) == (3000, 0, (), ())
    assert diff.before == diff.after


def test_a_preferred_fallback_changes_the_segments_that_it_names() -> None:
    premium = {"task": "chat", "tenant_class": "premium"}
    records = [
        record(0),
        record(1000, tenant="other-corp"),
        record(2000, tenant="other-corp", segment=premium),
    ]
    diff = decision_diff(document(), document(fallback=PREFER), records)
    assert (diff.n, diff.changed, diff.changed_action) == (3, 2, 2)
    assert pairs(diff) == {("admit requested", "fallback fallback_preferred"): 2}
    assert [(part.name, part.n, part.changed) for part in diff.segments] == [
        ("task=chat|tenant_class=standard", 2, 2),
        ("task=chat|tenant_class=premium", 1, 0),
    ]
    assert [(part.name, part.n, part.changed) for part in diff.tenants] == [
        ("other-corp", 2, 1),
        ("acme", 1, 1),
    ]
    first = diff.examples[0]
    assert (first.request_id, first.tenant, first.after.route) == ("r0", "acme", "compact")
    # 128 x 0.25 + 20 tokens are 52 TEU on full and half of that on compact.
    assert (diff.before.reserved_teu, diff.after.reserved_teu) == (
        Decimal(156),
        Decimal(104),
    )


def test_the_predicted_completion_follows_the_route() -> None:
    diff = decision_diff(document(), document(fallback=PREFER), [record(0)])
    assert diff.before.predicted_completion_p95_ms == pytest.approx(410, rel=0.01)
    assert diff.after.predicted_completion_p95_ms == pytest.approx(110, rel=0.01)


def test_a_request_waits_for_the_recorded_end_of_the_one_before() -> None:
    soon = [record(0, took_ms=300.0), record(10)]
    diff = decision_diff(document(), document(**NARROW), soon)
    assert (diff.n, diff.changed) == (2, 0)
    assert diff.after.by_action == {"admit": 2}
    # It begins at 300 instead of at 10.
    assert diff.after.predicted_completion_p95_ms == pytest.approx(700, rel=0.01)


def test_a_request_that_waits_too_long_leaves_at_its_last_moment() -> None:
    late = [record(0, took_ms=5000.0), record(10)]
    diff = decision_diff(document(), document(**NARROW, fallback=[]), late)
    assert pairs(diff) == {("admit requested", "reject deadline_infeasible"): 1}
    assert diff.examples[0].request_id == "r10"


def test_shape_asks_every_request_alone() -> None:
    records = [record(0, took_ms=5000.0), record(10)]
    diff = decision_diff(document(), document(**NARROW, fallback=[]), records, mode="shape")
    assert (diff.mode, diff.changed) == ("shape", 0)


def test_another_route_takes_its_predicted_time_and_not_the_recorded_one() -> None:
    # Recorded on full, which took 5 s; compact is predicted to end after 110 ms.
    records = [record(0, took_ms=5000.0), record(200)]
    diff = decision_diff(document(**NARROW), document(**NARROW, fallback=PREFER), records)
    assert diff.after.by_action == {"fallback": 2}
    assert diff.after.predicted_completion_p95_ms == pytest.approx(110, rel=0.01)


def test_slots_say_how_many_requests_a_replica_runs_at_once() -> None:
    records = [record(0, took_ms=300.0), record(10)]
    wide = decision_diff(document(fallback=[]), document(fallback=[]), records)
    narrow = decision_diff(document(fallback=[]), document(fallback=[]), records, slots=1)
    assert wide.before.predicted_completion_p95_ms == pytest.approx(410, rel=0.01)
    # Dispatched behind the first, it is predicted to begin when that one's 410 ms are over.
    assert narrow.before.predicted_completion_p95_ms == pytest.approx(810, rel=0.01)


def test_a_recorded_cap_that_is_the_classes_own_follows_the_document() -> None:
    chat = {**small_document()["classes"]["chat"], "max_output_tokens": 16}
    records = [record(0), record(1000, max_output_tokens=18)]
    diff = decision_diff(document(), document(classes__chat=chat), records)
    # 32 + 20 and 32 + 18 before; the first takes the new cap of 16, the second keeps its own.
    assert (diff.before.reserved_teu, diff.after.reserved_teu) == (
        Decimal(102),
        Decimal(98),
    )


def test_a_budget_refuses_by_its_reason_and_counts_for_its_tenant_alone() -> None:
    budgets = [{"tenant": "acme", "window": "10s", "max_teu": 100}]
    records = [record(at, tenant="acme" if at < 3000 else "free") for at in range(0, 6000, 1000)]
    diff = decision_diff(document(), document(budgets=budgets, fallback=[]), records)
    assert refused(diff) == ({}, {"budget_exhausted": 2})
    assert [(part.name, part.changed) for part in diff.tenants] == [("acme", 2), ("free", 0)]


def test_a_deferred_request_is_counted_once_and_its_later_run_holds_what_it_takes() -> None:
    patient = {
        **small_document()["classes"]["chat"],
        "interactive": False,
        "deferral": {"deadline": "60s", "max_queue_age": "50s", "after": "2s"},
    }
    new = document(classes__chat=patient, admission__max_queued_teu=0, fallback=[], **NARROW)
    # Deferred at 10 it comes back 2 s to 3.8 s later and holds the only slot for 3 s.
    records = [record(0), record(10, took_ms=3000.0), record(4200, took_ms=10.0)]
    diff = decision_diff(document(), new, records)
    assert diff.n == 3
    assert diff.after.by_action == {"defer": 2, "admit": 1}


def test_the_order_of_records_is_that_of_arrivals() -> None:
    records = [record(at) for at in range(0, 60_000, 100)]
    mixed = list(records)
    random.Random(3).shuffle(mixed)
    documents = document(), document(**NARROW)
    straight, shuffled = (decision_diff(*documents, given) for given in (records, mixed))
    assert shuffled == straight
    assert straight.changed


def test_a_record_that_comes_too_late_is_counted_and_still_decided() -> None:
    records = [*(record(at) for at in range(33_000)), record(5)]
    diff = decision_diff(document(), document(), records, mode="shape")
    assert (diff.n, diff.out_of_order) == (33_001, 1)


def test_a_record_that_came_twice_is_decided_twice_and_stops_nothing() -> None:
    records = [record(0, took_ms=500.0), record(10), record(10)]
    diff = decision_diff(document(**NARROW), document(**NARROW, fallback=PREFER), records)
    assert diff.n == 3


def test_shadow_records_and_unreadable_lines_are_counted_apart() -> None:
    given: Iterable[Any] = [
        record(0),
        Rejected(2, "nan", "completion_ms: not a finite number", "completion_ms"),
        record(1, cohort="shadow"),
        Rejected(4, "not_json", "the line is not one JSON object"),
    ]
    diff = decision_diff(document(), document(), given)
    assert (diff.n, diff.left_out, diff.unreadable.n) == (1, {"shadow": 1}, 2)
    assert diff.unreadable.by_code == {"nan": 1, "not_json": 1}
    assert diff.unreadable.first[0].field == "completion_ms"


def test_many_tenants_are_shown_by_change_with_the_rest_together() -> None:
    records = [record(n, tenant=f"t{n}", request_id=f"r{n}") for n in range(5000)]
    diff = decision_diff(document(), document(fallback=PREFER), records, mode="shape")
    assert len(diff.tenants) == 51
    assert diff.tenants[-1].name == "other"
    assert sum(part.n for part in diff.tenants) == diff.n == 5000
    assert sum(part.changed for part in diff.tenants) == diff.changed


def test_equal_input_gives_equal_bytes_without_nan(
    demo: tuple[LoadedDocument, LoadedDocument],
) -> None:
    one, two = demo[0].document, demo[1].document
    texts = [
        json.dumps(
            decision_diff(one, two, recorded_requests(2000, one, seed=9)).as_json(),
            allow_nan=False,
        )
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    found = json.loads(texts[0])
    assert found["schema"] == "orchid.decision_diff/v1"
    assert found["pairs"][0]["after"]["reason"] == "fallback_preferred"
    assert sum(pair["n"] for pair in found["pairs"]) == found["changed"]


def test_no_requests_have_no_percentile() -> None:
    found = decision_diff(document(), document(), []).as_json()
    assert found["n"] == 0
    assert found["before"]["predicted_completion_p95_ms"] is None
    assert found["first_arrival"] is None


def test_progress_is_told_and_may_stop_it() -> None:
    told: list[int] = []
    records = [record(at) for at in range(5000)]
    decision_diff(document(), document(), records, mode="shape", progress=told.append)
    assert told == [2000, 4000]

    def stop(read: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        decision_diff(document(), document(), records, progress=stop)

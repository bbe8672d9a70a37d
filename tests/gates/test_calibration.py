"""Predictions beside what came of them: summed once, judged by cell, turned into a proposal."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Conflict
from gates.models import CalibrationCell, CalibrationCursor, PricedOut
from gates.selectors.calibration import Calibrated, calibrated, drift
from gates.selectors.prefix_reads import prefix_reads
from gates.services import calibration as reading
from gates.services.calibration_draft import draft_cells, next_version
from ingest import services as inbox
from ingest.models import Batch, EngineAttempt
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.verdicts import Calibration
from policies.models import Generation
from policies.selectors import document_of
from tests.gates.gates_cast import Judged, api, given, machine, someone

pytestmark = pytest.mark.django_db


def record(
    judged: Judged, number: int, *, attempt: dict[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """An answer that came as predicted: 1,000 tokens in, 100 of 200 out, 0.25 ms a TEU."""
    served = {
        "attempt_id": f"a{number}",
        "route": "full",
        "manifest": judged.manifest,
        "status": "completed",
        "accelerator_ms": 100.0,
        "useful_tokens": 100,
    }
    return {
        "request_id": f"r{number}",
        "product": judged.product.slug,
        "publication": 1,
        "digest": judged.digest,
        "class": "short_assistant",
        "tenant": "acme",
        "segment": {"task": "assistant", "tenant_class": "standard", "risk": "a"},
        "arrived_at": (judged.now - timedelta(seconds=90)).isoformat(),
        "deadline_ms": 1500.0,
        "completion_ms": 500.0,
        "input_tokens": 1000,
        "max_output_tokens": 200,
        "output_tokens": 100,
        "outcome": "completed",
        "policy_valid": True,
        "schema_valid": True,
        "decision": {
            "action": "admit",
            "route": "full",
            "teu": "450",
            "live_tokens": 1200,
            "output_tokens": 200,
            "completion_ms": 600.0,
        },
        "attempts": [{**served, **(attempt or {})}],
        **changes,
    }


def told(judged: Judged, records: list[dict[str, Any]], name: str = "batch-1") -> None:
    """Records through the inbox."""
    body = "\n".join(map(json.dumps, records)).encode()
    key = inbox.SourceKey("edge", "edge-1")
    batch, _ = inbox.accept(judged.product, key, name, "edge", body)
    inbox.process(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.rejected) == ("done", [])


def standing(judged: Judged) -> Calibrated:
    return calibrated(judged.product, timezone.now())


def test_records_become_one_standing_a_measure(judged: Judged) -> None:
    told(judged, [record(judged, n) for n in range(60)])
    assert reading.read_requests(judged.product, later()) == 1
    rows = {row.key.measure: row for row in standing(judged).rows}
    assert set(rows) == set(Measure)
    assert rows[Measure.WORK].found.verdict is Calibration.CALIBRATED
    assert rows[Measure.OUTPUT].observed == 100
    assert rows[Measure.OUTPUT].found.verdict is Calibration.OVER_PREDICTS
    assert rows[Measure.LIVE].predicted == 1200
    assert rows[Measure.COMPLETION].found.bias == pytest.approx(-1 / 6, abs=0.01)
    assert {row.found.n for row in rows.values()} == {60}


def later() -> datetime:
    """A moment at which every batch that was sent is settled."""
    return timezone.now() + timedelta(minutes=2)


def broken(judged: Judged) -> list[dict[str, Any]]:
    """A long shape that keeps its price, and a short one of which three in ten do not."""
    kept = [record(judged, n) for n in range(200)]
    short = [
        record(
            judged,
            1000 + n,
            input_tokens=400,
            attempt={"accelerator_ms": 105.0 if n % 10 < 3 else 67.0},
        )
        for n in range(100)
    ]
    return kept + short


def test_a_batch_is_read_once_however_often_the_tick_comes(judged: Judged) -> None:
    told(judged, [record(judged, n) for n in range(40)])
    assert reading.read_requests(judged.product, timezone.now()) == 0, "not settled yet"
    now = later()
    assert [reading.read_requests(judged.product, now) for _ in range(3)] == [1, 0, 0]
    assert {cell.n for cell in CalibrationCell.objects.all()} == {40}
    cursor = CalibrationCursor.objects.get()
    assert (cursor.read, cursor.stored, cursor.ahead) == (40, 40, [])
    assert cursor.through == Batch.objects.get(batch_id="batch-1").pk


def test_a_reading_that_is_killed_leaves_nothing(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(judged, [record(judged, n) for n in range(40)])
    monkeypatch.setattr(reading, "_add_refused", killed)
    with pytest.raises(KeyboardInterrupt):
        reading.read_requests(judged.product, later())
    assert not CalibrationCell.objects.exists()
    monkeypatch.undo()
    assert reading.read_requests(judged.product, later()) == 1
    assert {cell.n for cell in CalibrationCell.objects.all()} == {40}


def killed(*_: Any) -> None:
    raise KeyboardInterrupt


def test_two_batches_add_up_to_what_one_of_both_says(judged: Judged) -> None:
    told(judged, [record(judged, n) for n in range(30)], "first")
    reading.read_requests(judged.product, later())
    told(judged, [record(judged, n) for n in range(30, 60)], "second")
    reading.read_requests(judged.product, later())
    assert {row.found.n for row in standing(judged).rows} == {60}


def test_a_large_batch_is_sampled_and_that_is_said(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "ROWS", 25)
    told(judged, [record(judged, n) for n in range(100)])
    reading.read_requests(judged.product, later())
    found = standing(judged)
    assert (found.read, found.stored) == (25, 100)


def test_work_is_what_the_engine_told_where_the_gateway_does_not_know(judged: Judged) -> None:
    told(judged, [record(judged, n, attempt={"accelerator_ms": None}) for n in range(40)])
    source = judged.edge
    for n in range(40):
        EngineAttempt.objects.create(
            product=judged.product,
            source=source,
            key=f"k{n}",
            attempt_id=f"a{n}",
            model="full",
            clock="steady",
            first_ns=n,
            events=1,
            ending="answered",
            composite=False,
            responses=1,
            infer_ms=55.0,
        )
    reading.read_requests(judged.product, later())
    (work,) = standing(judged).of(Measure.WORK)
    assert (work.found.n, round(work.observed * work.unit)) == (40, 55)


def test_a_cell_that_breaks_its_promise_becomes_one_generation(judged: Judged) -> None:
    told(judged, broken(judged))
    reading.read_requests(judged.product, later())
    found = standing(judged)
    worst = found.of(Measure.WORK)[0]
    assert worst.found.verdict is Calibration.PAD
    assert worst.key.cell.input_bucket == "0-512"
    (cell,) = found.proposal
    assert float(cell["pad"]) == pytest.approx(worst.found.pad or 0, rel=1e-3)
    revision, new = draft_cells(SYSTEM_ACTOR, judged.product, found.digest, found.proposal)
    again, twice = draft_cells(SYSTEM_ACTOR, judged.product, found.digest, found.proposal)
    assert (new, twice, again) == (True, False, revision)
    assert Generation.objects.count() == 2
    demand = document_of(revision.digest).demand
    assert demand.version == next_version(document_of(judged.digest).demand.version)
    assert [(c.route, c.input_bucket, str(c.pad)) for c in demand.cells] == [
        ("full", "0-512", cell["pad"])
    ]
    assert "1 cell padded" in revision.generation.title


def test_nothing_is_drafted_where_every_cell_keeps_its_promise(judged: Judged) -> None:
    with pytest.raises(Conflict, match="No cell needs a pad"):
        draft_cells(SYSTEM_ACTOR, judged.product, judged.digest, [])


def test_whoever_may_not_propose_is_offered_no_draft(judged: Judged) -> None:
    told(judged, broken(judged))
    reading.read_requests(judged.product, later())
    page, draft = "/products/orchid-demo/calibration/", "/products/orchid-demo/calibration/draft/"
    eve, ana = someone("eve", "auditor"), someone("ben", "engineer")
    assert "Draft a generation" not in eve.get(page).content.decode()
    assert eve.post(draft).status_code == 403
    assert "pad: " in ana.get(page).content.decode()
    answer = ana.post(draft)
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/products/orchid-demo/generations/2/"


def test_machines_read_the_standing_and_draft_by_it(judged: Judged) -> None:
    told(judged, broken(judged))
    reading.read_requests(judged.product, later())
    ci = machine()
    body = ci.get(api("calibration") + "?measure=work").json()
    assert [cell["verdict"] for cell in body["cells"]] == ["pad", "calibrated"]
    assert {cell["measure"] for cell in body["cells"]} == {"work"}
    assert body["drift"]["alarms"] == []
    first, second = (ci.post(api("calibration/generations")) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["generation"] == second.json()["generation"] == 2


def test_refusals_for_the_price_are_told_beside_the_cell_that_over_predicts(
    judged: Judged,
) -> None:
    refused = [
        record(
            judged,
            500 + n,
            tenant="zoe",
            outcome="rejected",
            decision={"action": "reject", "route": "full", "reason": "queue_full"},
            attempts=[],
        )
        for n in range(3)
    ]
    told(judged, [record(judged, n) for n in range(60)] + refused)
    reading.read_requests(judged.product, later())
    (output,) = standing(judged).of(Measure.OUTPUT)
    assert output.found.tenants == {"zoe": 3}
    assert PricedOut.objects.get().tenant == "zoe"


def test_forecasts_stand_beside_what_was_in_time(judged: Judged) -> None:
    told(judged, [record(judged, n, completion_ms=2000.0 if n < 6 else 500.0) for n in range(60)])
    reading.read_requests(judged.product, later())
    (one,) = standing(judged).reliability
    assert (one.kind, one.n, one.hits) == ("time", 60, 54)
    assert one.low < 0.9 < one.high


def test_without_an_alarm_nothing_has_drifted(judged: Judged) -> None:
    assert drift(judged.product).value is None
    told(judged, [record(judged, n) for n in range(60)])
    reading.read_requests(judged.product, later())
    assert drift(judged.product).alarms == []


def test_the_share_read_from_a_prefix_cache_is_held_to_its_floor(db: None) -> None:
    document = given()
    document["revisit"] = [
        {"trigger": "prefix_read_share", "measure": "prefix_read_share", "min": 0.6, "window": "1d"}
    ]
    judged = Judged(document)
    told(judged, [record(judged, n, cached_input_tokens=500) for n in range(40)])
    (one,) = prefix_reads(judged.product, timezone.now())
    assert (one.route, one.share, one.floor, one.is_low) == ("full", 0.5, 0.6, True)


def test_old_days_are_forgotten(judged: Judged) -> None:
    told(judged, [record(judged, n) for n in range(20)])
    reading.read_requests(judged.product, later())
    reading.forget(timezone.now())
    assert CalibrationCell.objects.exists()
    reading.forget(timezone.now() + timedelta(days=91))
    assert not CalibrationCell.objects.exists()


@pytest.mark.parametrize(
    ("version", "following"),
    [("teu-3", "teu-3.1"), ("teu-3.1", "teu-3.2"), ("v1.9", "v1.10")],
)
def test_other_estimates_have_a_version_of_their_own(version: str, following: str) -> None:
    assert next_version(version) == following

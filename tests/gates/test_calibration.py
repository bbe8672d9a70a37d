"""Predictions beside what came of them: summed once, judged by cell, turned into a proposal."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gates.selectors.calibration import Calibrated, calibrated
from gates.services import calibration as reading
from ingest import services as inbox
from ingest.models import Batch
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.verdicts import Calibration
from tests.gates.gates_cast import Judged, machine

pytestmark = pytest.mark.django_db


def record(judged: Judged, number: int, **changes: Any) -> dict[str, Any]:
    """An answer that came as predicted: 1,000 tokens in, 100 of 200 out, 0.25 ms a TEU."""
    attempt = {
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
        **changes,
        "attempts": [{**attempt, **changes.get("attempt", {})}],
    }


def told(judged: Judged, records: list[dict[str, Any]], name: str = "batch-1") -> None:
    """Records through the inbox."""
    for one in records:
        one.pop("attempt", None)
    body = "\n".join(map(json.dumps, records)).encode()
    answer = machine_of().post(
        "/api/v1/ingest/requests",
        body,
        content_type="application/x-ndjson",
        headers={"Batch-Id": name},
    )
    assert answer.status_code == 202
    batch = Batch.objects.get(batch_id=name)
    inbox.process(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.rejected) == ("done", [])


_machines: dict[str, Any] = {}


def machine_of() -> Any:
    from accounts.models import Credential

    if not Credential.objects.filter(kind="edge").exists():
        _machines["edge"] = machine("edge")
    return _machines["edge"]


def standing(judged: Judged) -> Calibrated:
    return calibrated(judged.product, timezone.now())


def test_records_become_one_standing_a_measure(judged: Judged) -> None:
    told(judged, [record(judged, n) for n in range(60)])
    assert reading.read_requests(judged.product, timezone.now()) == 1
    rows = {row.key.measure: row for row in standing(judged).rows}
    assert set(rows) == set(Measure)
    assert rows[Measure.WORK].found.verdict is Calibration.CALIBRATED
    assert rows[Measure.OUTPUT].observed == 100
    assert rows[Measure.OUTPUT].found.verdict is Calibration.OVER_PREDICTS
    assert rows[Measure.LIVE].predicted == 1200
    assert rows[Measure.COMPLETION].found.bias == pytest.approx(-1 / 6, abs=0.01)
    assert {row.found.n for row in rows.values()} == {60}

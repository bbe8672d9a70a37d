"""An edge that lags keeps a stage from passing, and never harm of the others from being seen."""

from datetime import timedelta

import pytest

from gates.services import go_live
from gates.services.ticking import tick
from ingest.models import Batch, Source
from orchid.engine.packet import verify
from tests.gates.gates_cast import STEP, Judged, api, costing, machine

pytestmark = pytest.mark.django_db


def slow_edge(judged: Judged) -> Source:
    """Heard just now, and complete only up to two minutes ago."""
    return Source.objects.create(
        product=judged.product,
        kind="edge",
        name="edge-2",
        watermark=judged.now - 2 * STEP,
        last_seen_at=judged.now,
    )


@pytest.fixture
def stage(db: None) -> Judged:
    """A stage whose traffic was well until two minutes ago."""
    judged = Judged(cohort="candidate")
    judged.everywhere(20_000, minute=-3, cohort="candidate")
    return judged


def test_harm_beyond_what_all_have_told_stops_the_stage(stage: Judged) -> None:
    slow_edge(stage)
    stage.everywhere(20_000, minute=-1, ms=9_000, good=0, cohort="candidate")
    evaluation = stage.judge()
    assert (evaluation.verdict, evaluation.action) == ("fail", "pause")
    assert evaluation.watermark == stage.now
    told = {check["name"]: check for check in evaluation.validity["checks"]}["completeness"]
    assert told["state"] == "hold"
    assert "has not told yet of all up to here: edge-2" in told["message"]


def test_what_is_well_beyond_it_lets_nothing_pass_before_all_have_told(stage: Judged) -> None:
    slow = slow_edge(stage)
    stage.everywhere(20_000, minute=-1, cohort="candidate")
    before = stage.judge()
    assert (before.verdict, before.watermark) == ("pass", stage.now - 2 * STEP)
    slow.watermark = stage.now
    slow.save()
    assert (stage.judge().verdict, stage.judge().watermark) == ("pass", stage.now)


def test_after_such_a_fail_nothing_passes_until_all_have_told(stage: Judged) -> None:
    slow = slow_edge(stage)
    stage.everywhere(20_000, minute=-1, ms=9_000, good=0, cohort="candidate")
    assert stage.judge().verdict == "fail"
    stage.everywhere(20_000, minute=-1, cohort="candidate")
    later = stage.judge(stage.now + timedelta(seconds=2))
    assert "edge-2" in str(later.validity["checks"])
    slow.watermark = stage.now
    slow.save()
    assert "edge-2" not in str(stage.judge(stage.now + timedelta(seconds=4)).validity["checks"])


def test_money_is_held_against_successes_only_where_all_have_told() -> None:
    judged = Judged(costing("0.80"), cohort="candidate")
    judged.everywhere(5_000, minute=-3, cohort="candidate")
    slow_edge(judged)
    judged.everywhere(10, minute=-1, cohort="candidate")
    evaluation = judged.judge()
    assert evaluation.watermark == judged.now - 2 * STEP
    assert judged.verdict(evaluation, "cost_per_success_usd").verdict == "pass"


def test_what_is_live_waits_for_everybody(stage: Judged) -> None:
    slow_edge(stage)
    go_live(stage.product, 1, stage.opens_at)
    stage.everywhere(20_000, minute=-1, ms=9_000, good=0, cohort="candidate")
    assert stage.judge().watermark == stage.now - 2 * STEP


def test_the_tick_looks_as_soon_as_such_records_are_counted(stage: Judged) -> None:
    slow_edge(stage)
    stage.judge()
    assert tick(lambda: stage.now + timedelta(seconds=2)) == 0
    stage.everywhere(20_000, minute=-1, ms=9_000, good=0, cohort="candidate")
    stage.now += timedelta(seconds=4)
    Batch.objects.update(done_at=stage.now)
    assert tick(lambda: stage.now) == 1
    assert stage.judge().action == "pause"


def test_such_a_judgement_is_recomputed_from_its_packet(stage: Judged) -> None:
    slow_edge(stage)
    stage.everywhere(20_000, minute=-1, ms=9_000, good=0, cohort="candidate")
    evaluation = stage.judge()
    packet = machine().get(api(f"evaluations/{evaluation.pk}/packet")).content
    found = verify(packet)
    assert (found.holds, found.faults) == (True, ())
    assert b"edge-2" in packet

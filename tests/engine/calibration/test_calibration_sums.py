"""Ratios in a histogram, cells from sums, and what a request says of its predictions."""

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from orchid.engine.calibration.observed import (
    Decided,
    Finished,
    Measure,
    Tried,
    completions,
    observations,
)
from orchid.engine.calibration.ratios import GivenRatios, SummedRatios, bucket_of, merged
from orchid.engine.calibration.samples import Cell
from orchid.engine.calibration.standing import cells_to_propose, standings
from orchid.engine.calibration.sums import CellKey, CellSum, Sums
from orchid.engine.calibration.verdicts import Calibration
from orchid.engine.document.model import PolicyDocument

DAY = date(2026, 11, 30)
CELL = Cell("full", "513-4096", "65-512")


def summed(ratios: Any) -> dict[int, int]:
    found: dict[int, int] = {}
    for ratio in ratios:
        found[bucket_of(float(ratio))] = found.get(bucket_of(float(ratio)), 0) + 1
    return found


def finished(**changes: Any) -> Finished:
    """An assistant's answer of half of its cap."""
    plain = Finished(
        class_name="short_assistant",
        tenant="acme",
        outcome="completed",
        input_tokens=900,
        cached_input_tokens=None,
        max_output_tokens=120,
        output_tokens=60,
        deadline_ms=1500.0,
        completion_ms=700.0,
        decision=Decided(
            action="admit",
            route="full",
            teu="345",
            live_tokens=1020,
            output_tokens=120,
            completion_ms=1000.0,
        ),
        attempts=[Tried(route="full", status="completed", accelerator_ms=57.0, useful_tokens=60)],
    )
    return replace(plain, **changes)


def test_a_histogram_of_ratios_answers_as_the_ratios_do() -> None:
    ratios = np.random.default_rng(4).lognormal(0.1, 0.3, 5000)
    given, counted = GivenRatios(ratios), SummedRatios(summed(ratios))
    assert counted.n == given.n
    for rank in (1, 250, 2500, 4750, 5000):
        assert counted.nth(rank) == pytest.approx(given.nth(rank), rel=0.006)
    assert counted.median == pytest.approx(given.median, rel=0.006)
    assert counted.mean_error == pytest.approx(given.mean_error, rel=0.02)
    assert (counted.below(1), counted.above(1)) == (given.below(1), given.above(1))


def test_histograms_merge_in_any_order() -> None:
    parts = [summed([0.5, 1.0]), summed([1.0, 2.0]), summed([3.0])]
    assert merged(parts) == merged(parts[::-1]) == summed([0.5, 1.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize("ratio", [0.999999, 1.000001])
def test_only_equality_counts_as_equal(ratio: float) -> None:
    one = SummedRatios({bucket_of(ratio): 1})
    assert (one.below(1), one.above(1)) == ((1, 0) if ratio < 1 else (0, 1))
    assert SummedRatios({bucket_of(1.0): 1}).above(1) == 0


def test_extreme_ratios_have_a_bucket_and_nonsense_has_none() -> None:
    assert bucket_of(0.0) == -bucket_of(float("inf"))
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="ratio of two amounts"):
            bucket_of(wrong)


def test_an_answer_says_something_of_every_prediction(reference: PolicyDocument) -> None:
    found = {one.measure: one for one in observations(finished(), CELL, reference)}
    assert set(found) == set(Measure)
    assert found[Measure.WORK].predicted == 285.0  # 0.25 x 900 + 60
    assert (found[Measure.TEU].predicted, found[Measure.TEU].observed) == (345, 285)
    assert (found[Measure.OUTPUT].predicted, found[Measure.OUTPUT].observed) == (120, 60)
    assert (found[Measure.LIVE].predicted, found[Measure.LIVE].observed) == (1020, 960)
    assert found[Measure.COMPLETION].ratio == 0.7


def test_cached_input_is_no_work_and_still_lives_in_memory(reference: PolicyDocument) -> None:
    found = {o.measure: o for o in observations(finished(cached_input_tokens=500), CELL, reference)}
    assert found[Measure.WORK].predicted == 160.0
    assert found[Measure.LIVE].observed == 960


def test_an_engines_blocks_say_what_lived_where_they_are_told(reference: PolicyDocument) -> None:
    tried = Tried(route="full", status="completed", useful_tokens=60, kv_blocks_peak=61)
    found = {o.measure: o for o in observations(finished(attempts=[tried]), CELL, reference)}
    assert found[Measure.LIVE].observed == 61 * reference.scheduling.kv_block_tokens


def test_who_was_cut_short_says_nothing(reference: PolicyDocument) -> None:
    tried = Tried(route="full", status="cancelled", accelerator_ms=10.0)
    assert list(observations(finished(attempts=[tried]), CELL, reference)) == []


def test_a_forecast_is_held_against_the_deadline() -> None:
    (time,) = completions(finished())
    assert (time.kind, time.bin, time.in_time) == ("time", 6, True)
    late = finished(completion_ms=1501.0)
    assert not next(completions(late)).in_time
    failed = finished(outcome="failed", completion_ms=None)
    assert not next(completions(failed)).in_time
    assert list(completions(finished(outcome="cancelled"))) == []
    said = finished(decision=Decided(action="admit", completion_probability=1.0))
    assert [(one.kind, one.bin) for one in completions(said)] == [("probability", 9)]


def test_a_refusal_for_its_price_is_counted_by_tenant(reference: PolicyDocument) -> None:
    sums = Sums()
    for reason in ("queue_full", "deadline_infeasible"):
        decision = Decided(action="reject", route="full", reason=reason)
        sums.add(reference, finished(decision=decision, attempts=[]), DAY, 0.0, 0.5)
    ((_, key),) = sums.refused
    assert (key.tenant, sums.refused[DAY, key]) == ("acme", 1)


def lines(measure: Measure, ratios: Any, promised: float = 0.95, cell: Cell = CELL) -> Any:
    total = CellSum(
        n=len(ratios),
        within=sum(r <= 1 for r in ratios),
        promised=promised * len(ratios),
        predicted=float(len(ratios)),
        observed=float(sum(ratios)),
    )
    total.ratios.update(summed(ratios))
    return {CellKey("teu-3", cell, "m1@a100", measure): total}


def test_a_reserved_percentile_that_holds_in_70_of_100_is_padded(reference: PolicyDocument) -> None:
    told = lines(Measure.TEU, [0.9] * 70 + [1.5] * 30)
    (row,) = standings(told, {}, {})
    assert row.found.verdict is Calibration.PAD
    assert row.found.coverage == 0.7
    assert row.promise.nominal == pytest.approx(0.95)
    assert row.found.pad == pytest.approx(1.5, rel=0.01)
    (cell,) = cells_to_propose([row], reference.demand)
    assert (cell["route"], cell["input_bucket"]) == ("full", "513-4096")
    assert float(cell["pad"]) == pytest.approx(1.5, rel=0.01)


def test_a_bound_that_nothing_comes_near_names_whom_it_refuses() -> None:
    told = lines(Measure.OUTPUT, [0.4] * 95 + [0.7] * 5)
    (row,) = standings(told, {}, {CELL: {"acme": 3}})
    assert row.found.verdict is Calibration.OVER_PREDICTS
    assert row.found.text.endswith("refused meanwhile: acme (3)")


def test_work_is_judged_by_the_interval_of_the_requests_before(reference: PolicyDocument) -> None:
    """Twice the accelerator time of the past is an error, although all of today agrees."""
    past = lines(Measure.WORK, list(np.linspace(0.19, 0.21, 400)))
    today = lines(Measure.WORK, [0.4] * 60)
    (row,) = standings(today, past, {})
    assert row.unit == pytest.approx(0.2, rel=0.01)
    assert row.found.verdict is Calibration.PAD
    assert row.found.pad == pytest.approx(2.0 / 1.05, rel=0.02)
    (cell,) = cells_to_propose([row], reference.demand)
    assert "disabled" not in cell
    (alone,) = standings(today, {}, {})
    assert alone.found.verdict is Calibration.CALIBRATED


def test_the_worst_cell_comes_first() -> None:
    other = replace(CELL, output_bucket="0-64")
    told = {
        **lines(Measure.TEU, [0.99] * 60),
        **lines(Measure.TEU, [0.9] * 70 + [1.5] * 30, cell=other),
    }
    assert [row.key.cell.output_bucket for row in standings(told, {}, {})] == ["0-64", "65-512"]

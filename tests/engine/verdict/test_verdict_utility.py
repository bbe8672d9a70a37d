"""The utility index over the observed mix, and the violations beside it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.verdict import utility, violations
from orchid.engine.verdict.result import Levels, Verdict
from orchid.engine.verdict.utility import Cell, Scores
from orchid.engine.verdict.violations import Delivered

LEVELS = Levels(alpha_pass=0.05, alpha_fail=0.01)
FULL = Scores(20_000, 0.914, 0.1)
COMPACT = Scores(20_000, 0.847, 0.1)


def mix(full: int, compact: int) -> list[Cell]:
    return [Cell("full", full, FULL), Cell("compact", compact, COMPACT)]


def test_the_index_weighs_cells_by_the_observed_mix() -> None:
    assert utility.index_of(mix(820, 180)) == pytest.approx(0.914 - 0.18 * 0.067)


def test_a_change_of_mix_alone_changes_the_verdict() -> None:
    kept = utility.judge("", mix(8200, 1800), 0.895, 200, LEVELS)
    shifted = utility.judge("", mix(4000, 6000), 0.895, 200, LEVELS)
    assert (kept.verdict, shifted.verdict) == (Verdict.PASS, Verdict.FAIL)


def test_traffic_without_evidence_is_no_data_and_names_its_cell() -> None:
    cells = [*mix(900, 50), Cell("task=new", 50, None)]
    result = utility.judge("", cells, 0.895, 200, LEVELS)
    assert (result.verdict, result.value) == (Verdict.NO_DATA, None)
    assert "task=new" in result.message
    assert "5 % of responses" in result.message


def test_evidence_without_traffic_needs_nothing() -> None:
    cells = [*mix(9000, 0), Cell("unused", 0, None)]
    assert utility.judge("", cells, 0.895, 200, LEVELS).verdict is Verdict.PASS


def test_thin_evidence_decides_nothing() -> None:
    cells = [Cell("full", 10_000, Scores(50, 0.914, 0.1))]
    result = utility.judge("", cells, 0.895, 200, LEVELS)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "closed form" in result.message


def test_no_responses_are_no_data() -> None:
    assert utility.judge("", [], 0.895, 200, LEVELS).verdict is Verdict.NO_DATA


def test_under_the_minimum_sample_nothing_is_decided() -> None:
    assert utility.judge("", mix(100, 0), 0.895, 200, LEVELS).verdict is Verdict.INCONCLUSIVE


@given(st.integers(2, 10**6), st.integers(1, 10**6), st.floats(0, 0.5))
def test_the_reach_shrinks_with_more_evidence(n: int, responses: int, spread: float) -> None:
    thin = [Cell("a", responses, Scores(n, 0.9, spread))]
    thick = [Cell("a", responses, Scores(2 * n, 0.9, spread))]
    assert utility.reach(thick, 0.05) < utility.reach(thin, 0.05)


def test_any_violation_fails_at_once() -> None:
    result = violations.judge("", Delivered(3, 1, 200), 0)
    assert (result.verdict, result.value, result.margin) == (Verdict.FAIL, "1", "-1")


def test_clean_responses_pass_and_show_what_is_not_excluded() -> None:
    result = violations.judge("", Delivered(3000, 0, 200), 0)
    assert result.verdict is Verdict.PASS
    assert result.high == pytest.approx(3 / 3000, rel=0.01)


def test_no_responses_never_pass() -> None:
    assert violations.judge("", Delivered(0, 0, 200), 0).verdict is Verdict.NO_DATA
    assert violations.judge("", Delivered(199, 0, 200), 0).verdict is Verdict.INCONCLUSIVE


def drawn(n: int, mean: float, weight: float, seed: int) -> Scores:
    """Item scores of a Beta distribution: the larger its weight, the closer together."""
    items = np.random.default_rng(seed).beta(mean * weight, (1 - mean) * weight, n).tolist()
    return Scores(n, float(np.mean(items)), float(np.std(items, ddof=1)), utility.variation(items))


def test_item_scores_leave_less_open_than_their_mean_and_spread() -> None:
    scored = drawn(600, 0.914, 60.0, 1)
    closed = replace(scored, variation=None)
    by_item = utility.judge("", [Cell("full", 9_000, scored)], 0.895, 200, LEVELS)
    by_spread = utility.judge("", [Cell("full", 9_000, closed)], 0.895, 200, LEVELS)
    assert (by_item.verdict, by_spread.verdict) == (Verdict.PASS, Verdict.INCONCLUSIVE)
    assert utility.BY_ITEM in by_item.message
    assert utility.CLOSED_FORM in by_spread.message


def test_evidence_of_both_kinds_is_said_to_be_of_both() -> None:
    cells = [Cell("full", 8_000, drawn(5_000, 0.914, 60.0, 1)), Cell("compact", 100, COMPACT)]
    found = utility.judge("", cells, 0.895, 200, LEVELS)
    assert "where given, else" in found.message


def test_the_bound_from_items_is_rarely_wrong() -> None:
    missed = sum(
        scores.mean - utility.reach([Cell("a", 10_000, scores)], 0.1) > 0.8
        for scores in (drawn(300, 0.8, 3.0, seed) for seed in range(200))
    )
    assert missed <= 20


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_a_score_turned_round_varies_as_much(items: list[float]) -> None:
    turned = [1 - score for score in items]
    assert utility.variation(items) == pytest.approx(utility.variation(turned), rel=1e-8, abs=1e-8)

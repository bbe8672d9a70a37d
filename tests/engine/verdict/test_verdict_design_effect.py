"""The design effect: never below what is declared, and on its unfavourable side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.verdict import design_effect
from orchid.engine.verdict.case import Part, Watched
from orchid.engine.verdict.design_effect import estimate
from orchid.engine.verdict.judgement import judge_case
from orchid.engine.verdict.result import Levels, Verdict
from orchid.engine.verdict.shares import Counts, weigh
from tests.engine.verdict.case_made import OPENED, STEP, case_of, counted, everywhere, row

block = st.integers(0, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
blocks = st.lists(block, max_size=40)
RANK = (Verdict.FAIL, Verdict.NO_DATA, Verdict.INCONCLUSIVE, Verdict.PASS)


def coin(minutes: int, share: float = 0.97, seed: int = 1) -> list[tuple[int, int]]:
    generator = np.random.default_rng(seed)
    return [(int(good), 100) for good in generator.binomial(100, share, minutes)]


def test_few_blocks_leave_the_declared_design_effect() -> None:
    assert estimate([(90, 100), (10, 100)] * 3, prior=1.5) == 1.5


def test_blocks_that_all_agree_leave_the_declared_design_effect() -> None:
    assert estimate([(100, 100)] * 20, prior=2.0) == 2.0


def test_an_incident_in_one_block_inflates_it() -> None:
    assert estimate([(100, 100)] * 9 + [(20, 100)], prior=1.0) > 50


def test_blocks_more_even_than_coins_deflate_nothing() -> None:
    assert estimate([(92, 100)] * 10, prior=1.0) == 1.0


def test_independent_requests_end_near_one() -> None:
    found = [estimate(coin(400, seed=seed), prior=1.0) for seed in range(20)]
    assert 1.0 <= np.median(found) < 2.0


def test_an_incident_longer_than_a_block_counts_for_all_of_it() -> None:
    scattered = estimate([(60, 100), (100, 100), (100, 100), (100, 100)] * 16, prior=1.0)
    lasting = estimate([(60, 100)] * 16 + [(100, 100)] * 48, prior=1.0)
    assert lasting > 4 * scattered


def test_fewer_blocks_are_read_more_unfavourably() -> None:
    pattern = [(80, 100), (100, 100)]
    assert estimate(pattern * 4, prior=1.0) > 1.3 * estimate(pattern * 40, prior=1.0)


def test_a_long_past_tells_the_effect_that_it_was_drawn_with() -> None:
    generator = np.random.default_rng(3)
    good = generator.binomial(100, generator.beta(0.96 * 49, 0.04 * 49, (1, 5000)))
    sizes = np.full(good.shape, 100)
    found = float(design_effect.estimate_all(good, sizes, 1.0, design_effect.PAST)[0])
    assert 1 + 99 / 50 < found < 3 * (1 + 99 / 50)


@given(blocks, st.floats(1, 30))
def test_what_a_window_sees_only_raises_what_is_declared(
    counts: list[tuple[int, int]], prior: float
) -> None:
    assert estimate(counts, prior) >= prior


@given(blocks, st.integers(0, 8))
def test_empty_blocks_before_and_after_are_no_blocks(
    counts: list[tuple[int, int]], empty: int
) -> None:
    used = [one for one in counts if one[1]]
    if len(used) < design_effect.MINIMUM_BLOCKS:
        assert estimate(counts + [(0, 0)] * empty, 2.0) == 2.0


@given(st.lists(st.lists(block, min_size=12, max_size=12), min_size=1, max_size=5))
def test_rows_together_say_what_each_says_alone(rows: list[list[tuple[int, int]]]) -> None:
    table = np.array(rows)
    together = design_effect.estimate_all(table[:, :, 0], table[:, :, 1], 1.0)
    assert together.tolist() == pytest.approx([estimate(row, 1.0) for row in rows])


@given(st.lists(block, min_size=1, max_size=30), st.integers(1, 500))
def test_more_good_data_never_turns_a_pass_into_a_fail(
    counts: list[tuple[int, int]], more: int
) -> None:
    levels = Levels(0.05, 0.01)

    def verdict(given: list[tuple[int, int]]) -> Verdict:
        s, n = (sum(column) for column in zip(*given, strict=True))
        return weigh(Counts(s, n, 1, estimate(given, 1.0)), 0.95, levels).verdict

    before, after = verdict(counts), verdict([*counts, (more, more)])
    if before is Verdict.PASS:
        assert after is not Verdict.FAIL
    if after is Verdict.FAIL:
        assert before is not Verdict.PASS


def test_a_long_window_says_what_to_declare() -> None:
    end = OPENED + 40 * STEP
    rows = [row(minute, "a", 100, 60 if minute in (20, 21) else 99) for minute in range(40)]
    whole = counted(rows, end=end)
    steps = Watched(OPENED, counted=counted(rows, by_step=True, end=end))
    told = judge_case(case_of(rows, end=end, parts=(Part(OPENED, (), whole),), watched=steps))
    assert told.figures["design_effect"]["blocks"] == 40
    assert told.figures["design_effect"]["declared"] == 1.0
    assert told.figures["design_effect"]["to_declare"] > 20


def test_a_short_window_does_not_guess_what_to_declare() -> None:
    told = judge_case(case_of(everywhere(100, 99)))
    assert told.figures["design_effect"] == {"declared": 1.0, "to_declare": None, "blocks": 10}

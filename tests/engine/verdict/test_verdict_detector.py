"""The detector of a live generation: its run length, its delay, and its memory."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.verdict import detector
from orchid.engine.verdict.detector import State, advance, alarm

DUE = 0.96
step = st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def steps_to_alarm(
    share: float, length: int, *, runs: int, most: int, seed: int = 2, state: State | None = None
) -> np.ndarray:
    generator = np.random.default_rng(seed)
    state = state or State.new(runs)
    found = np.full(runs, most)
    for number in range(1, most + 1):
        state = advance(state, generator.binomial(50, share, runs), 50, DUE, 1.0)
        found[(found == most) & (state.log_evidence >= math.log(length))] = number
    return found


def test_at_the_bound_it_runs_at_least_as_long_as_declared() -> None:
    assert steps_to_alarm(DUE, 60, runs=400, most=1200).mean() >= 60


def test_above_the_bound_it_hardly_ever_rings() -> None:
    assert (steps_to_alarm(0.98, 60, runs=200, most=600) < 600).mean() < 0.02


@pytest.mark.parametrize("share", [0.5, 0.9, 0.94])
def test_a_fall_is_seen_about_when_expected(share: float) -> None:
    month = 30 * 24 * 60
    found = float(np.median(steps_to_alarm(share, month, runs=100, most=400)))
    expected = detector.expected_delay_steps(DUE, share, 50, 1.0, month)
    assert max(1.0, 0.4 * expected) <= found <= 1.6 * expected + 1


def test_a_good_year_does_not_dull_it() -> None:
    good = State.new(1)
    for _ in range(20_000):
        good = advance(good, 50, 50, DUE, 1.0)
    fresh = steps_to_alarm(0.9, 10_000, runs=1, most=100)
    assert steps_to_alarm(0.9, 10_000, runs=1, most=100, state=good)[0] <= fresh[0] + 2


def test_no_traffic_is_no_evidence_against_anybody() -> None:
    silent = State.new(1)
    for _ in range(100):
        silent = advance(silent, 0, 0, DUE, 1.0)
    assert float(silent.log_evidence[0]) == pytest.approx(math.log(100))


def test_nothing_is_promised_where_the_share_has_not_fallen() -> None:
    assert detector.expected_delay_steps(DUE, 0.97, 50, 1.0, 1000) == math.inf


def test_the_whole_rings_with_one_test_or_with_many_that_agree() -> None:
    def state(*evidence: float) -> State:
        return State(np.log(np.repeat(np.array(evidence)[:, None], len(detector.GRID), axis=1)))

    one = alarm(state(4000.0, 1.0, 1.0, 1.0), 1000)
    assert (one.rings, one.alone.tolist()) == (True, [True, False, False, False])
    many = alarm(state(1100.0, 1100.0, 1100.0, 1100.0), 1000)
    assert (many.rings, bool(many.alone.any())) == (True, False)
    none = alarm(state(3900.0, 1.0, 1.0, 1.0), 1000)
    assert (none.rings, bool(none.alone.any())) == (False, False)


def test_without_tests_nothing_rings() -> None:
    assert not alarm(State.new(0), 10).rings


def test_a_month_of_minutes_is_that_many_steps() -> None:
    assert detector.run_length_steps(30 * 86_400_000, 60) == 43_200
    assert detector.run_length_steps(1000, 60) == 1


@given(st.lists(step, max_size=10), st.floats(1, 500))
def test_a_state_that_was_stored_goes_on_as_if_it_had_not_been(
    steps: list[tuple[int, int]], effect: float
) -> None:
    kept = stored = State.new(2)
    for s, n in steps:
        good = np.array([s, n])
        kept = advance(kept, good, n, DUE, effect)
        stored = advance(State.of_json(stored.as_json()), good, n, DUE, effect)
    assert stored.steps == kept.steps == len(steps)
    assert stored.log_r.tolist() == kept.log_r.tolist()


@given(step, st.floats(1, 500), st.floats(0.5, 0.999))
def test_one_more_good_request_never_speaks_for_harm(
    counts: tuple[int, int], effect: float, due: float
) -> None:
    s, n = counts
    deflated = min(effect, max(n, 1))
    before = advance(State.new(1), s, n, due, deflated)
    after = advance(State.new(1), s + 1, n + 1, due, deflated)
    assert (after.log_r <= before.log_r + 1e-9).all()


def test_evidence_of_a_step_has_a_mean_of_at_most_one_at_the_bound() -> None:
    s = np.arange(51)
    chances = np.exp(_log_binomial(50, DUE))
    for effect in (1.0, 4.0, 1000.0):
        state = advance(State.new(51), s, np.full(51, 50), DUE, effect)
        assert (chances @ np.exp(state.log_r) <= 1 + 1e-9).all()


def _log_binomial(n: int, p: float) -> np.ndarray:
    return np.array(
        [
            math.log(math.comb(n, k)) + k * math.log(p) + (n - k) * math.log(1 - p)
            for k in range(n + 1)
        ]
    )

"""A replica that fails is taken out, tried with few, and not moved by anything it didn't do."""

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.admission.breaker import Breaker, BreakerRules

NOW = 1_000_000.0
RULES = BreakerRules(failures=3, window_ms=10_000.0, open_ms=5_000.0, probes=1)


def opened(rules: BreakerRules = RULES) -> Breaker:
    breaker = Breaker(rules)
    for n in range(rules.failures):
        breaker.note(False, f"a{n}", NOW)
    return breaker


def test_as_many_failures_as_stated_within_the_window_open_it() -> None:
    breaker = Breaker(RULES)
    breaker.note(False, "a0", NOW)
    breaker.note(False, "a1", NOW + 10_001)
    breaker.note(False, "a2", NOW + 10_002)
    assert not breaker.is_open(NOW + 10_002)
    breaker.note(False, "a3", NOW + 10_003)
    assert breaker.is_open(NOW + 10_003)


def test_one_attempt_counts_once_however_often_it_is_told() -> None:
    breaker = Breaker(RULES)
    for _ in range(9):
        breaker.note(False, "a0", NOW)
    assert not breaker.is_open(NOW)


def test_rare_failures_of_a_busy_replica_keep_it_in() -> None:
    breaker = Breaker(RULES)
    for n in range(600):
        breaker.note(n % 20 != 0, f"a{n}", NOW + n)
    assert breaker.state(NOW + 600) == "closed"


def test_half_open_lets_so_many_probes_through_and_one_success_closes_it() -> None:
    breaker, later = opened(), NOW + 5_000
    assert breaker.is_open(later - 1)
    assert not breaker.is_open(later)
    breaker.sent("p1", later)
    assert breaker.is_open(later)
    breaker.note(True, "p1", later + 100)
    assert breaker.state(later + 100) == "closed"


def test_a_failed_probe_opens_it_for_as_long_again() -> None:
    breaker, later = opened(), NOW + 5_000
    breaker.sent("p1", later)
    breaker.note(False, "p1", later + 100)
    assert breaker.is_open(later + 100 + 4_999)
    assert not breaker.is_open(later + 100 + 5_000)


def test_a_probe_that_nobody_judged_gives_its_place_back() -> None:
    breaker, later = opened(), NOW + 5_000
    breaker.sent("p1", later)
    breaker.left("p1")
    assert not breaker.is_open(later)


def test_attempts_from_before_it_opened_neither_close_nor_prolong_it() -> None:
    breaker, later = opened(), NOW + 5_000
    breaker.note(True, "old", NOW + 10)
    assert breaker.is_open(NOW + 10)
    breaker.note(False, "older", later - 1)
    assert not breaker.is_open(later)


def test_several_probes_must_all_succeed() -> None:
    breaker = opened(BreakerRules(2, 10_000.0, 5_000.0, probes=2))
    later = NOW + 5_000
    breaker.sent("p1", later)
    breaker.sent("p2", later)
    breaker.note(True, "p1", later)
    assert breaker.state(later) == "half_open"
    assert breaker.is_open(later)
    breaker.note(True, "p2", later)
    assert breaker.state(later) == "closed"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["sent", "left", "ok", "bad"]), st.integers(0, 9), st.floats(0, 4000)
        ),
        max_size=60,
    )
)
def test_no_history_of_a_flapping_replica_holds_more_than_its_rules_name(
    history: list[tuple[str, int, float]],
) -> None:
    breaker, now = Breaker(RULES), NOW
    for move, attempt, passed_ms in history:
        now += passed_ms
        if move == "sent" and not breaker.is_open(now):
            breaker.sent(f"a{attempt}", now)
        elif move == "left":
            breaker.left(f"a{attempt}")
        elif move in ("ok", "bad"):
            breaker.note(move == "ok", f"a{attempt}", now)
        assert len(breaker.failed) <= RULES.failures
        assert len(breaker.probing) + len(breaker.passed) <= RULES.probes
        # A millisecond more, for a sum of such floats may be rounded down.
        assert not breaker.is_open(now + RULES.open_ms + 1) or breaker.probing

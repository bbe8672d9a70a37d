"""A clock that is put back by an hour stops nothing for that hour, and one that trembles wins none.

Whatever remembers a moment would otherwise take it for one that is still to come.
"""

import pytest

from orchid.engine.admission.breaker import Breaker, BreakerRules
from orchid.engine.admission.concurrency import LimitRules, limiter_of
from orchid.engine.admission.overload import NORMAL, Sample, ladder_rules, observe
from orchid.engine.admission.shares import Buckets
from orchid.engine.document.load import load_document
from tests.small_policy import small_document, small_policy

NOW = 1e12
BACK = NOW - 3_600_000.0
SHARES = {"tenant_class/standard": {"guaranteed": 0.5, "ceiling": 0.5}}
TREE = small_policy(admission__shares=SHARES).shares  # 500 TEU a second, bursts of one second
PATH = TREE.path({"tenant_class": "standard"})


def drained() -> Buckets:
    """Buckets that have just lent all they may."""
    buckets = Buckets(TREE)
    while (lender := buckets.lender(PATH, NOW)) is not None:
        buckets.charge(PATH, lender, 100.0, NOW)
    return buckets


def test_a_share_is_served_again_within_its_burst() -> None:
    buckets = drained()
    assert buckets.lender(PATH, BACK) is None
    buckets.charge(PATH, 1, 0.0, BACK)  # an attempt is settled
    assert buckets.lender(PATH, BACK) is None
    assert buckets.lender(PATH, BACK + 1_500.0) is not None


def test_a_share_that_had_room_has_it_at_once() -> None:
    buckets = Buckets(TREE)
    buckets.charge(PATH, 1, 100.0, NOW)
    assert buckets.lender(PATH, BACK) is not None
    assert buckets.attained(1, BACK) == pytest.approx(buckets.attained(1, NOW))


def test_a_clock_that_trembles_refills_nothing() -> None:
    buckets = drained()
    for _ in range(1_000):
        buckets.charge(PATH, 1, 0.0, NOW - 5.0)
        buckets.charge(PATH, 1, 0.0, NOW)
    assert buckets.lender(PATH, NOW) is None


def test_a_breaker_lets_a_probe_through() -> None:
    breaker = Breaker(BreakerRules(failures=1, window_ms=10_000.0, open_ms=5_000.0, probes=1))
    breaker.note(False, "a1", NOW)
    assert breaker.is_open(NOW)
    assert breaker.state(BACK) == "half_open"


def test_an_adaptive_limit_goes_on_moving() -> None:
    rules = LimitRules("queue_wait_aimd", 24, 8, 32, 100.0, decrease=0.5, increase=1.0)
    limiter = limiter_of(rules)
    limiter.adapt(500.0, rules, NOW)
    limiter.adapt(500.0, rules, BACK)
    assert limiter.limit == 8


def test_a_rung_is_left_after_its_calm() -> None:
    rules = ladder_rules(load_document(small_document()).document)
    calm = Sample(0.0, 0.0, 0.0)
    ladder = observe(NORMAL, Sample(1e6, 1.0, 1.0), rules, NOW)
    ladder = observe(ladder, calm, rules, NOW + 1.0)
    for second in range(60):
        ladder = observe(ladder, calm, rules, BACK + 1_000.0 * second)
    assert ladder.step == 0


def test_failures_are_forgotten_when_their_window_is_over() -> None:
    rules = BreakerRules(failures=10**15, window_ms=10_000.0, open_ms=5_000.0, probes=1)
    breaker = Breaker(rules)
    for n in range(1_000):
        breaker.note(False, f"a{n}", NOW + 1_000.0 * n)
    assert len(breaker.failed) <= 11

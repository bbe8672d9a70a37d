"""Compact goes first under pressure, by queue alone, and not a moment longer than calm asks."""

from decimal import Decimal

from orchid.engine.admission.overload import Overload, observe
from orchid.engine.admission.pool import Pool, Queued, Running
from tests.small_policy import small_policy

NOW = 1_000_000.0
POLICY = small_policy()  # deadline 1,000 ms, 1,000 TEU of queue
CALM = Pool("one", 1, frozenset({"full"}))


def waiting(wait_ms: float) -> Pool:
    return Pool("one", 1, frozenset({"full"}), running={"a": Running(NOW, wait_ms)})


def test_a_wait_of_a_quarter_of_the_deadline_enters_the_rung() -> None:
    assert not observe(Overload(), waiting(249), POLICY, NOW).compact_first
    assert observe(Overload(), waiting(250), POLICY, NOW).compact_first


def test_half_a_queue_enters_it_too() -> None:
    pool = Pool("one", 1, frozenset({"full"}), queued={"q": Queued(Decimal(500), 0.0)})
    assert observe(Overload(), pool, POLICY, NOW).compact_first


def test_it_is_left_only_after_two_calm_seconds_without_a_break() -> None:
    rung = observe(Overload(), waiting(300), POLICY, NOW)
    rung = observe(rung, CALM, POLICY, NOW + 1000)
    rung = observe(rung, CALM, POLICY, NOW + 2999)
    assert rung.compact_first
    broken = observe(rung, waiting(4000), POLICY, NOW + 2999)
    assert observe(broken, CALM, POLICY, NOW + 3001).compact_first
    assert not observe(rung, CALM, POLICY, NOW + 3000).compact_first


def test_a_document_without_the_rung_never_enters_it() -> None:
    policy = small_policy(overload=["reject_infeasible"])
    assert not observe(Overload(), waiting(900), policy, NOW).compact_first

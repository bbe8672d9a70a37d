"""The laws of protected shares: guarantees hold, idle rate is lent, refusals cost nothing."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.admission.shares import Buckets, ShareTree
from tests.small_policy import small_policy

SHARES = {
    "region/eu": {
        "guaranteed": 0.6,
        "children": {
            "tenant_class/premium": {"guaranteed": 0.5},
            "tenant_class/standard": {"guaranteed": 0.5, "ceiling": 0.9},
        },
    },
    "region/us": {"guaranteed": 0.4},
}
TREE = small_policy(admission__shares=SHARES).shares  # 1,000 TEU a second, bursts of one second
PREMIUM = {"region": "eu", "tenant_class": "premium"}
STANDARD = {"region": "eu", "tenant_class": "standard"}
US = {"region": "us", "tenant_class": "standard"}

Backlog = dict[str, dict[str, str]]


def served(
    backlog: Backlog, seconds: int, size: Callable[[int], float] = lambda _: 25.0
) -> dict[str, float]:
    """TEU that each backlogged party gets, asking in turn every 5 ms."""
    buckets, got = Buckets(TREE), dict.fromkeys(backlog, 0.0)
    for tick in range(seconds * 200):
        now_ms = tick * 5.0
        for name, belongs in backlog.items():
            path, teu = TREE.path(belongs), size(tick)
            lender = buckets.lender(path, now_ms)
            if lender is not None:
                buckets.charge(path, lender, teu, now_ms)
                got[name] += teu
    return got


def test_a_request_belongs_to_the_deepest_level_that_names_it() -> None:
    names = [[TREE.nodes[n].name for n in TREE.path(who)] for who in (PREMIUM, US, {})]
    assert names == [
        ["tenant_class/premium", "region/eu", "fleet"],
        ["region/us", "fleet"],
        ["fleet"],
    ]


def test_rates_are_fractions_of_the_parent_and_the_root_is_the_safe_fleet() -> None:
    rates = {share.name: share.rate for share in TREE.nodes}
    assert rates == {
        "fleet": 1000,
        "region/eu": 600,
        "tenant_class/premium": 300,
        "tenant_class/standard": 300,
        "region/us": 400,
    }


def test_everybody_backlogged_gets_at_least_his_rate() -> None:
    got = served({"premium": PREMIUM, "standard": STANDARD, "us": US}, seconds=10)
    assert got["premium"] >= 300 * 10
    assert got["standard"] >= 300 * 10
    assert got["us"] >= 400 * 10


def test_an_idle_rate_is_lent_in_full() -> None:
    got = served({"premium": PREMIUM}, seconds=10)
    assert got["premium"] == pytest.approx(1000 * 10, rel=0.15)


def test_a_ceiling_holds_even_when_everybody_else_is_idle() -> None:
    got = served({"standard": STANDARD}, seconds=20)
    ceiling, burst, one = 900, 900, 25
    assert got["standard"] <= ceiling * 20 + burst + one


def test_the_fleet_is_never_promised_beyond_its_rate_and_bursts() -> None:
    got = served({"premium": PREMIUM, "standard": STANDARD, "us": US}, seconds=10)
    bursts = sum(share.burst for share in TREE.nodes)
    assert sum(got.values()) <= 1000 * 10 + bursts


@settings(max_examples=15, deadline=None)
@given(st.integers(5, 120), st.integers(5, 120))  # 200 a second each: a backlog
def test_requests_of_any_size_keep_the_guarantee(small: int, large: int) -> None:
    got = served(
        {"premium": PREMIUM, "us": US},
        seconds=6,
        size=lambda tick: float(small if tick % 3 else large),
    )
    assert got["premium"] >= 300 * 6
    assert got["us"] >= 400 * 6


@given(st.lists(st.floats(1, 400), max_size=30), st.floats(0, 5000))
def test_asking_and_giving_back_leave_no_trace(asks: list[float], now_ms: float) -> None:
    buckets = Buckets(TREE)
    path = TREE.path(PREMIUM)
    for teu in asks:
        lender = buckets.lender(path, now_ms)
        if lender is not None:
            buckets.charge(path, lender, teu, now_ms)
            buckets.charge(path, lender, -teu, now_ms)
    for node in path:
        assert buckets.nodes[node].tokens_at(now_ms) == pytest.approx(TREE.nodes[node].burst)


def test_a_document_without_shares_limits_nobody_by_them() -> None:
    assert small_policy().shares == ShareTree()

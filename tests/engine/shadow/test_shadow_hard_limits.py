"""Of two documents' limits the tighter of each holds, and nothing else of the candidate."""

from decimal import Decimal
from typing import Any

from orchid.engine.admission.budgets import atoms
from orchid.engine.shadow.hard_limits import under_limits
from tests.small_policy import small_policy


def limits(per_device: int, per_tenant: int, **routes: int) -> dict[str, Any]:
    return {
        "per_device": per_device,
        "per_tenant": per_tenant,
        "per_request": 4000,
        "per_route": routes,
    }


def test_of_each_limit_the_tighter_holds() -> None:
    one = small_policy(admission__live_tokens=limits(9000, 500, full=100))
    other = small_policy(
        admission__live_tokens=limits(7000, 800, full=300, compact=40),
        admission__max_queued_teu=50,
        admission__concurrency={"mode": "static_knee", "per_replica": 2},
        models__compact__max_sequences=3,
    )
    held = under_limits(one, other)
    assert (held.live_tokens_per_device, held.live_tokens_of_tenant) == (7000, 500)
    assert (held.routes["full"].max_live_tokens, held.routes["compact"].max_live_tokens) == (
        100,
        40,
    )
    assert (held.max_queued_teu, held.knee) == (50.0, 2)
    assert (held.routes["full"].max_sequences, held.routes["compact"].max_sequences) == (None, 3)


def test_budgets_are_joined_by_tenant_window_and_unit() -> None:
    own = {"tenant": "t1", "window": "1m", "max_teu": 10, "max_output_tokens": 70}
    one = small_policy(budgets=[{"tenant": "*", "window": "1m", "max_teu": 40}, own])
    other = small_policy(
        budgets=[
            {"tenant": "*", "window": "1m", "max_teu": 30},
            {"tenant": "*", "window": "1h", "max_usd": "2"},
        ]
    )
    held = under_limits(one, other)
    minute, hour = held.general_caps
    assert (minute.teu, hour.usd) == (atoms(Decimal(30)), Decimal(2))
    minute, hour = held.caps["t1"]
    assert (minute.teu, minute.output_tokens, hour.usd) == (atoms(Decimal(10)), 70, Decimal(2))


def test_the_incumbent_keeps_its_name_pool_routes_and_fallback() -> None:
    one = small_policy()
    other = small_policy(fallback=[], contract__deadline_ms=200, fleet__devices=3)
    held = under_limits(one, other)
    assert (held.digest, held.pool, held.devices) == (one.digest, one.pool, 1)
    assert held.document.fallback == one.document.fallback
    assert held.document.contract == one.document.contract
    assert held.shares == one.shares


def test_a_generation_under_its_own_limits_is_as_it_was() -> None:
    one = small_policy(budgets=[{"tenant": "*", "window": "1m", "max_teu": 40}])
    held = under_limits(one, one)
    assert held.general_caps == one.general_caps
    assert held.limit == one.limit
    assert held.routes == one.routes

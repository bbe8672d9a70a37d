"""Signed figures become bounds: on their unfavourable side, and never beyond a gate."""

from typing import Any

import pytest

from policies.models import Product
from releases.models import Publication
from releases.selectors.trade import read_trade, sentence
from releases.services.accepted import accepted_bounds, bounds_for
from tests.releases.releases_cast import published


def figure(metric: str, before: str | None, after: str | None, bound: str, **more: Any) -> Any:
    return {
        "metric": metric,
        "label": metric,
        "before": before,
        "after": after,
        "change": None,
        "bound": bound,
        "kind": "predicted",
        "how": "",
        **more,
    }


def trade(**changes: Any) -> dict[str, Any]:
    """What the reference product's approver is shown."""
    figures = {
        "utility": figure("utility", "0.912", "0.902", "0.895"),
        "completion_p95_ms": figure("completion_p95_ms", "1480", "1310", "1500"),
        "cost_per_success_usd": figure("cost_per_success_usd", "0.000162", "0.000151", "0.00016"),
        "attainment": figure("attainment", "0.971", "0.982", "0.96"),
    } | changes
    segment = {
        "name": "S",
        "where": "risk=low",
        "floor": 0.895,
        "before": 0.91,
        "after": 0.897,
        "n": 900,
        "clears": True,
    }
    base = {
        "publication": 3,
        "requests": 5000,
        "from": "2026-03-02T09:00:00+00:00",
        "to": "2026-03-02T10:00:00+00:00",
        "evaluation": 7,
    }
    return {"base": base, "figures": list(figures.values()), "segments": [segment], "notes": []}


def test_the_approver_signs_one_sentence() -> None:
    assert sentence(trade()) == (
        "against the live generation: utility 0.9120 → 0.9020, "
        "worst segment S at 0.8970 (floor 0.895), p95 1,480 ms → 1,310 ms, "
        "cost $0.00016200 → $0.00015100, attainment 97.10 % → 98.20 %"
    )


def test_what_is_not_known_is_said_and_has_no_bound() -> None:
    unknown = trade(utility=figure("utility", None, None, "0.895"))
    assert "utility not measured → not known" in sentence(unknown)
    assert "utility not known" in sentence(unknown | {"base": None})
    assert "" not in accepted_bounds(unknown, 0.5)["utility"]


def test_a_stage_may_use_up_a_part_of_the_room_to_the_gate() -> None:
    bounds = accepted_bounds(trade(), 0.5)
    assert bounds["completion_p95_ms"][""] == {"bound": "1410", "accepted": "1310", "side": "max"}
    assert bounds["cost_per_success_usd"][""]["bound"] == "0.0001555"
    assert bounds["utility"][""] == {"bound": "0.8985", "accepted": "0.902", "side": "min"}
    assert bounds["utility"]["S"]["bound"] == "0.896"
    assert bounds["attainment"][""]["bound"] == "0.971"


@pytest.mark.parametrize("room", [0.0, 0.3, 0.9])
def test_no_bound_lies_beyond_its_gate_or_before_its_figure(room: float) -> None:
    view = read_trade(trade() | {"accepted": accepted_bounds(trade(), room)})
    assert view is not None
    for row in view.rows:
        low, high = sorted((float(row.after or 0), float(row.bound)))
        assert low <= float(row.accepted_bound or row.bound) <= high


def test_a_figure_that_misses_its_gate_and_a_room_of_one_leave_the_gate_alone() -> None:
    late = figure("completion_p95_ms", "1480", "1600", "1500")
    assert "completion_p95_ms" not in accepted_bounds(trade(completion_p95_ms=late), 0.5)
    assert accepted_bounds(trade(), 1.0) == {}


def test_a_method_that_was_off_on_the_live_generation_widens_its_bound_up_to_the_gate() -> None:
    def p95(of_live: str) -> Any:
        return figure("completion_p95_ms", "1480", "1310", "1500", of_live=of_live)

    off = accepted_bounds(trade(completion_p95_ms=p95("1340")), 0.5)
    assert off["completion_p95_ms"][""]["bound"] == "1450"
    useless = accepted_bounds(trade(completion_p95_ms=p95("400")), 0.5)
    assert "completion_p95_ms" not in useless
    # A method that told the truth worse than it was needs no more room.
    better = accepted_bounds(trade(completion_p95_ms=p95("1600")), 0.5)
    assert better["completion_p95_ms"][""]["bound"] == "1410"


def test_a_rollout_is_held_to_what_was_signed_and_to_the_cost_where_everyone_is_served(
    product: Product,
) -> None:
    rollout = published(product)
    rollout.proposal.trade = trade() | {"accepted": accepted_bounds(trade(), 0.5)}
    whole = bounds_for(rollout, rollout.publication)
    canary = bounds_for(rollout, Publication(fraction=0.05))
    assert set(whole) == {"completion_p95_ms", "cost_per_success_usd", "utility", "attainment"}
    assert set(canary) == set(whole) - {"cost_per_success_usd"}


def test_a_trade_signed_before_there_were_bounds_binds_to_the_gates(product: Product) -> None:
    rollout = published(product)
    rollout.proposal.trade.pop("accepted")
    assert bounds_for(rollout, rollout.publication) == {}
    assert read_trade(rollout.proposal.trade) is not None

"""The declared points of the reference product: data of the example, held to what is stated."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import card_usd, hourly_ledger_usd, steady_cost_per_success_usd
from orchid.engine.frontier import Point, dominated

FILE = Path(__file__).parents[2] / "examples/orchid-serve/declared-points.yaml"
CONTENT: dict[str, Any] = yaml.safe_load(FILE.read_text())
POINTS: dict[str, dict[str, Any]] = {point["name"]: point for point in CONTENT["points"]}
TRIALS: dict[str, dict[str, Any]] = {trial["name"]: trial for trial in CONTENT["degraded_trials"]}
SELECTED = "continuous, deadline-aware"


@pytest.mark.parametrize(
    ("name", "per_s", "p95_ms", "utility", "usd"),
    [
        ("static batch 8", "287.0", 2260, 0.914, "0.000184"),
        ("dynamic batch 8", "315.4", 1480, 0.912, "0.000162"),
        (SELECTED, "319.8", 1310, 0.902, "0.00015113"),
    ],
)
def test_the_declared_points(name: str, per_s: str, p95_ms: int, utility: float, usd: str) -> None:
    point = POINTS[name]
    assert (point["success_per_s"], point["p95_ms"]) == (per_s, p95_ms)
    assert (point["utility"], point["cost_per_success_usd"]) == (utility, usd)


@pytest.mark.parametrize(
    ("name", "p95_ms", "usd", "utility", "attainment"),
    [
        ("1.4x spike", 1440, "0.000158", 0.897, 0.968),
        ("candidate rollout", 1340, "0.000153", 0.898, 0.982),
        ("loss of a group", 1460, "0.000159", 0.896, 0.963),
        ("long-request domination", 1410, "0.000156", 0.899, 0.971),
    ],
)
def test_the_degraded_trials(
    name: str, p95_ms: int, usd: str, utility: float, attainment: float
) -> None:
    trial = TRIALS[name]
    assert (trial["p95_ms"], trial["cost_per_success_usd"]) == (p95_ms, usd)
    assert (trial["utility"], trial["attainment"]) == (utility, attainment)


def test_every_degraded_trial_passes_its_gates(reference: PolicyDocument) -> None:
    gates = reference.gates
    for trial in TRIALS.values():
        assert trial["p95_ms"] <= gates.completion_p95_ms.max
        assert Decimal(trial["cost_per_success_usd"]) <= gates.cost_per_success_usd.max
        assert trial["utility"] >= gates.utility.min
        assert trial["attainment"] >= gates.attainment.min


@pytest.mark.parametrize("name", ["static batch 8", "dynamic batch 8", SELECTED])
def test_a_declared_cost_follows_from_the_ledger_that_it_names(name: str) -> None:
    point = POINTS[name]
    cost = Decimal(point["ledger_usd_per_h"]) / (Decimal(point["success_per_s"]) * 3600)
    stated = Decimal(point["cost_per_success_usd"])
    assert abs(cost - stated) < Decimal("0.0000005")


def test_only_the_selected_point_follows_from_the_products_own_ledger(
    reference: PolicyDocument,
) -> None:
    def derived(name: str) -> Decimal:
        cost = steady_cost_per_success_usd(reference, Decimal(POINTS[name]["success_per_s"]))
        assert cost is not None
        return cost

    assert hourly_ledger_usd(reference) == Decimal(POINTS[SELECTED]["ledger_usd_per_h"])
    assert card_usd(derived(SELECTED)) == Decimal(POINTS[SELECTED]["cost_per_success_usd"])
    assert round(derived("static batch 8"), 8) == Decimal("0.00016841")
    assert card_usd(derived("dynamic batch 8")) == Decimal("0.00015324")


def test_the_static_point_misses_attainment(reference: PolicyDocument) -> None:
    attained = Decimal(POINTS["static batch 8"]["success_per_s"]) / 325
    assert round(attained * 100, 1) == Decimal("88.3")
    assert attained < Decimal(str(reference.gates.attainment.min))


def test_the_selected_points_margins(reference: PolicyDocument) -> None:
    selected = POINTS[SELECTED]
    assert reference.gates.completion_p95_ms.max - selected["p95_ms"] == 190
    full, dynamic = POINTS["full only"]["utility"], POINTS["dynamic batch 8"]["utility"]
    assert round(full - selected["utility"], 3) == 0.012
    assert round(dynamic - selected["utility"], 3) == 0.010
    assert selected["observed"] == {"fallback_share": 0.18, "early_terminated_share": 0.07}


def test_the_microbenchmark_is_no_outcome() -> None:
    batch = POINTS["batch 16 experiment"]
    assert batch["p95_ms"] == 1880
    assert batch["observed"] == {
        "microbenchmark_gain": 0.11,
        "padding_factor": 3.7,
        "deadline_miss_share": 0.083,
    }


def _points() -> list[Point]:
    return [
        Point(
            name,
            point.get("utility"),
            point["p95_ms"],
            Decimal(point["cost_per_success_usd"]) if "cost_per_success_usd" in point else None,
            "declared",
        )
        for name, point in POINTS.items()
    ]


def test_the_frontier_keeps_its_shapes(reference: PolicyDocument) -> None:
    gates, by_name = reference.gates, {p.name: p for p in _points()}
    full = {name: p for name, p in by_name.items() if p.utility is not None}
    assert max(full, key=lambda n: full[n].utility or 0) == "premium only"
    assert min(full, key=lambda n: full[n].p95_ms or 0) == "aggressive fallback"
    cheapest = min(full, key=lambda n: full[n].cost_per_success_usd or 0)
    assert cheapest == "aggressive fallback"
    assert (by_name["premium only"].cost_per_success_usd or 0) > gates.cost_per_success_usd.max
    assert (by_name["full only"].p95_ms or 0) > gates.completion_p95_ms.max
    assert (by_name["full only"].cost_per_success_usd or 0) > gates.cost_per_success_usd.max
    assert (by_name["aggressive fallback"].utility or 1) < gates.utility.min


def test_a_point_without_figures_is_neither_dominated_nor_dominating() -> None:
    beaten = dominated(_points())
    assert "static batch 8" in beaten
    assert SELECTED not in beaten
    assert "batch 16 experiment" not in beaten

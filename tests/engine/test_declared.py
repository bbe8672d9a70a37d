"""Declared outcomes at the gates: every miss is listed, what is not stated is not judged."""

from decimal import Decimal
from typing import Any

import pytest

from orchid.engine.declared import (
    SCHEMA,
    Declared,
    DeclaredError,
    best,
    declared_points,
    difference,
    failed_gates,
    margin,
    narrow_gates,
)
from orchid.engine.document.model import PolicyDocument
from orchid.engine.frontier import Point, dominated


def point(name: str = "a", **figures: str) -> Declared:
    return Declared(name, {figure: Decimal(text) for figure, text in figures.items()})


def test_a_point_on_its_bounds_misses_none_and_is_narrow_on_all(
    reference: PolicyDocument,
) -> None:
    on = point(p95_ms="1500", cost_per_success_usd="0.00016", utility="0.895", attainment="0.96")
    assert failed_gates(reference, on) == ()
    assert narrow_gates(reference, on) == (
        "completion_p95_ms",
        "cost_per_success_usd",
        "utility",
        "attainment",
    )


def test_a_figure_that_is_not_stated_is_neither_missed_nor_kept(
    reference: PolicyDocument,
) -> None:
    slow = point(p95_ms="1501")
    assert failed_gates(reference, slow) == ("completion_p95_ms",)
    assert narrow_gates(reference, slow) == ()
    assert margin(reference, slow, "utility") is None
    assert difference(slow, point(utility="0.9"), "utility") is None


def test_missed_deadlines_leave_the_rest_at_most(reference: PolicyDocument) -> None:
    late = Declared("late", {}, {"deadline_miss_share": Decimal("0.041")})
    assert failed_gates(reference, late) == ("attainment",)


def test_equals_are_best_together_and_a_point_without_utility_stands_on_no_frontier() -> None:
    points = {
        one.name: one
        for one in (
            point("a", p95_ms="900", utility="0.9"),
            point("b", p95_ms="900", utility="0.8"),
            point("c", p95_ms="100"),
        )
    }
    assert best(points, "p95_ms") == ("a", "b")
    assert best(points, "utility") == ("a",)
    assert best(points, "attainment") == ()


def test_a_point_without_figures_is_neither_dominated_nor_dominating() -> None:
    full = Point("full", 0.9, 900.0, Decimal("0.0001"), "declared")
    worse = Point("worse", 0.8, 1000.0, Decimal("0.0002"), "declared")
    unknown = Point("unknown", None, 100.0, None, "declared")
    assert dominated([full, worse, unknown]) == {"worse"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "schema"),
        ({"schema": SCHEMA, "points": {}}, "/points: a list"),
        ({"schema": SCHEMA, "points": ["a"]}, "/points/0: an object with a name"),
        ({"schema": SCHEMA, "points": [{"name": "a"}, {"name": "a"}]}, "given twice"),
        ({"schema": SCHEMA, "points": [{"name": "a", "p95_ms": "fast"}]}, "/points/0/p95_ms"),
        ({"schema": SCHEMA, "points": [{"name": "a", "p95_ms": True}]}, "decimal number"),
        ({"schema": SCHEMA, "points": [{"name": "a", "p95_ms": "1e-99999"}]}, "decimal number"),
        ({"schema": SCHEMA, "points": [{"name": "a", "observed": 3}]}, "object of figures"),
        ({"schema": SCHEMA, "degraded_trials": [{"name": ""}]}, "/degraded_trials/0"),
    ],
)
def test_what_can_not_be_read_is_named_by_its_place(content: dict[str, Any], said: str) -> None:
    with pytest.raises(DeclaredError, match=said):
        declared_points(content)

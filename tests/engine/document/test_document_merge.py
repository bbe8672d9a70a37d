"""Two changes of one document become one, or say where somebody has to choose."""

import copy
from typing import Any

import pytest

from orchid.engine.document.merge import merge

BASE: dict[str, Any] = {
    "contract": {"deadline_ms": 1500},
    "gates": {"utility": {"min": 0.895}},
    "budgets": [{"tenant": "acme", "window": 10000, "max_teu": 500}],
    "overload": ["stop_shadow", "reject_infeasible"],
}


def changed(**given: Any) -> dict[str, Any]:
    return {**copy.deepcopy(BASE), **given}


def test_what_one_side_changed_is_taken() -> None:
    mine = changed(contract={"deadline_ms": 1600})
    theirs = changed(gates={"utility": {"min": 0.9}})
    merged = merge(BASE, mine, theirs)
    assert merged.collisions == ()
    assert merged.document == changed(
        contract={"deadline_ms": 1600}, gates={"utility": {"min": 0.9}}
    )


def test_the_same_change_on_both_sides_is_no_collision() -> None:
    both = changed(contract={"deadline_ms": 1600})
    assert merge(BASE, both, copy.deepcopy(both)).collisions == ()


@pytest.mark.parametrize(("choice", "taken"), [("mine", 1600), ("theirs", 1400)])
def test_a_place_that_both_changed_waits_for_a_choice(choice: Any, taken: int) -> None:
    sides = changed(contract={"deadline_ms": 1600}), changed(contract={"deadline_ms": 1400})
    undecided = merge(BASE, *sides)
    (collision,) = undecided.open
    assert collision.pointer == "/contract/deadline_ms"
    assert (collision.base, collision.mine, collision.theirs) == (1500, 1600, 1400)
    decided = merge(BASE, *sides, {collision.pointer: choice})
    assert decided.open == ()
    assert decided.document["contract"] == {"deadline_ms": taken}


def test_items_of_a_list_are_merged_by_what_they_are_known_by() -> None:
    other = {"tenant": "zeta", "window": 10000, "max_teu": 9}
    third = {"tenant": "iota", "window": 10000, "max_teu": 7}
    merged = merge(
        BASE,
        changed(budgets=[*BASE["budgets"], other]),
        changed(budgets=[{"tenant": "acme", "window": 10000, "max_teu": 400}, third]),
    )
    assert merged.open == ()
    assert {item["tenant"]: item["max_teu"] for item in merged.document["budgets"]} == {
        "acme": 400,
        "iota": 7,
        "zeta": 9,
    }


def test_a_key_that_one_side_took_away_and_the_other_changed_is_a_collision() -> None:
    mine = {key: value for key, value in BASE.items() if key != "gates"}
    theirs = changed(gates={"utility": {"min": 0.9}})
    (collision,) = merge(BASE, mine, theirs).open
    assert (collision.pointer, collision.mine) == ("/gates", None)
    assert "gates" not in merge(BASE, mine, theirs, {"/gates": "mine"}).document
    assert merge(BASE, mine, theirs, {"/gates": "theirs"}).document["gates"] == theirs["gates"]


def test_a_list_whose_order_means_something_is_one_place() -> None:
    merged = merge(BASE, changed(overload=["stop_shadow"]), changed(overload=["reject_infeasible"]))
    assert [one.pointer for one in merged.open] == ["/overload"]


def test_nothing_that_came_in_is_changed_by_it() -> None:
    mine, theirs = changed(overload=["stop_shadow"]), changed(contract={"deadline_ms": 1})
    kept = copy.deepcopy((BASE, mine, theirs))
    merge(BASE, mine, theirs).document["contract"]["deadline_ms"] = 7
    assert kept == (BASE, mine, theirs)


@pytest.mark.parametrize("side", ["mine", "theirs"])
@pytest.mark.parametrize("gone", ["notes", "budgets"])
def test_what_one_side_took_out_is_out(side: str, gone: str) -> None:
    base = {"notes": "why", "budgets": [{"tenant": "*", "window": 1}], "deadline_ms": 1500}
    without = {key: value for key, value in base.items() if key != gone}
    other = {**base, "deadline_ms": 1400}
    mine, theirs = (without, other) if side == "mine" else (other, without)
    merged = merge(base, mine, theirs)
    assert merged.document == {**without, "deadline_ms": 1400}
    assert not merged.open

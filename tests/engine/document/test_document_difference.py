"""What changes between two documents, in words, and whom it asks."""

from typing import Any

import pytest

from orchid.engine.document.difference import Change, changes, required_approvals
from orchid.engine.document.load import LoadedDocument, load_document
from tests.reference_document import changed

Demo = tuple[LoadedDocument, LoadedDocument]


def differences(**sections: Any) -> list[Change]:
    return changes(changed(), changed(**sections))


def only(found: list[Change]) -> Change:
    assert len(found) == 1
    return found[0]


def test_another_spelling_is_no_change() -> None:
    given = changed()
    given["gates"]["utility"]["window"] = "60m"
    given["fleet"]["device_usd_per_h"] = "4.8"
    assert changes(changed(), given) == []


def test_the_demos_trade_in_words(demo: Demo) -> None:
    first, second = demo
    found = {c.pointer: c for c in changes(first.given, second.given) if c.category != "none"}
    assert found["/fallback/0"].words == (
        "added: fallback from full to compact, served first where "
        "task is assistant, tenant class is standard"
    )
    assert found["/fallback/2"].words == "added: no fallback where tenant class is premium"
    assert found["/fleet/devices"].words == "fleet devices: 6 becomes 4"
    assert {c.category for c in found.values()} == {"quality", "capacity"}


def test_the_demos_saving_is_said_and_asks_nobody(demo: Demo) -> None:
    first, second = demo
    ledger = changes(first.given, second.given)[-1]
    assert ledger.words == "hourly ledger: $30.60 becomes $21.00"
    assert ledger.category == "none"
    assert changes(second.given, first.given)[-1].category == "cost"


def test_the_demos_trade_asks_a_product_owner_and_an_sre(demo: Demo) -> None:
    first, second = demo
    asked = required_approvals(first.document, changes(first.given, second.given))
    assert asked == {"product_owner": 1, "sre": 1}


def test_a_lower_floor_is_one_change_of_one_floor() -> None:
    given = changed()
    given["segments"]["floors"][1]["min_utility"] = 0.91
    change = only(changes(changed(), given))
    assert change.words == (
        "floor 0.93 where risk is regulated or high becomes "
        "floor 0.91 where risk is regulated or high"
    )
    assert (change.pointer, change.category) == ("/segments/floors/1", "quality")


def test_a_removed_rule_keeps_its_old_place() -> None:
    given = changed()
    del given["fallback"][0]
    change = only(changes(changed(), given))
    assert (change.pointer, change.after) == ("/fallback/0", None)
    assert change.words.startswith("removed: fallback from full to compact")


def test_a_duration_is_said_as_a_duration() -> None:
    given = changed()
    given["rollout"]["stages"][3]["hold"] = "45m"
    change = only(changes(changed(), given))
    assert change.words == "canary of 0.01 held 30m becomes canary of 0.01 held 45m"
    assert (change.category, change.direction) == ("capacity", "tighter")


def test_the_order_of_rules_is_a_change_beside_a_new_rule() -> None:
    given = changed()
    given["routing"]["rules"].reverse()
    given["routing"]["rules"].append({"where": {"risk": "high"}, "route": "full"})
    added, order = changes(changed(), given)
    assert added.words == "added: route to full where risk is high"
    assert order.pointer == "/routing/rules"
    assert order.words.startswith("routing rules in another order: route to compact where")


def test_two_floors_of_one_selector_are_told_apart_by_what_they_ask() -> None:
    twice = changed()
    twice["segments"]["floors"].append({"where": {}, "min_utility": 0.9})
    less = changed()
    less["segments"]["floors"].append({"where": {}, "min_utility": 0.8})
    words = [change.words for change in changes(twice, less)]
    assert words == [
        "added: floor 0.8 for every request",
        "removed: floor 0.9 for every request",
    ]


def test_an_example_is_a_sentence() -> None:
    given = changed()
    given["examples"] = given["examples"][:6]
    change = only(changes(changed(), given))
    assert change.words == (
        "removed: example: document_generation with deadline in ms 400, "
        "expected to reject for deadline_infeasible"
    )


DIRECTIONS = [
    ("gates", {"attainment": {"min": 0.95, "window": "15m", "minimum_sample": 1000}}, "looser"),
    ("gates", {"utility": {"min": 0.9, "window": "1h"}}, "tighter"),
    ("gates", {"utility": {"min": 0.895, "window": "2h"}}, None),
    ("gates", {"first_token_p95_ms": {"max": 400, "window": "15m"}}, "tighter"),
    ("gates", {"alpha_pass": 0.1}, "looser"),
    ("contract", {"deadline_ms": 1600}, "looser"),
    ("contract", {"accepts": ["bounded"]}, "tighter"),
    ("contract", {"accepts": ["bounded", "cached"]}, None),
    ("admission", {"max_queued_teu": "50000"}, "looser"),
    ("admission", {"conservative_route": "premium"}, None),
    ("approvals", {"quality": ["product_owner"]}, "looser"),
    ("scheduling", {"max_decode_turns": 4}, None),
]


@pytest.mark.parametrize(("section", "value", "direction"), DIRECTIONS)
def test_a_change_says_whether_more_is_asked(section: str, value: Any, direction: Any) -> None:
    assert only(differences(**{section: value})).direction == direction


@pytest.mark.parametrize(
    ("rule", "direction"),
    [
        ({"from": "full", "to": "compact", "where": {"task": "long_assistant"}}, "looser"),
        ({"deny": True, "where": {"task": "long_assistant"}}, "tighter"),
    ],
)
def test_wider_fallback_asks_less(rule: Any, direction: str) -> None:
    given = changed()
    given["fallback"].append(rule)
    opposite = {"looser": "tighter", "tighter": "looser"}[direction]
    assert only(changes(changed(), given)).direction == direction
    assert only(changes(given, changed())).direction == opposite


@pytest.mark.parametrize(
    ("least", "direction"), [(0.85, "looser"), (0.95, "tighter"), (0.895, None)]
)
def test_a_new_floor_is_measured_by_the_one_that_spoke_before(
    least: float, direction: str | None
) -> None:
    given = changed()
    given["segments"]["floors"].append({"where": {"task": "x"}, "min_utility": least})
    assert only(changes(changed(), given)).direction == direction


def test_order_is_a_change_where_it_has_a_meaning() -> None:
    rungs = list(reversed(changed()["overload"]))
    assert only(differences(overload=rungs)).pointer == "/overload"


@pytest.mark.parametrize(
    ("section", "value", "category"),
    [
        ("contract", {"deadline_ms": 1600}, "quality"),
        ("scheduling", {"max_decode_turns": 4}, "capacity"),
        ("demand", {"version": "teu-4"}, "capacity"),
        ("admission", {"max_queued_teu": 50_000}, "capacity"),
        ("admission", {"conservative_route": "premium"}, "quality"),
        ("approvals", {"capacity": ["sre", "sre"]}, "capacity"),
        ("approvals", {"quality": ["product_owner"]}, "quality"),
        ("examples", [], "none"),
    ],
)
def test_each_change_concerns_somebody(section: str, value: Any, category: str) -> None:
    assert {change.category for change in differences(**{section: value})} == {category}


def test_a_repeated_role_that_goes_is_a_change() -> None:
    change = only(differences(approvals={"quality": ["product_owner"]}))
    assert change.words == (
        "approvals quality: [product_owner, product_owner] becomes [product_owner]"
    )


def test_more_dollars_ask_for_cost_approval() -> None:
    found = differences(fleet={"devices": 32})
    assert [(c.pointer, c.category) for c in found] == [
        ("/fleet/devices", "capacity"),
        ("/fleet", "cost"),
    ]
    asked = required_approvals(load_document(changed()).document, found)
    assert asked == {"product_owner": 1, "sre": 1}


def test_categories_ask_as_a_union_and_not_as_a_sum() -> None:
    found = differences(contract={"deadline_ms": 1600}, fleet={"device_usd_per_h": "5"})
    asked = required_approvals(load_document(changed()).document, found)
    assert asked == {"product_owner": 2}


def test_the_rules_of_the_base_apply() -> None:
    weaker = changed(approvals={"quality": ["sre"]})
    found = changes(changed(), weaker)
    assert required_approvals(load_document(changed()).document, found) == {"product_owner": 2}


def test_nothing_goes_out_on_nobodys_word() -> None:
    base = load_document(changed()).document
    assert required_approvals(None, []) == {"product_owner": 1}
    assert required_approvals(base, differences(examples=[])) == {"product_owner": 1}

"""Which segment a request is in, and which rule speaks for it."""

from typing import Any

import pytest

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import Floor
from orchid.engine.segments import (
    both,
    bucket_name,
    fallbacks_for,
    floor_for,
    implies,
    is_eligible,
    matches,
    may_overlap,
    most_specific,
    preferred_route,
    segment_key,
    segment_of,
    where_key,
)

STANDARD = {"task": "short_assistant", "tenant_class": "standard", "risk": "low"}


def test_an_empty_selector_takes_everything() -> None:
    assert matches({}, {})
    assert matches({}, STANDARD)


def test_a_selector_needs_every_dimension_it_names() -> None:
    assert matches({"risk": ("low", "high")}, STANDARD)
    assert not matches({"risk": "high"}, STANDARD)
    assert not matches({"language": "en"}, STANDARD)


def test_the_most_specific_rule_speaks() -> None:
    floors = [
        Floor(where={}, min_utility=0.1),
        Floor(where={"risk": "low", "task": "short_assistant"}, min_utility=0.3),
        Floor(where={"risk": "low"}, min_utility=0.2),
        Floor(where={"risk": "high", "task": "short_assistant", "language": "en"}, min_utility=0.9),
    ]
    found = most_specific(floors, STANDARD)
    assert found is not None
    assert found.min_utility == 0.3
    assert most_specific(floors[1:], {}) is None


@pytest.mark.parametrize(
    ("tokens", "name"), [(0, "0-512"), (512, "0-512"), (513, "513-4096"), (4097, "4097+")]
)
def test_an_upper_edge_belongs_to_its_bucket(tokens: int, name: str) -> None:
    assert bucket_name((512, 4096), tokens) == name


def test_a_segment_has_the_documents_dimensions_and_no_others(reference: PolicyDocument) -> None:
    extra = {"language": "de", "task": "forged", "customer": "acme"}
    segment = segment_of(reference, "short_assistant", 900, 120, extra)
    assert segment == {
        "task": "short_assistant",
        "language": "en",
        "tenant_class": "standard",
        "input_bucket": "513-4096",
        "output_bucket": "65-512",
        "risk": "low",
    }


def test_an_unknown_class_keeps_what_the_caller_says(reference: PolicyDocument) -> None:
    assert segment_of(reference, "riddles", None, None, {"risk": "high"}) == {"risk": "high"}


def test_a_key_does_not_depend_on_order() -> None:
    assert segment_key({"b": "2", "a": "1"}) == segment_key({"a": "1", "b": "2"}) == "a=1|b=2"
    assert segment_key({}) == ""
    assert where_key({"risk": ("high", "low")}) == "risk=high,low"


def test_floors_of_the_reference_product(reference: PolicyDocument) -> None:
    assert floor_for(reference, STANDARD) == 0.895
    assert floor_for(reference, {**STANDARD, "risk": "regulated"}) == 0.93


def test_fallback_is_for_eligible_segments_only(reference: PolicyDocument) -> None:
    assert fallbacks_for(reference, "full", STANDARD) == ["compact"]
    assert fallbacks_for(reference, "premium", STANDARD) == []
    assert fallbacks_for(reference, "full", {**STANDARD, "tenant_class": "premium"}) == []


def test_a_prohibition_is_not_lifted_by_a_more_specific_rule(reference: PolicyDocument) -> None:
    assert fallbacks_for(reference, "full", {**STANDARD, "risk": "regulated"}) == []


def test_the_second_demo_generation_serves_eligible_segments_compact_first(demo: Any) -> None:
    first, second = (loaded.document for loaded in demo)
    standard = {"task": "assistant", "tenant_class": "standard"}
    premium = {"task": "assistant", "tenant_class": "premium"}
    assert preferred_route(first, "full", standard) is None
    assert preferred_route(second, "full", standard) == "compact"
    assert preferred_route(second, "full", {"task": "structured_extraction"}) == "compact"
    assert preferred_route(second, "full", premium) is None


def test_a_fallback_that_is_not_preferred_goes_second(reference: PolicyDocument) -> None:
    assert preferred_route(reference, "full", STANDARD) is None


def test_the_contract_of_the_reference_takes_every_request(reference: PolicyDocument) -> None:
    assert is_eligible(reference, {"risk": "high"})


@pytest.mark.parametrize(
    ("first", "second", "overlap", "implied"),
    [
        ({}, {}, True, True),
        ({"a": "1"}, {}, True, True),
        ({}, {"a": "1"}, True, False),
        ({"a": "1"}, {"b": "2"}, True, False),
        ({"a": "1"}, {"a": "2"}, False, False),
        ({"a": ("1", "2")}, {"a": ("2", "3")}, True, False),
        ({"a": "2"}, {"a": ("2", "3")}, True, True),
    ],
)
def test_selectors_compare_as_sets(first: Any, second: Any, overlap: bool, implied: bool) -> None:
    assert may_overlap(first, second) is overlap
    assert implies(first, second) is implied


def test_both_is_what_matches_both() -> None:
    assert both({"a": ("1", "2")}, {"a": ("2", "3"), "b": "4"}) == {"a": ("2",), "b": ("4",)}

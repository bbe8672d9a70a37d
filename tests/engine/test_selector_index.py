"""Selectors compared one by one, by brute force over a small vocabulary, and as bits."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.document.quality import Floor
from orchid.engine.segments import (
    Where,
    both,
    bucket_name,
    bucket_names,
    implies,
    matches,
    may_overlap,
    most_specific,
    specificity,
)
from orchid.engine.selector_index import SelectorIndex, before, positions

VOCABULARY = {"a": ("1", "2", "3"), "b": ("1", "2"), "c": ("1", "2")}
#: Every request, with every dimension known or not; `other` is a value that no selector names.
REQUESTS = [
    {name: value for name, value in zip(VOCABULARY, values, strict=True) if value is not None}
    for values in product(*((*allowed, "other", None) for allowed in VOCABULARY.values()))
]

values = {
    name: st.sampled_from(allowed)
    | st.lists(st.sampled_from(allowed), min_size=1, unique=True).map(tuple)
    for name, allowed in VOCABULARY.items()
}
selectors = st.fixed_dictionaries({}, optional=values)


def matching(where: Where) -> list[int]:
    return [i for i, request in enumerate(REQUESTS) if matches(where, request)]


@given(selectors, selectors)
def test_selectors_compare_as_the_requests_that_they_match(first: Where, second: Where) -> None:
    one, two = set(matching(first)), set(matching(second))
    assert may_overlap(first, second) == bool(one & two)
    assert implies(first, second) == (one <= two)
    if one & two:
        assert set(matching(both(first, second))) == one & two


@given(st.lists(selectors, max_size=8), selectors)
def test_an_index_answers_as_comparing_one_by_one_does(wheres: list[Where], where: Where) -> None:
    index = SelectorIndex(wheres)
    overlapping = [i for i, other in enumerate(wheres) if may_overlap(other, where)]
    covering = [i for i, other in enumerate(wheres) if implies(where, other)]
    assert list(positions(index.overlapping(where))) == overlapping
    within = [i for i, other in enumerate(wheres) if implies(other, where)]
    assert list(positions(index.covering(where))) == covering
    assert list(positions(index.within(where))) == within


@given(st.lists(selectors, max_size=8), st.integers(0, 3))
def test_an_index_knows_specificities(wheres: list[Where], size: int) -> None:
    index, sizes = SelectorIndex(wheres), [specificity(where) for where in wheres]
    assert list(positions(index.of_size(size))) == [i for i, s in enumerate(sizes) if s == size]
    assert list(positions(index.over_size(size))) == [i for i, s in enumerate(sizes) if s > size]
    assert list(positions(index.all & before(2))) == list(range(len(wheres)))[:2]


@given(selectors, selectors)
def test_what_no_request_can_match_overlaps_nothing(first: Where, second: Where) -> None:
    joined = both(first, second)
    assert bool(SelectorIndex([{}]).overlapping(joined)) == may_overlap(first, second)


@given(st.lists(selectors, min_size=1, max_size=8), st.data())
def test_which_rule_speaks_does_not_depend_on_order_but_for_ties(
    wheres: list[Where], data: st.DataObject
) -> None:
    rules = [Floor(where=where, min_utility=i / 10) for i, where in enumerate(wheres)]
    request = data.draw(st.sampled_from(REQUESTS))
    spoken = most_specific(rules, request)
    again = most_specific(data.draw(st.permutations(rules)), request)
    if spoken is None or again is None:
        assert spoken is again is None
        return
    fitting = [rule for rule in rules if matches(rule.where, request)]
    most = max(specificity(rule.where) for rule in fitting)
    tied = [rule for rule in fitting if specificity(rule.where) == most]
    assert spoken is tied[0]
    assert again in tied
    if len(tied) == 1:
        assert again is spoken


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6, unique=True), st.integers(0, 60))
def test_every_length_is_in_exactly_one_named_bucket(edges: list[int], tokens: int) -> None:
    ascending = tuple(sorted(edges))
    names = bucket_names(ascending)
    assert bucket_name(ascending, tokens) in names
    assert len(set(names)) == len(ascending) + 1

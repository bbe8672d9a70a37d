"""The most frequent names of a stream, in bounded memory, never counted too low."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.most_frequent import Counted, MostFrequent

BATCH = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50), max_size=5)
BATCHES = st.lists(BATCH, max_size=8)


@given(BATCHES, st.integers(1, 8))
def test_a_count_is_never_too_low_and_too_high_by_its_error_at_most(
    batches: list[dict[str, int]], places: int
) -> None:
    found, truth = MostFrequent(places), Counter[str]()
    for batch in batches:
        found.add(batch)
        truth.update(batch)
    assert len(found.held) <= places
    for name, count in found.held.items():
        assert count.least <= truth[name] <= count.most
    if truth:
        sure = truth.total() / places
        assert {name for name, n in truth.items() if n > sure} <= found.held.keys()


def test_equal_newcomers_take_places_in_the_order_of_their_names() -> None:
    found = MostFrequent(2)
    found.add({"c": 1, "b": 1, "a": 1})
    assert found.held == {"b": Counted(1), "c": Counted(2, 1)}


def test_what_fades_to_nothing_leaves_its_place() -> None:
    found = MostFrequent(2, {"a": Counted(8, 2), "b": Counted(1)})
    found.fade(0.5)
    assert found.held == {"a": Counted(4, 1)}

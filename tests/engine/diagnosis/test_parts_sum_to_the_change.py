"""Every change is taken apart exactly: the parts sum to it, whatever the traffic."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.diagnosis.cells import Cell, Stratum, latency_strata, strata
from orchid.engine.diagnosis.change import Change, Effect, total
from orchid.engine.diagnosis.cost import Spent, cost_change
from orchid.engine.diagnosis.shares import share_change
from orchid.engine.diagnosis.utility import utility_change
from tests.engine.diagnosis.windows import BOUND, window_cell

SEGMENTS = ("task=a", "task=b", "task=c")
ROUTES = ("", "full", "compact")


@st.composite
def cells(draw: st.DrawFn, segment: str, route: str) -> Cell:
    n = draw(st.integers(0, 500))
    failed = draw(st.integers(0, n))
    invalid = draw(st.integers(0, n - failed))
    return window_cell(
        segment,
        route,
        n,
        losses={"failed": failed, "violation": invalid},
        late=draw(st.integers(0, n)),
        teu=draw(st.integers(0, 10_000)),
        usd=str(draw(st.integers(0, 99))),
        score=draw(st.floats(0, 1)),
    )


@st.composite
def windows(draw: st.DrawFn) -> list[Cell]:
    keys = [(segment, route) for segment in SEGMENTS for route in ROUTES]
    some = draw(st.lists(st.sampled_from(keys), unique=True))
    return [draw(cells(*key)) for key in some]


def closes(change: Change) -> bool:
    if change.value is None:
        return not change.parts
    return total(change.parts) == change.value


@given(windows(), windows())
def test_attainment(before: list[Cell], after: list[Cell]) -> None:
    assert closes(share_change(strata(before), strata(after)))


@given(windows(), windows())
def test_the_share_within_a_bound(before: list[Cell], after: list[Cell]) -> None:
    assert closes(share_change(latency_strata(before, BOUND), latency_strata(after, BOUND)))


@given(windows(), windows(), st.integers(0, 1000), st.integers(0, 1000))
def test_cost_per_success(before: list[Cell], after: list[Cell], was_usd: int, is_usd: int) -> None:
    spent = Spent(before, Fraction(was_usd, 7)), Spent(after, Fraction(is_usd, 7))
    assert closes(cost_change(*spent))


@given(windows(), windows())
def test_utility(before: list[Cell], after: list[Cell]) -> None:
    assert closes(utility_change(before, after))


@given(windows())
def test_a_window_against_itself_has_no_part(window: list[Cell]) -> None:
    change = cost_change(Spent(window, Fraction(3)), Spent(window, Fraction(3)))
    assert [part for part in change.parts if part.value] == []


@given(windows(), windows())
def test_the_other_way_round_every_part_has_the_other_sign(
    before: list[Cell], after: list[Cell]
) -> None:
    """The midpoint prefers neither window."""
    there = share_change(strata(before), strata(after)).parts
    back = share_change(strata(after), strata(before)).parts
    assert sorted(part.scaled(Fraction(-1)).value for part in back) == sorted(
        part.value for part in there
    )


def test_a_segment_that_fails_more_often_is_named_with_its_outcome() -> None:
    before = [Stratum("a", "full", 900, {"failed": 9}), Stratum("b", "full", 100, {"failed": 1})]
    after = [Stratum("a", "full", 900, {"failed": 9}), Stratum("b", "full", 100, {"failed": 41})]
    change = share_change(before, after)
    (group,) = change.by_segment()
    (part,) = group.parts
    assert (group.name, group.value) == ("b", Fraction(-40, 1000))
    assert (part.effect, part.outcome, part.value) == (Effect.OUTCOME, "failed", group.value)


def test_a_worse_route_in_a_segment_is_a_matter_of_the_route() -> None:
    before = [Stratum("a", "full", 100, {"failed": 1})]
    after = [Stratum("a", "full", 50), Stratum("a", "compact", 50, {"failed": 10})]
    parts = share_change(before, after).ranked()
    assert (parts[0].effect, parts[0].route) == (Effect.ROUTE, "compact")


def test_more_of_a_weak_segment_is_a_matter_of_the_mix() -> None:
    before = [Stratum("good", "full", 90), Stratum("weak", "full", 10, {"failed": 5})]
    after = [Stratum("good", "full", 10), Stratum("weak", "full", 90, {"failed": 45})]
    change = share_change(before, after)
    assert {part.effect for part in change.ranked()} == {Effect.MIX}


def test_without_a_success_there_is_no_price_to_take_apart() -> None:
    nothing = Spent([window_cell("task=a", n=10, losses={"failed": 10})], Fraction(1))
    change = cost_change(Spent([window_cell("task=a")], Fraction(1)), nothing)
    assert (change.value, change.parts) == (None, ())

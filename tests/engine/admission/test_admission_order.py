"""Who waits is served by the declared key, leaves when it is too late, and never waits unseen."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.admission.order import AdmissionQueue, Ahead, Entry, OrderRules, order_rules
from orchid.engine.document.load import load_document
from tests.small_policy import small_document

NOW = 1_000_000.0
ALONE = OrderRules(0, 0, 0, 0, 0, age_bound_ms=1e9)


def entry(name: str, **given: Any) -> Entry:
    known: dict[str, Any] = {
        "arrived_ms": NOW - 100,
        "deadline_ms": 1000.0,
        "latest_start_ms": NOW + 500,
        "teu": 50.0,
        "live_tokens": 500,
        "service_ms": 200.0,
    }
    return Entry(request_id=name, **(known | given))


def nobody_ahead(_: Entry) -> float:
    return 0.0


def ordered(
    rules: OrderRules,
    *entries: Entry,
    attained: Callable[[Entry], float] = nobody_ahead,
    free: float = 10_000.0,
) -> list[str]:
    queue = AdmissionQueue()
    for one in entries:
        queue.put(one)
    queue.reorder(rules, NOW, attained, free)
    names = []
    while (head := queue.head) is not None:
        names.append(head)
        queue.leave(head)
    return names


def only(**weight: float) -> OrderRules:
    weights = {"slack": 0.0, "attained": 0.0, "remaining": 0.0, "age": 0.0, "live": 0.0}
    return OrderRules(**(weights | weight), age_bound_ms=1e9)


def test_less_slack_goes_first() -> None:
    late, soon = entry("late", latest_start_ms=NOW + 600), entry("soon", latest_start_ms=NOW + 10)
    assert ordered(only(slack=1), late, soon) == ["soon", "late"]


def test_a_tenant_behind_its_share_goes_first() -> None:
    rich, poor = entry("rich", share=1), entry("poor", share=2)
    attained = {1: 1.5, 2: 0.2}
    assert ordered(only(attained=1), rich, poor, attained=lambda e: attained[e.share]) == [
        "poor",
        "rich",
    ]


def test_less_work_and_less_memory_go_first() -> None:
    big, small = entry("big", teu=900.0), entry("small", teu=5.0)
    assert ordered(only(remaining=1), big, small) == ["small", "big"]
    wide, slim = entry("wide", live_tokens=9000), entry("slim", live_tokens=10)
    assert ordered(only(live=1), wide, slim) == ["slim", "wide"]


def test_who_has_waited_longer_goes_first() -> None:
    new, old = entry("new", arrived_ms=NOW - 5), entry("old", arrived_ms=NOW - 400)
    assert ordered(only(age=1), new, old) == ["old", "new"]


def test_an_entry_over_its_age_bound_goes_before_all_others() -> None:
    rules = OrderRules(1, 1, 1, 1, 1, age_bound_ms=300.0)
    aged = entry("aged", arrived_ms=NOW - 300, teu=1e6, latest_start_ms=NOW + 1e6)
    urgent = entry("urgent", latest_start_ms=NOW + 1, teu=1.0)
    assert ordered(rules, urgent, aged) == ["aged", "urgent"]


def test_no_term_decides_alone() -> None:
    """A long request with little slack against a short one with much: the weights settle it."""
    long = entry("long", teu=150.0, latest_start_ms=NOW + 10)
    short = entry("short", teu=50.0, latest_start_ms=NOW + 900)
    assert ordered(OrderRules(1, 1, 0.1, 1, 1, 1e9), long, short) == ["long", "short"]
    assert ordered(OrderRules(0.1, 1, 1, 1, 1, 1e9), long, short) == ["short", "long"]


def test_equal_keys_go_by_arrival_and_then_by_name() -> None:
    first, b, a = entry("z", arrived_ms=NOW - 200), entry("b"), entry("a")
    assert ordered(ALONE, b, a, first) == ["z", "a", "b"]


def test_who_can_no_longer_be_in_time_leaves_at_that_moment() -> None:
    queue = AdmissionQueue()
    queue.put(entry("late", latest_start_ms=NOW - 1))
    queue.put(entry("exact", latest_start_ms=NOW))
    assert queue.reorder(ALONE, NOW, nobody_ahead, 1.0) == ("late",)
    assert (queue.head, len(queue)) == ("exact", 1)
    assert queue.queued_teu == 50.0


def test_work_ahead_is_that_of_those_in_front_and_a_stranger_has_all_of_it() -> None:
    queue = AdmissionQueue()
    for n in range(3):
        queue.put(entry(f"q{n}", arrived_ms=NOW - 100 + n))
    assert [queue.ahead(f"q{n}").teu for n in range(3)] == [0.0, 50.0, 100.0]
    assert queue.ahead("stranger") == Ahead(150.0, 600.0)
    queue.leave("q0")
    queue.reorder(ALONE, NOW, nobody_ahead, 1.0)
    assert [queue.ahead(f"q{n}").service_ms for n in (1, 2)] == [0.0, 200.0]


def test_joining_twice_or_leaving_twice_changes_nothing() -> None:
    queue = AdmissionQueue()
    queue.put(entry("q"))
    queue.put(entry("q", teu=1e9))
    assert queue.queued_teu == 50.0
    queue.leave("q")
    queue.leave("q")
    assert (queue.queued_teu, queue.head) == (0.0, None)


def test_the_documents_weights_are_taken_and_its_deadline_bounds_age_by_default() -> None:
    document = load_document(small_document()).document
    assert order_rules(document) == OrderRules(1.0, 1.0, 0.1, 1.0, 1.0, 1000.0)


entries = st.lists(
    st.builds(
        entry,
        st.uuids().map(str),
        arrived_ms=st.floats(NOW - 2000, NOW),
        latest_start_ms=st.floats(NOW - 100, NOW + 2000),
        teu=st.floats(0, 1e4),
        live_tokens=st.integers(0, 9000),
    ),
    max_size=20,
)
weights = OrderRules(1, 1, 0.1, 1, 1, 1000.0)


@given(entries, st.randoms(use_true_random=False))
def test_the_order_is_that_of_the_requests_and_not_of_their_coming(
    given: list[Entry], dice: Any
) -> None:
    mixed = [entry(e.request_id, **_fields(e)) for e in given]
    dice.shuffle(mixed)
    assert ordered(weights, *given) == ordered(weights, *mixed)


@given(entries)
def test_totals_are_those_of_who_is_left(given: list[Entry]) -> None:
    queue = AdmissionQueue()
    for one in given:
        queue.put(one)
    late = queue.reorder(weights, NOW, nobody_ahead, 1000.0)
    left = [e for e in given if e.request_id not in late]
    assert all(e.latest_start_ms >= NOW for e in left)
    assert abs(queue.queued_teu - sum(e.teu for e in left)) < 1e-6
    assert len(queue) == len(left)


def _fields(one: Entry) -> dict[str, Any]:
    names = ("arrived_ms", "latest_start_ms", "teu", "live_tokens")
    return {name: getattr(one, name) for name in names}

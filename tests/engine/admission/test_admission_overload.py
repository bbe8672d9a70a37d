"""Rungs go up by queue and memory alone and at once; down one by one, and routes one by one."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.admission.overload import (
    NORMAL,
    Ladder,
    LadderRules,
    Sample,
    ladder_rules,
    observe,
)
from orchid.engine.document.load import load_document
from tests.small_policy import small_document

NOW = 1_000_000.0
CALM = Sample(0.0, 0.0, 0.0)
ALL = ["stop_shadow", "defer_async", "cap_optional_output", "compact_fallback", "reject_infeasible"]


def rules(*overload: Any, **changes: Any) -> LadderRules:
    """Of the small document: deadline 1,000 ms."""
    return ladder_rules(load_document(small_document(overload=list(overload), **changes)).document)


COMPACT_ONLY = rules("compact_fallback")


def waiting(wait_ms: float) -> Sample:
    return Sample(wait_ms, 0.0, 0.0)


def after(ladder: Ladder, told: LadderRules, *seen: tuple[float, Sample]) -> Ladder:
    """The ladder after samples at so many milliseconds from now."""
    for at_ms, sample in seen:
        ladder = observe(ladder, sample, told, NOW + at_ms)
    return ladder


def test_a_wait_of_a_quarter_of_the_deadline_puts_compact_first() -> None:
    assert not after(NORMAL, COMPACT_ONLY, (0, waiting(249))).compact_first("full")
    assert after(NORMAL, COMPACT_ONLY, (0, waiting(250))).compact_first("full")


def test_half_a_queue_does_too_and_so_does_a_nearly_full_cache() -> None:
    for sample in (Sample(0.0, 0.5, 0.0), Sample(0.0, 0.0, 0.93)):
        assert after(NORMAL, COMPACT_ONLY, (0, sample)).compact_first("full")


def test_it_is_left_only_after_two_calm_seconds_without_a_break() -> None:
    calm = after(NORMAL, COMPACT_ONLY, (0, waiting(300)), (1000, CALM), (2999, CALM))
    assert calm.compact_first("full")
    assert after(calm, COMPACT_ONLY, (3000, CALM)).name == "normal"
    assert after(calm, COMPACT_ONLY, (2999, waiting(60)), (3001, CALM)).compact_first("full")


def test_a_rung_that_is_not_listed_is_never_entered() -> None:
    ladder = after(NORMAL, rules("reject_infeasible"), (0, waiting(900)))
    assert (ladder.name, ladder.compact_first("full")) == ("normal", False)
    assert observe(NORMAL, waiting(1e9), rules(), NOW) is NORMAL


def test_a_spike_climbs_to_the_rung_that_it_asks_for_and_takes_those_below() -> None:
    ladder = after(NORMAL, rules(*ALL), (0, waiting(215)))
    assert (ladder.rung, ladder.name) == (3, "cap_optional_output")
    assert (ladder.stops("shadow"), ladder.stops("serving")) == (True, False)
    assert ladder.defers_async
    assert not ladder.compact_first("full")
    top = after(ladder, rules(*ALL), (1, waiting(1000)))
    assert (top.rung, top.refuses_waiting, top.compact_first("full")) == (5, True, True)


def test_it_comes_down_one_rung_at_a_time_each_after_its_own_calm() -> None:
    told = rules(*ALL)
    ladder = after(NORMAL, told, (0, waiting(1000)))
    rungs = []
    for second in range(1, 13):
        ladder = observe(ladder, CALM, told, NOW + 1000 * second)
        rungs.append(ladder.rung)
    assert rungs == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]


def test_each_change_is_an_event_with_its_figures() -> None:
    up = after(NORMAL, COMPACT_ONLY, (0, waiting(300)))
    assert up.event is not None
    assert (up.event.before, up.event.after, up.event.at_ms) == (
        "normal",
        "compact_fallback",
        NOW,
    )
    assert up.event.sample == waiting(300)
    same = after(up, COMPACT_ONLY, (5, waiting(310)))
    assert same is up


def several_routes() -> LadderRules:
    """Two routes fall back to compact; premium is the dearer one."""
    whole = small_document()
    premium = {**whole["models"]["full"], "weights": "w-premium"}
    return rules(
        "compact_fallback",
        models={**whole["models"], "premium": premium},
        demand={
            "version": "teu-1",
            "input_weight": 0.25,
            "model_factor": {"full": 1, "compact": 0.5, "premium": 2},
        },
        fallback=[
            {"from": "premium", "to": "compact", "where": {}},
            {"from": "full", "to": "compact", "where": {}},
        ],
    )


def test_routes_come_back_one_by_one_and_the_cheapest_first() -> None:
    told = several_routes()
    held = after(NORMAL, told, (0, waiting(300)), (1000, CALM))
    assert held.compact == {"full", "premium"}
    first = after(held, told, (3000, CALM))
    assert first.compact == {"premium"}
    assert first.event is not None
    assert (first.event.restored, first.name) == ("full", "compact_fallback")
    assert after(first, told, (4999, CALM)).compact == {"premium"}
    assert after(first, told, (5000, CALM)).name == "normal"


def test_a_second_wave_takes_the_restored_route_back_at_once() -> None:
    told = several_routes()
    first = after(NORMAL, told, (0, waiting(300)), (1000, CALM), (3000, CALM))
    assert after(first, told, (3100, waiting(251))).compact == {"full", "premium"}


def test_a_stated_rung_has_its_own_bounds_dwell_and_calm() -> None:
    step = {
        "rung": "defer_async",
        "enter": {"queue_wait": "40ms", "queued": 0.9},
        "leave": {"queue_wait": "20ms"},
        "dwell": "10s",
        "steady_for": "1s",
    }
    told = rules(step)
    entered = after(NORMAL, told, (0, waiting(40)))
    assert entered.defers_async
    assert after(entered, told, (1000, CALM), (9_999, CALM)).defers_async
    assert not after(entered, told, (1000, CALM), (10_000, CALM)).defers_async
    assert not after(NORMAL, told, (0, Sample(0.0, 0.6, 0.0))).defers_async


samples = st.builds(
    Sample, st.floats(0, 2000), st.floats(0, 1, width=32), st.floats(0, 1, width=32)
)


@given(st.lists(st.tuples(st.floats(0, 3000), samples), max_size=40))
def test_no_history_leaves_more_than_one_rung_at_a_time_or_before_its_dwell(
    history: list[tuple[float, Sample]],
) -> None:
    told, ladder, now = rules(*ALL), NORMAL, NOW
    for passed_ms, sample in history:
        now += passed_ms
        moved = observe(ladder, sample, told, now)
        assert moved.step >= ladder.step - 1
        if moved.step < ladder.step:
            assert now - ladder.since_ms >= 2000
        ladder = moved

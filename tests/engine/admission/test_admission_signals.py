"""A signal counts by its age: used, used with a penalty, not believed, or never there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.admission.signals import (
    Reading,
    Signal,
    SignalRules,
    limit_under,
    read_signal,
    signal_rules,
)
from orchid.engine.document.load import load_document
from tests.small_policy import small_document

NOW = 1_000_000.0
RULES = SignalRules(fresh_ms=1000.0, hold_ms=5000.0, penalty_ms=50.0, floor_per_replica=2)


def aged(age_ms: float) -> Signal:
    return Signal(NOW - age_ms, queue_wait_ms=30.0, live_tokens=100)


@pytest.mark.parametrize(
    ("age_ms", "reading"),
    [
        (0.0, Reading("fresh", 30.0, 0.0, 0)),
        (1000.0, Reading("fresh", 30.0, 1000.0, 0)),
        (1001.0, Reading("held", 80.0, 1001.0, 1)),
        (5000.0, Reading("held", 80.0, 5000.0, 1)),
        (5001.0, Reading("stale", 0.0, 5001.0, 2)),
        (-900.0, Reading("fresh", 30.0, 0.0, 0)),
        (-1001.0, Reading("stale", 0.0, 0.0, 2)),
    ],
)
def test_each_age_has_its_own_standing(age_ms: float, reading: Reading) -> None:
    assert read_signal(aged(age_ms), RULES, NOW) == reading


def test_a_replica_that_never_spoke_is_neither_idle_nor_busy() -> None:
    reading = read_signal(None, RULES, NOW)
    assert (reading.standing, reading.age_ms, reading.rank) == ("none", None, 2)


def test_a_document_without_signals_ranks_nobody_behind() -> None:
    document = load_document(small_document()).document
    assert signal_rules(document) is None
    assert read_signal(aged(0), None, NOW) == Reading("unused", 0.0, None, 0)


def test_each_standing_has_its_limit() -> None:
    limits = {s: limit_under(s, 9, 24, RULES) for s in ("fresh", "held", "stale", "none")}
    assert limits == {"fresh": 9, "held": 9, "stale": 24, "none": 2}
    assert limit_under("unused", 24, 24, None) == 24


def test_the_documents_bounds_are_milliseconds() -> None:
    declared = {"fresh": "2s", "hold": "7s", "penalty": "80ms", "floor_per_replica": 3}
    document = load_document(small_document(admission__signals=declared)).document
    assert signal_rules(document) == SignalRules(2000.0, 7000.0, 80.0, 3)


@given(st.floats(0, 1e7), st.floats(0, 1e7))
def test_an_older_signal_never_ranks_before_a_younger_one(one: float, other: float) -> None:
    young, old = sorted((one, other))
    assert read_signal(aged(young), RULES, NOW).rank <= read_signal(aged(old), RULES, NOW).rank

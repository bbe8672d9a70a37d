"""Which evidence speaks for a cell, and why other evidence does not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.document.load import load_document
from orchid.engine.verdict.evidence import Book, Item, Kind, Silence
from orchid.engine.verdict.result import Verdict
from orchid.engine.verdict.violations import Delivered, judge
from tests.reference_document import changed

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MANIFEST = "sha256:" + "1" * 64
DIMS = {"task": "assistant", "tenant_class": "standard"}


def item(**changes: Any) -> Item:
    plain: dict[str, Any] = {
        "kind": Kind.FROZEN_SUITE,
        "suite": "tasks",
        "suite_version": "1",
        "route": "full",
        "manifest": MANIFEST,
        "where": {},
        "n": 1000,
        "mean": 0.93,
        "spread": 0.1,
        "violations": 0,
        "measured_at": NOW - timedelta(days=1),
        "push": 1,
    } | changes
    return Item(digest=str(sorted(plain.items(), key=str)), **plain)


def book(*items: Item, **evidence: Any) -> Book:
    gates = {"evidence": evidence} if evidence else {}
    return Book(items, load_document(changed(gates=gates)).document, NOW)


def speaker(*items: Item, dims: dict[str, str] = DIMS, **evidence: Any) -> Item | None:
    return book(*items, **evidence).speaker(dims, "full", MANIFEST)


def why(*items: Item, dims: dict[str, str] = DIMS, **evidence: Any) -> str:
    return book(*items, **evidence).why_silent(dims, "full", MANIFEST)


def test_the_most_specific_speaks_and_of_equals_the_one_pushed_last() -> None:
    wide, narrow = item(), item(where={"task": "assistant"}, mean=0.8)
    later = item(where={"task": ("assistant", "search")}, suite="other", push=2)
    assert speaker(wide, narrow) is narrow
    assert speaker(wide, narrow, later) is later
    assert speaker(wide, item(where={"task": "search"})) is wide


@pytest.mark.parametrize("changes", [{"route": "compact"}, {"manifest": "sha256:" + "2" * 64}])
def test_another_model_says_nothing_of_this_one(changes: dict[str, str]) -> None:
    assert speaker(item(**changes)) is None
    assert why(item(**changes)) == "nothing measured of this route under this manifest"


@pytest.mark.parametrize("kind", [Kind.ONLINE, Kind.POLICY, Kind.ADVERSARIAL])
def test_what_happened_online_and_what_seeks_violations_clears_no_floor(kind: Kind) -> None:
    found = book(item(kind=kind, n=10**9, mean=1.0))
    assert found.speaker(DIMS, "full", MANIFEST) is None
    assert [one.why for one in found.silent] == [Silence.KIND]
    assert "clears no floor" in found.why_silent(DIMS, "full", MANIFEST)


@pytest.mark.parametrize(("days", "speaks"), [(30, True), (31, False)])
def test_evidence_is_valid_for_thirty_days_unless_the_policy_says_otherwise(
    days: int, speaks: bool
) -> None:
    old = item(measured_at=NOW - timedelta(days=days))
    assert (speaker(old) is old) is speaks
    assert speaker(old, max_age="60d") is old
    assert speaker(old, max_age="7d") is None


def test_a_stale_piece_says_how_old_it_is_and_a_fresh_wider_one_takes_over() -> None:
    old = item(where=DIMS, measured_at=NOW - timedelta(days=45))
    assert why(old) == "its evidence is 45 days old, 30 are allowed"
    wide = item(suite="wide")
    assert speaker(old, wide) is wide


@pytest.mark.parametrize(
    "edition", [{"suite_version": "2"}, {"index_version": "i2"}, {"prompt_version": "p2"}]
)
def test_a_new_edition_voids_the_old_one_in_every_segment(edition: dict[str, str]) -> None:
    before = item(where={"task": "assistant"})
    after = item(where={"task": "search"}, push=2, **edition)
    found = book(before, after)
    assert found.speaker(DIMS, "full", MANIFEST) is None
    assert [(one.item, one.why, one.by) for one in found.silent] == [
        (before, Silence.EDITION, after)
    ]


def test_editions_of_one_set_stand_beside_each_other() -> None:
    assistant = item(where={"task": "assistant"}, prompt_version="a-5")
    search = item(where={"task": "search"}, prompt_version="s-2")
    assert speaker(assistant, search) is assistant
    assert speaker(assistant, search, dims={"task": "search"}) is search


def test_another_suite_or_model_voids_nothing() -> None:
    mine = item()
    others = [
        item(suite="panel", where={"task": "search"}, suite_version="9", push=2),
        item(manifest="sha256:" + "2" * 64, suite_version="9", push=3),
    ]
    assert speaker(mine, *others) is mine


def test_a_later_run_of_the_same_cell_takes_its_place() -> None:
    first, again = item(), item(mean=0.5, push=2)
    found = book(again, first)
    assert found.current == [again]
    assert found.silent[0].why is Silence.PUSH


@pytest.mark.parametrize(
    ("measured", "traffic", "speaks"),
    [
        ("", "compact_fallback", True),
        ("steady", None, True),
        ("normal", "steady", True),
        ("steady", "compact_fallback", False),
        ("compact_fallback", "compact_fallback", True),
        ("compact_fallback", "normal", False),
        ("compact_fallback", None, False),
    ],
)
def test_evidence_of_a_load_state_speaks_for_that_state_alone(
    measured: str, traffic: str | None, speaks: bool
) -> None:
    dims = DIMS | ({"load_state": traffic} if traffic else {})
    assert (speaker(item(load_state=measured), dims=dims) is not None) is speaks
    if not speaks:
        assert f"load state {measured}" in why(item(load_state=measured), dims=dims)


def test_kinds_that_the_policy_requires_have_to_be_there_and_fresh() -> None:
    score, policy = item(), item(kind=Kind.POLICY, suite="red-team")
    needs: dict[str, Any] = {"kinds_required": ["policy"]}
    assert speaker(score, **needs) is None
    assert why(score, **needs) == "no evidence in force of kind policy"
    assert speaker(score, policy, **needs) is score
    old = item(kind=Kind.POLICY, suite="red-team", measured_at=NOW - timedelta(days=31))
    assert speaker(score, old, **needs) is None


def test_violations_hold_however_old_until_a_later_run_is_clean() -> None:
    bad = item(kind=Kind.POLICY, suite="red-team", violations=2, measured_at=NOW - timedelta(400))
    clean = item(kind=Kind.POLICY, suite="red-team", push=2)
    assert book(bad).found(DIMS, "full", MANIFEST) == (bad,)
    assert book(bad, clean).found(DIMS, "full", MANIFEST) == ()
    assert book(bad).found(DIMS, "compact", MANIFEST) == ()


def test_what_was_seen_online_is_counted_in_the_traffic_and_not_again() -> None:
    assert book(item(kind=Kind.ONLINE, violations=3)).found(DIMS, "full", MANIFEST) == ()


def test_a_violation_that_a_suite_found_fails_the_gate_among_clean_responses() -> None:
    bad = item(kind=Kind.POLICY, suite="red-team", violations=2, where={"task": "assistant"})
    result = judge("", Delivered(1_000_000, 0, 200, (bad,)), 0)
    assert (result.verdict, result.value, result.margin) == (Verdict.FAIL, "2", "-2")
    assert "2 found by red-team 1 in full (task=assistant)" in result.message


def test_suites_that_overlap_are_not_added_up() -> None:
    found = tuple(item(suite=name, violations=2) for name in ("a", "b"))
    assert judge("", Delivered(1000, 1, 200, found), 2).verdict is Verdict.PASS


items = st.builds(
    item,
    where=st.sampled_from([{}, {"task": "assistant"}, dict(DIMS), {"task": "search"}]),
    kind=st.sampled_from(list(Kind)),
    suite=st.sampled_from(["a", "b"]),
    suite_version=st.sampled_from(["1", "2"]),
    push=st.integers(1, 3),
    mean=st.sampled_from([0.2, 0.9]),
    violations=st.integers(0, 1),
)


@given(st.lists(items, max_size=8), st.randoms())
def test_the_order_in_which_evidence_is_read_changes_nothing(some: list[Item], random: Any) -> None:
    shuffled = random.sample(some, len(some))
    one, other = book(*some), book(*shuffled)
    assert one.speaker(DIMS, "full", MANIFEST) == other.speaker(DIMS, "full", MANIFEST)
    assert one.found(DIMS, "full", MANIFEST) == other.found(DIMS, "full", MANIFEST)
    assert {i.digest for i in one.current} == {i.digest for i in other.current}


@given(st.lists(items, max_size=8))
def test_something_speaks_or_there_are_words_for_why_not(some: list[Item]) -> None:
    found = book(*some)
    silent = found.speaker(DIMS, "full", MANIFEST) is None
    assert bool(found.why_silent(DIMS, "full", MANIFEST)) is silent

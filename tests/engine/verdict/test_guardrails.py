"""Guardrails: exact figures of a window, which hold, fail, or say that they can't tell."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from ingest.selectors.rollups import RollupRow
from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.guardrails import guardrail_results, windows_of_guardrails
from orchid.engine.verdict.result import Result, Verdict
from tests.engine.measured_cells import fields, figure

START = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW = 900_000


def guarded(demo: tuple[LoadedDocument, LoadedDocument], **rail: Any) -> PolicyDocument:
    given = {"measure": "fallback_share", "max": 0.2, "window": "15m", **rail}
    document = demo[1].document.model_dump(by_alias=True, mode="json")
    document["gates"]["guardrails"] = [given]
    return PolicyDocument.model_validate(document)


def counted(**changes: Any) -> Counted:
    figures = changes.pop("figures", {})
    row = RollupRow(START, {"task": "assistant"}, "full", "m", fields(**changes), figures=figures)
    row.teu, row.records = Decimal(1), 100
    return Counted.of_rows([row], START, START + timedelta(minutes=15), timedelta(minutes=1))


def judged(document: PolicyDocument, window: Counted | None) -> Result:
    (result,) = guardrail_results(document, {} if window is None else {WINDOW: window})
    return result


@pytest.mark.parametrize(
    ("fallback", "verdict"),
    [(200, Verdict.PASS), (201, Verdict.FAIL), (0, Verdict.PASS)],
)
def test_a_guardrail_holds_up_to_its_bound(
    demo: tuple[LoadedDocument, LoadedDocument], fallback: int, verdict: Verdict
) -> None:
    result = judged(guarded(demo), counted(n=1000, fallback=fallback))
    assert (result.verdict, result.metric) == (verdict, "guardrail:fallback_share")
    assert result.value == str(Decimal(fallback) / 1000)


def test_a_bound_is_the_number_that_was_written(
    demo: tuple[LoadedDocument, LoadedDocument],
) -> None:
    """The float 0.1 is a little over a tenth, 0.3 a little under three."""
    document = guarded(demo, measure="completion_share", min=0.3, max=None)
    assert judged(document, counted(n=1000, completed=300)).verdict is Verdict.PASS


def test_under_the_minimum_it_says_nothing(demo: tuple[LoadedDocument, LoadedDocument]) -> None:
    result = judged(guarded(demo), counted(n=199, fallback=199))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert (result.needs, "199 of 200" in result.message) == (1, True)


def test_what_was_not_counted_is_no_data(demo: tuple[LoadedDocument, LoadedDocument]) -> None:
    document = guarded(demo, measure="queue_dwell_max_ms", max=900)
    assert judged(document, counted(n=1000)).verdict is Verdict.NO_DATA
    assert judged(document, None).verdict is Verdict.NO_DATA
    waited = counted(n=1000, figures={"queue_ms": figure("queue_ms", *[901.0] * 200)})
    assert judged(document, waited).verdict is Verdict.FAIL


def test_a_guardrail_of_a_segment_reads_its_requests_alone(
    demo: tuple[LoadedDocument, LoadedDocument],
) -> None:
    document = guarded(demo, where={"task": "other"})
    result = judged(document, counted(n=1000, fallback=999))
    assert (result.verdict, result.segment) == (Verdict.NO_DATA, "task=other")


def test_every_window_that_has_to_be_counted_is_told_once(
    demo: tuple[LoadedDocument, LoadedDocument],
) -> None:
    assert windows_of_guardrails(guarded(demo)) == (WINDOW,)
    assert windows_of_guardrails(demo[0].document) == ()

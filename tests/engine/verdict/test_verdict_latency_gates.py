"""Several latency gates hold together, each by a verdict of its own over its own requests."""

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from orchid.engine import outcome
from orchid.engine.clocks import latency_bounds
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.histogram import bucket_of
from orchid.engine.rollup import Figure
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.evidence import Book
from orchid.engine.verdict.gates import Observed, judge
from orchid.engine.verdict.result import Result, Verdict
from orchid.engine.wire.records import AttemptRecord, DecisionRecord, RequestRecord
from tests.small_policy import small_document

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass
class Step:
    """One step's counts, as ingest sums them up from records."""

    step_at: datetime = AT
    dims: dict[str, str] = field(default_factory=dict)
    route: str = "full"
    manifest: str = ""
    counters: dict[str, int] = field(default_factory=dict)
    histogram: dict[int, int] = field(default_factory=dict)
    within: dict[str, int] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)
    records: int = 0

    def add(self, record: RequestRecord, document: PolicyDocument) -> None:
        found = outcome.populations(record, document)
        for name in found:
            self.counters[name] = self.counters.get(name, 0) + 1
        for bound in latency_bounds(document):
            if bound.population in found:
                self.judged[bound.key] = self.judged.get(bound.key, 0) + 1
        for key in outcome.within(record, document, latency_bounds(document)):
            self.within[key] = self.within.get(key, 0) + 1
        latency = outcome.latency_ms(record, document)
        if latency is not None:
            bucket = bucket_of(latency)
            self.histogram[bucket] = self.histogram.get(bucket, 0) + 1


@pytest.fixture(scope="module")
def document() -> PolicyDocument:
    gates = small_document()["gates"]
    gates["first_token_p95_ms"] = {"max": 100, "window": "1h"}
    gates["time_per_output_token_p95_ms"] = {"max": 40, "window": "1h"}
    gates["inter_token_gap_p95_ms"] = {"max": 200, "window": "1h"}
    return load_document(small_document(gates=gates)).document


def record(**changes: Any) -> RequestRecord:
    """Completes in 500 ms, its first token after 60 and 11 more at 40 ms each."""
    given: dict[str, Any] = {
        "request_id": "r",
        "product": "orchid-small",
        "arrived_at": AT,
        "outcome": "completed",
        "class_": "chat",
        "decision": DecisionRecord(action="admit", route="full"),
        "attempts": (AttemptRecord(attempt_id="a", route="full"),),
        "completion_ms": 500.0,
        "first_token_ms": 60.0,
        "max_gap_ms": 90.0,
        "output_tokens": 12,
    }
    return RequestRecord(**{**given, **changes})


def results(document: PolicyDocument, *records: RequestRecord) -> dict[str, Result]:
    step = Step()
    for one in records:
        step.add(one, document)
    hour = Counted.of_rows([step], AT, AT + timedelta(hours=1), timedelta(minutes=1))
    judged = judge(document, Observed(hour, hour, Decimal(3600), Book((), document, AT)))
    return {result.metric: result for result in judged.results if not result.segment}


def test_each_clock_is_judged_by_itself(document: PolicyDocument) -> None:
    found = results(document, *[record(max_gap_ms=250.0)] * 500)
    assert found["completion_p95_ms"].verdict is Verdict.PASS
    assert found["first_token_p95_ms"].verdict is Verdict.PASS
    assert found["time_per_output_token_p95_ms"].verdict is Verdict.PASS
    assert found["inter_token_gap_p95_ms"].verdict is Verdict.FAIL


def test_an_answer_of_one_token_is_in_no_share_of_the_time_between_tokens(
    document: PolicyDocument,
) -> None:
    single = record(output_tokens=1, max_gap_ms=None)
    found = results(document, *[record()] * 300, *[single] * 500)
    assert found["completion_p95_ms"].n == 800
    assert found["time_per_output_token_p95_ms"].n == 300
    assert found["inter_token_gap_p95_ms"].n == 300
    assert found["inter_token_gap_p95_ms"].verdict is Verdict.PASS


def test_a_share_without_requests_has_no_data_and_no_number(document: PolicyDocument) -> None:
    found = results(document, *[record(output_tokens=1)] * 300)
    empty = found["time_per_output_token_p95_ms"]
    assert (empty.verdict, empty.value, empty.n) == (Verdict.NO_DATA, None, 0)
    assert empty.message.startswith("no data")


def test_what_never_answered_has_a_reason_in_place_of_its_percentile(
    document: PolicyDocument,
) -> None:
    lost = record(outcome="timed_out", completion_ms=None)
    found = results(document, *[record()] * 200, *[lost] * 100)
    completion = found["completion_p95_ms"]
    assert (completion.verdict, completion.value) == (Verdict.FAIL, None)
    assert "within" in completion.message
    written = json.dumps([asdict(result) for result in found.values()], allow_nan=False)
    assert "NaN" not in written

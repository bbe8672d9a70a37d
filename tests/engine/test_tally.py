"""Sums over many lines are those of every record by itself."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine import outcome
from orchid.engine.clocks import LatencyBound, latency_bounds
from orchid.engine.document.load import LoadedDocument, load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.histogram import bucket_of
from orchid.engine.rollup import Figure, RollupKey, Sums, TenantKey, parts_of, step_of
from orchid.engine.tally import Tally
from orchid.engine.timing import deadline_ms as class_deadline_ms
from orchid.engine.waste import wasted, work_of
from orchid.engine.wire.lines import read_lines
from orchid.engine.wire.records import (
    AttemptRecord,
    DecisionRecord,
    Rejected,
    RequestRecord,
    encode_record,
)

BOUNDS = (LatencyBound("completion", 1500.0), LatencyBound("time_per_output_token", 4.0))
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
Policies = dict[str, LoadedDocument]
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def policies(demo: tuple[LoadedDocument, LoadedDocument]) -> Policies:
    """The demo's two, and one that pays for two routes by their tokens."""
    text = (EXAMPLES / "orchid-demo/generation-1.yaml").read_bytes()
    table = "input_usd_per_million: '2.50', output_usd_per_million: '10.0000001'"
    cached = "cached_input_usd_per_million: '1.25', cache_write_usd_per_million: '3.75'"
    prices = f"\nprices: {{elsewhere: {{{table}}}, compact: {{{table}, {cached}}}}}\n"
    priced = load_document(text + prices.encode())
    return {one.digest: one for one in (*demo, priced)}


def maybe(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | of


MS = st.sampled_from([0.0, 0.0005, 4.0, 50.0, 100.0005, 1500.0, 1500.1, 1e9])
AMOUNT = st.sampled_from(["0", "0.10", "0.0000005", "1e3", "39.4875", "999999999999999.9999999"])
ATTEMPT = st.fixed_dictionaries(
    {
        "route": st.sampled_from(["full", "compact", "cached", None]),
        "model": st.sampled_from(["full", "elsewhere", "nowhere", None]),
        "manifest": st.sampled_from(["sha256:other", None]),
        "external_calls": maybe(st.integers(0, 2)),
        "cost_usd": maybe(AMOUNT.map(Decimal)),
        "external_usd": maybe(AMOUNT.map(Decimal)),
        "queue_ms": maybe(MS),
        "live_token_ms": maybe(MS),
        "transfer_bytes": maybe(st.sampled_from([0, 7, 1 << 50])),
        "preemptions": maybe(st.integers(0, 3)),
        "cancel_requested_ms": maybe(MS),
        "released_ms": maybe(MS),
        "teu_predicted": maybe(AMOUNT.map(Decimal)),
        "teu_observed": maybe(AMOUNT.map(Decimal)),
        "teu_prefill_observed": maybe(AMOUNT.map(Decimal)),
        "status": st.sampled_from([None, "completed", "failed", "cancelled", "truncated"]),
        "accelerator_ms": maybe(MS),
        "accelerator_prefill_ms": maybe(MS),
        "accelerator_decode_ms": maybe(MS),
        "useful_tokens": maybe(st.integers(0, 3)),
        "interrupted_after_tokens": maybe(st.integers(0, 3)),
        "padded_tokens": maybe(st.integers(0, 3)),
        "kv_blocks_allocated": maybe(st.integers(0, 3)),
        "kv_blocks_recomputed": maybe(st.integers(0, 3)),
    }
)
DECISION = st.builds(
    DecisionRecord,
    action=st.sampled_from(["admit", "fallback", "bound", "defer", "reject"]),
    route=st.sampled_from(["full", "compact", None]),
    reason=st.sampled_from(["requested", None]),
    teu=maybe(AMOUNT.map(Decimal)),
    output_tokens=maybe(st.integers(0, 9)),
    live_tokens=maybe(st.integers(0, 9)),
    queue_ms=maybe(MS),
    prefill_ms=maybe(MS),
    decode_ms=maybe(MS),
)
RECORD = st.fixed_dictionaries(
    {
        "outcome": st.sampled_from(["completed", "bounded", "failed", "cancelled", "rejected"]),
        "class_": st.sampled_from(["short_assistant", "structured_extraction", "unheard_of"]),
        "segment": st.sampled_from(
            [{}, {"task": "assistant", "tenant_class": "premium"}, {"task": "extraction"}]
        ),
        "publication": st.sampled_from([1, 2, None]),
        "cohort": st.sampled_from(["incumbent", "candidate"]),
        "tenant": st.sampled_from(["t-1", "t-2", "caf\u00e9", None]),
        "eligible": st.sampled_from([True, False, None]),
        "policy_valid": st.sampled_from([True, False, None]),
        "schema_valid": st.sampled_from([True, None]),
        "first_token_ms": maybe(MS),
        "max_gap_ms": maybe(MS),
        "completion_ms": maybe(MS),
        "deadline_ms": maybe(MS),
        "input_tokens": maybe(st.integers(0, 9)),
        "cached_input_tokens": maybe(st.integers(0, 9)),
        "output_tokens": maybe(st.sampled_from([0, 1, 2, 351])),
        "decision": maybe(DECISION),
        "after": st.sampled_from([0, 4_999_999, 5_000_000, 61_000_001]),
        "cache_write_tokens": maybe(st.integers(0, 9)),
        "input_convention": st.sampled_from([None, "includes_cached", "excludes_cached"]),
        "generation": st.integers(0, 2),
        "attempts": st.lists(ATTEMPT, max_size=3),
    }
)


def made(policies: Policies, given: Mapping[str, Any], number: int) -> RequestRecord:
    fields = dict(given)
    attempts = fields.pop("attempts")
    return RequestRecord(
        request_id=f"r{number}",
        product="orchid-demo",
        arrived_at=BEGIN + timedelta(microseconds=fields.pop("after")),
        digest=list(policies)[fields.pop("generation")],
        attempts=tuple(AttemptRecord(attempt_id=f"a{n}", **one) for n, one in enumerate(attempts)),
        **fields,
    )


def dims_of(segment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((k, "other" if v == "extraction" else v) for k, v in segment.items()))


def tenant_of(tenant: str) -> str:
    return "other" if tenant == "t-2" else tenant


def tally_of(policies: Policies) -> Tally:
    documents = {digest: one.document for digest, one in policies.items()}
    return Tally(documents, BOUNDS, dims_of, tenant_of)


def by_itself(policies: Policies, record: RequestRecord) -> Sums:
    document = policies[record.digest or ""].document
    populations = outcome.populations(record, document)
    bounds = {*BOUNDS, *latency_bounds(document)}
    sums = Sums(records=1)
    sums.counters.update(populations)
    sums.judged.update(one.key for one in bounds if one.population in populations)
    sums.within.update(outcome.within(record, document, bounds))
    if (taken := outcome.latency_ms(record, document)) is not None:
        sums.histogram[bucket_of(taken)] += 1
    if record.decision is not None and record.decision.teu is not None:
        sums.add_teu(record.decision.teu)
    sums.add_usd(outcome.priced_usd(record, document))
    for name in ("first_token_ms", "max_gap_ms"):
        sums.observe(name, getattr(record, name))
    for name in ("input_tokens", "cached_input_tokens", "output_tokens"):
        sums.observe(name, getattr(record, name))
    for name in ("queue_ms", "live_token_ms", "transfer_bytes", "preemptions", "external_calls"):
        observe_attempts(sums, name, [getattr(one, name) for one in record.attempts])
    for name in ("teu_predicted", "teu_observed"):
        observe_attempts(sums, name, [getattr(one, name) for one in record.attempts])
    taken_to_release = [
        max(0.0, one.released_ms - one.cancel_requested_ms)
        for one in record.attempts
        if one.released_ms is not None and one.cancel_requested_ms is not None
    ]
    observe_attempts(sums, "cancel_to_release_ms", taken_to_release)
    add_work(sums, record, document)
    return sums


def sooner_deadline_ms(record: RequestRecord, document: PolicyDocument) -> float:
    declared = float(class_deadline_ms(document, record.class_))
    return declared if record.deadline_ms is None else min(record.deadline_ms, declared)


def add_work(sums: Sums, record: RequestRecord, document: PolicyDocument) -> None:
    for place, name in enumerate(("accelerator_ms", "work_teu")):
        told = [w for one in record.attempts if (w := work_of(one)[place]) is not None]
        if told:
            sums.figures[name] = Figure(1, sum(told), sum(told))
    sums.observe("attempts", len(record.attempts) or None)
    for cause, work in wasted(record, document).items():
        for unit, parts in (("ms", work.ms), ("teu", work.teu)):
            if parts:
                sums.figures[f"wasted_{cause}_{unit}"] = Figure(1, parts, parts)
    if (decided := record.decision) is not None:
        sums.observe("output_tokens_predicted", decided.output_tokens)
        sums.observe("live_token_ms_predicted", reserved_live_token_ms(decided))


def reserved_live_token_ms(decided: DecisionRecord) -> float | None:
    held = (decided.queue_ms, decided.prefill_ms, decided.decode_ms)
    if decided.live_tokens is None or None in held:
        return None
    return decided.live_tokens * sum(one for one in held if one is not None)


def observe_attempts(sums: Sums, name: str, values: list[Any]) -> None:
    told = [parts_of(name, value) for value in values if value is not None]
    if told:
        sums.figures[name] = Figure(1, sum(told), sum(told))


def expected(
    policies: Policies, records: list[RequestRecord]
) -> tuple[dict[RollupKey, Sums], dict[TenantKey, Sums]]:
    by_key: dict[RollupKey, Sums] = defaultdict(Sums)
    by_tenant: dict[TenantKey, Sums] = defaultdict(Sums)
    for record in records:
        digest = record.digest or ""
        at = step_of(record.arrived_at, policies[digest].document.gates.step_s)
        stream = (at, record.publication, digest, record.cohort)
        cell = (outcome.served_route(record), outcome.served_manifest(record))
        by_key[RollupKey(*stream, dims_of(record.segment), *cell)].merge(
            by_itself(policies, record)
        )
        if record.tenant:
            key = TenantKey(*stream, tenant_of(record.tenant))
            by_tenant[key].merge(by_itself(policies, record))
    return by_key, by_tenant


def added(tally: Tally, records: list[RequestRecord]) -> None:
    rejected: list[Rejected] = []
    for lines in read_lines(b"\n".join(map(encode_record, records)), rejected):
        tally.add(lines)
    assert not rejected


@settings(max_examples=80, deadline=None)
@given(drawn=st.lists(RECORD, max_size=25), cut=st.integers(0, 25))
def test_a_tally_is_the_sum_of_every_record_by_itself(
    policies: Policies, drawn: list[dict[str, Any]], cut: int
) -> None:
    records = [made(policies, one, number) for number, one in enumerate(drawn)]
    tally = tally_of(policies)
    added(tally, records[:cut])
    added(tally, records[cut:])
    assert tally.sums() == expected(policies, records)
    chosen = [number % 3 == 0 for number in range(len(records))]
    some = [record for record, keep in zip(records, chosen, strict=True) if keep]
    assert tally.sums(np.array(chosen, dtype=np.bool_)) == expected(policies, some)


@settings(max_examples=30, deadline=None)
@given(drawn=st.lists(RECORD, max_size=25))
def test_each_line_is_told_its_populations_and_its_deadline(
    policies: Policies, drawn: list[dict[str, Any]]
) -> None:
    records = [made(policies, one, number) for number, one in enumerate(drawn)]
    tally = tally_of(policies)
    rejected: list[Rejected] = []
    told: list[tuple[int, float]] = []
    for lines in read_lines(b"\n".join(map(encode_record, records)), rejected):
        found = tally.add(lines)
        told += zip(found.populations.tolist(), found.deadline_ms.tolist(), strict=True)
    for record, (bits, deadline_ms) in zip(records, told, strict=True):
        document = policies[record.digest or ""].document
        assert outcome.names_of(bits) == outcome.populations(record, document)
        assert deadline_ms == sooner_deadline_ms(record, document)

import json
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from ingest import selectors, tasks
from ingest.models import EngineAttempt, EngineSpan, TouchedTraces
from ingest.services import derived, replacing, span_attempts
from policies.models import Product
from tests.formats.otlp_bodies import body, named_pairs, wire_span
from tests.ingest.ingest_cast import Sender, derive_waiting

pytestmark = pytest.mark.django_db

JSON = "application/json"
VOLATILE = ("id", "received_at", "source_id")


def _send(sender: Sender, *spans: dict[str, Any]) -> None:
    assert sender.post("/v1/traces", body(*spans), media=JSON).json() == {}


def _bodies(recordings: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((recordings / "run2/otlp").iterdir())]


def _spans(recordings: Path) -> list[dict[str, Any]]:
    return [
        span
        for sent in _bodies(recordings)
        for group in json.loads(sent)["resourceSpans"]
        for scope in group["scopeSpans"]
        for span in scope["spans"]
    ]


def _attempts() -> list[dict[str, Any]]:
    fields = [field.attname for field in EngineAttempt._meta.concrete_fields]
    return list(
        EngineAttempt.objects.order_by("key").values(
            *(one for one in fields if one not in VOLATILE)
        )
    )


def _used(number: int, given: int, made: int, parent: int | None = None) -> dict[str, Any]:
    above = {} if parent is None else {"parentSpanId": wire_span(parent)["spanId"]}
    used = {"gen_ai.usage.input_tokens": given, "gen_ai.usage.output_tokens": made}
    return wire_span(number, attributes=named_pairs(used), **above)


@pytest.mark.parametrize("order", [1, -1])
def test_a_recorded_run_over_several_bodies_in_any_order_twice(
    otel: Sender, recordings: Path, product: Product, order: int
) -> None:
    for sent in _bodies(recordings)[::order] * 2:
        assert otel.post("/v1/traces", sent, media=JSON).json() == {}
        derive_waiting()
    assert EngineSpan.objects.count() == 629
    assert EngineAttempt.objects.count() == 232
    roots = EngineAttempt.objects.filter(parent_key="")
    assert roots.count() == 200
    assert roots.filter(composite=True, exclusive_ms__isnull=False).exists()
    seen = selectors.joined(product, list(roots[:5]))
    assert all(one.started_at and one.started_at.year == 2026 for one in seen)
    assert not TouchedTraces.objects.exists()


def test_protobuf_of_a_run_makes_the_same_attempts(
    otel: Sender, recordings: Path, data: Path
) -> None:
    for number in range(5):
        sent = (data / f"otlp/000{number}.converted.pb").read_bytes()
        otel.post("/v1/traces", sent, media="application/x-protobuf")
    derive_waiting()
    by_protobuf = _attempts()
    EngineAttempt.objects.all().delete()
    EngineSpan.objects.all().delete()
    for sent in _bodies(recordings):
        otel.post("/v1/traces", sent, media=JSON)
    derive_waiting()
    assert _attempts() == by_protobuf
    assert len(by_protobuf) == 232


@pytest.mark.parametrize("seed", range(3))
def test_however_spans_are_spread_the_attempts_are_the_same(
    otel: Sender, recordings: Path, seed: int
) -> None:
    spans = [*_spans(recordings)[:150], _used(1, 113, 11), _used(2, 56, 5, 1), _used(3, 57, 6, 1)]
    _send(otel, *spans)
    derive_waiting()
    whole = _attempts()
    EngineAttempt.objects.all().delete()
    EngineSpan.objects.all().delete()
    dice = random.Random(seed)
    dice.shuffle(spans)
    while spans:
        size = dice.randint(1, 60)
        _send(otel, *spans[:size])
        spans = spans[size:]
        if dice.random() < 0.5:
            derive_waiting()
    derive_waiting()
    assert _attempts() == whole


def test_a_request_over_two_bodies_is_one_attempt_with_all_its_phases(
    otel: Sender, recordings: Path
) -> None:
    recorded = json.loads(_bodies(recordings)[1])
    compute, model, root = recorded["resourceSpans"][0]["scopeSpans"][0]["spans"]
    _send(otel, compute)
    derive_waiting()
    assert EngineAttempt.objects.count() == 0
    _send(otel, model)
    derive_waiting()
    assert EngineAttempt.objects.get().frontend_ms is None
    _send(otel, root)
    derive_waiting()
    attempt = EngineAttempt.objects.get()
    assert attempt.frontend_ms == pytest.approx(11.028741)
    assert attempt.compute_ms == pytest.approx(9.88129)
    assert attempt.ending == "answered"


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 1, 3)])
def test_a_parent_with_its_childrens_usage_leaves_two_calls(
    otel: Sender, order: tuple[int, ...]
) -> None:
    spans = {1: _used(1, 113, 11), 2: _used(2, 56, 5, 1), 3: _used(3, 57, 6, 1)}
    for number in order:
        _send(otel, spans[number])
        derive_waiting()
    tokens = EngineAttempt.objects.values_list("input_tokens", "output_tokens")
    assert sorted(tokens) == [(56, 5), (57, 6)]


def test_a_call_inside_a_triton_execution_is_work_of_it(otel: Sender, recordings: Path) -> None:
    recorded = json.loads(_bodies(recordings)[1])
    compute, model, root = recorded["resourceSpans"][0]["scopeSpans"][0]["spans"]
    call = _used(1, 14, 8) | {
        "name": "llm_request",
        "traceId": compute["traceId"],
        "parentSpanId": compute["spanId"],
    }
    _send(otel, call, compute, model, root)
    derive_waiting()
    inner = EngineAttempt.objects.get(system="vllm")
    assert inner.parent_key == EngineAttempt.objects.get(system="triton").key


def test_a_call_that_failed_says_so(otel: Sender, product: Product) -> None:
    _send(otel, _used(1, 5, 0) | {"status": {"code": 2, "message": "a secret"}})
    derive_waiting()
    (seen,) = selectors.joined(product, list(EngineAttempt.objects.all()))
    assert (seen.engine_outcome, seen.attempt.responses) == ("failed", 0)


def test_a_vllm_span_without_counts_is_an_execution_of_unknown_cost(otel: Sender) -> None:
    _send(otel, wire_span(1, name="llm_request"))
    derive_waiting()
    attempt = EngineAttempt.objects.get()
    assert (attempt.system, attempt.input_tokens) == ("vllm", None)


def test_spans_whose_task_was_lost_are_swept_up(
    otel: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    _send(otel, _used(1, 5, 1))
    sent: list[int] = []
    monkeypatch.setattr(tasks.derive_attempts, "delay", sent.append)
    TouchedTraces.objects.update(received_at=timezone.now() - timedelta(seconds=3))
    tasks.sweep()
    for source_pk in sent:
        tasks.derive_attempts(source_pk)
    assert EngineAttempt.objects.count() == 1


def test_bodies_whose_attempts_are_not_worked_out_wait_on_the_sources_page(
    otel: Sender, product: Product
) -> None:
    _send(otel, _used(1, 5, 1))
    _send(otel, _used(2, 5, 1))
    (source,) = selectors.sources(product)
    assert (source.waiting, source.inserted, source.batches) == (2, 2, 2)
    derive_waiting()
    (source,) = selectors.sources(product)
    assert source.waiting == 0


def test_a_derivation_that_the_database_ends_half_way_leaves_all_to_do(
    otel: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    _send(otel, _used(1, 5, 1))
    real = replacing.replace

    def replace_and_die(*arguments: Any) -> None:
        real(*arguments)
        raise OperationalError

    monkeypatch.setattr(derived, "replace", replace_and_die)
    with pytest.raises(OperationalError):
        derive_waiting()
    assert (EngineAttempt.objects.count(), TouchedTraces.objects.count()) == (0, 1)
    monkeypatch.setattr(derived, "replace", real)
    derive_waiting()
    assert (EngineAttempt.objects.count(), TouchedTraces.objects.count()) == (1, 0)


def test_a_trace_that_can_not_be_read_holds_up_no_other(
    otel: Sender, product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = span_attempts.attempts_of

    def choke(spans: Any) -> Any:
        if spans[0].trace_id == "7" * 32:
            raise ZeroDivisionError
        return real(spans)

    monkeypatch.setattr(derived, "attempts_of", choke)
    others = [_used(number, 5, 1) | {"traceId": f"{number}" * 32} for number in range(1, 10)]
    _send(otel, *others)
    derive_waiting()
    assert EngineAttempt.objects.count() == 8
    assert not TouchedTraces.objects.exists()
    (source,) = selectors.sources(product)
    assert "trace 7777" in source.tally.reasons["trace_unread"]["message"]

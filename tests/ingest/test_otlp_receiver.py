import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.conf import settings
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from ingest import selectors
from ingest.models import EngineAttempt, EngineSpan, Source, TouchedTraces
from orchid.formats import otlp
from policies.models import Product
from tests.formats.otlp_bodies import body, named_pairs, wire_span
from tests.ingest.ingest_cast import Sender, derive_waiting

pytestmark = pytest.mark.django_db

JSON = "application/json"
PROTOBUF = "application/x-protobuf"


def _send(sender: Sender, *spans: dict[str, Any]) -> Any:
    return sender.post("/v1/traces", body(*spans), media=JSON)


def _bodies(recordings: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((recordings / "run2/otlp").iterdir())]


def test_one_bad_span_is_named_and_its_neighbours_are_stored(
    otel: Sender, product: Product
) -> None:
    answer = _send(otel, wire_span(1), wire_span(2, spanId="12345"), wire_span(3))
    assert answer.status_code == 200
    partial = answer.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert "span id has 5 characters" in partial["errorMessage"]
    assert EngineSpan.objects.count() == 2
    (source,) = selectors.sources(product)
    assert (source.inserted, source.rejected) == (2, 1)
    assert "span 2 of its body" in source.tally.reasons["span_rejected"]["message"]


def test_a_body_twice_changes_nothing_and_one_new_span_adds_one(
    otel: Sender, product: Product
) -> None:
    first, second, third = (wire_span(number) for number in (1, 2, 3))
    for spans in ([first, second], [first, second], [second, third]):
        assert _send(otel, *spans).json() == {}
    assert EngineSpan.objects.count() == 3
    (source,) = selectors.sources(product)
    assert (source.batches, source.inserted, source.duplicates) == (3, 3, 3)
    assert TouchedTraces.objects.count() == 2


def test_a_span_twice_in_one_body_is_one(otel: Sender) -> None:
    _send(otel, wire_span(1), wire_span(1))
    assert EngineSpan.objects.count() == 1


def test_a_span_of_long_ago_is_stored_once_too(otel: Sender, data: Path) -> None:
    example = (data / "otlp/opentelemetry_proto_example_trace.json").read_bytes()
    for _ in range(2):
        assert otel.post("/v1/traces", example, media=JSON).json() == {}
    _send(otel, wire_span(1, startTimeUnixNano="10"), wire_span(2))
    assert EngineSpan.objects.count() == 3


def test_protobuf_is_answered_in_protobuf(otel: Sender, data: Path) -> None:
    recorded = (data / "otlp/0001.converted.pb").read_bytes()
    answer = otel.post("/v1/traces", recorded, media=PROTOBUF)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, PROTOBUF)
    assert not ExportTraceServiceResponse.FromString(answer.content).HasField("partial_success")
    derive_waiting()
    assert EngineAttempt.objects.get().attempt_id == "run2-2-00060"


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress), ("zstd", zstandard.ZstdCompressor().compress)],
)
def test_a_packed_body_is_unpacked(
    otel: Sender, recordings: Path, encoding: str, packed: Any
) -> None:
    sent = packed(_bodies(recordings)[1])
    otel.post("/v1/traces", sent, media=JSON, **{"Content-Encoding": encoding})
    assert EngineSpan.objects.count() == 3


def test_text_of_a_span_is_not_stored_and_counted(otel: Sender, product: Product) -> None:
    _send(otel, wire_span(1, attributes=named_pairs({"gen_ai.prompt": "a secret"})))
    row = EngineSpan.objects.get()
    assert otlp.unpacked(bytes(row.body)).attributes == {}
    assert b"secret" not in bytes(row.body)
    assert selectors.sources(product)[0].tally.dropped_text == 1


@pytest.mark.parametrize(
    ("sent", "media", "status", "code"),
    [
        (b"{", JSON, 400, "not_otlp"),
        (b"\xff\xff", PROTOBUF, 400, "not_otlp"),
        (b"{}", "text/plain", 415, "unsupported_media"),
    ],
)
def test_what_is_no_otlp_is_refused_whole(
    otel: Sender, sent: bytes, media: str, status: int, code: str
) -> None:
    answer = otel.post("/v1/traces", sent, media=media)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_an_empty_body_is_taken_and_shows_that_its_sender_lives(
    otel: Sender, product: Product
) -> None:
    assert otel.post("/v1/traces", b"{}", media=JSON).json() == {}
    assert Source.objects.get(product=product, kind="otlp").last_seen_at is not None


def test_a_credential_for_no_product_or_none_at_all_stores_nothing(
    otel: Sender, client: Any
) -> None:
    assert client.post("/v1/traces", b"{}", JSON).status_code == 401
    assert otel.post("/v1/traces?product=other", b"{}", media=JSON).status_code == 403


def test_a_sender_whose_spans_pile_up_is_asked_to_wait(otel: Sender) -> None:
    _send(otel, wire_span(1))
    source = Source.objects.get(kind="otlp")
    more = settings.INBOX.product_batches
    TouchedTraces.objects.bulk_create(
        [TouchedTraces(source=source, trace_ids=bytes(16)) for _ in range(more)]
    )
    answer = _send(otel, wire_span(2))
    assert (answer.status_code, answer.json()["code"]) == (429, "inbox_full")
    assert int(answer.headers["Retry-After"]) > 0
    assert EngineSpan.objects.count() == 1


def test_a_recorded_span_without_ids_is_named_and_with_ids_it_is_read(
    otel: Sender, data: Path
) -> None:
    recorded = json.loads((data / "otlp/vllm_0_29_llm_request.json").read_bytes())
    answer = otel.post("/v1/traces", json.dumps(recorded).encode(), media=JSON)
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert "trace id is missing" in answer.json()["partialSuccess"]["errorMessage"]
    (span,) = recorded["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span |= {"traceId": "1" * 32, "spanId": "2" * 16}
    assert otel.post("/v1/traces", json.dumps(recorded).encode(), media=JSON).json() == {}
    derive_waiting()
    attempt = EngineAttempt.objects.get()
    assert (attempt.system, attempt.attempt_id) == ("vllm", "req-vllm-029-001")
    assert (attempt.input_tokens, attempt.output_tokens) == (14, 8)
    assert attempt.request_ms == pytest.approx(253.59678268432617)
    assert attempt.frontend_ms == pytest.approx(254.922392)
    assert attempt.first_token_ms == pytest.approx(115.54598808288574)
    assert attempt.queue_ms == pytest.approx(0.0545890070497989)

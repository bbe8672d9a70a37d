import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from ingest import selectors
from ingest.models import EngineAttempt, EngineSpan
from policies.models import Product
from tests.ingest.ingest_cast import Sender

pytestmark = pytest.mark.django_db

JSON = "application/json"
PROTOBUF = "application/x-protobuf"


def _span(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": f"eee19b7ec3c1b{number:03x}",
        "name": "s",
        "startTimeUnixNano": "10",
        "endTimeUnixNano": "30",
        **changes,
    }


def _send(sender: Sender, *spans: dict[str, Any]) -> Any:
    body = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    return sender.post("/v1/traces", json.dumps(body).encode(), media=JSON)


def _bodies(recordings: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((recordings / "run2/otlp").iterdir())]


def test_one_bad_span_is_named_and_its_neighbours_are_stored(otel: Sender) -> None:
    answer = _send(otel, _span(1), _span(2, spanId="12345"), _span(3))
    assert answer.status_code == 200
    partial = answer.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert "span id has 5 characters" in partial["errorMessage"]
    assert EngineSpan.objects.count() == 2


def test_a_body_twice_changes_nothing_and_one_new_span_adds_one(otel: Sender) -> None:
    for spans in ([_span(1), _span(2)], [_span(1), _span(2)], [_span(2), _span(3)]):
        assert _send(otel, *spans).json() == {}
    assert EngineSpan.objects.count() == 3


def test_protobuf_is_answered_in_protobuf(otel: Sender, data: Path) -> None:
    body = (data / "otlp/0001.converted.pb").read_bytes()
    answer = otel.post("/v1/traces", body, media=PROTOBUF)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, PROTOBUF)
    assert not ExportTraceServiceResponse.FromString(answer.content).HasField("partial_success")
    assert EngineAttempt.objects.get().attempt_id == "run2-2-00060"


def test_gzip_is_unpacked(otel: Sender, recordings: Path) -> None:
    body = gzip.compress(_bodies(recordings)[1])
    otel.post("/v1/traces", body, media=JSON, **{"Content-Encoding": "gzip"})
    assert EngineSpan.objects.count() == 3


@pytest.mark.parametrize("order", [1, -1])
def test_a_recorded_run_over_several_bodies_in_any_order_twice(
    otel: Sender, recordings: Path, product: Product, order: int
) -> None:
    for body in _bodies(recordings)[::order] * 2:
        assert otel.post("/v1/traces", body, media=JSON).json() == {}
    assert EngineSpan.objects.count() == 629
    assert EngineAttempt.objects.count() == 232
    roots = EngineAttempt.objects.filter(parent_key="")
    assert roots.count() == 200
    assert roots.filter(composite=True, exclusive_ms__isnull=False).exists()
    seen = selectors.joined(product, list(roots[:5]))
    assert all(one.started_at and one.started_at.year == 2026 for one in seen)


def test_a_request_over_two_bodies_is_one_attempt_with_all_its_phases(
    otel: Sender, recordings: Path
) -> None:
    body = json.loads(_bodies(recordings)[1])
    compute, model, root = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    _send(otel, compute)
    assert EngineAttempt.objects.count() == 0
    _send(otel, model)
    assert EngineAttempt.objects.get().frontend_ms is None
    _send(otel, root)
    attempt = EngineAttempt.objects.get()
    assert attempt.frontend_ms == pytest.approx(11.028741)
    assert attempt.compute_ms == pytest.approx(9.88129)
    assert attempt.ending == "answered"


def test_text_of_a_span_is_not_stored(otel: Sender) -> None:
    prompt = {"key": "gen_ai.prompt", "value": {"stringValue": "a secret"}}
    _send(otel, _span(1, attributes=[prompt]))
    assert EngineSpan.objects.get().attributes == {}


@pytest.mark.parametrize(
    ("body", "media", "status", "code"),
    [
        (b"{", JSON, 400, "not_otlp"),
        (b"\xff\xff", PROTOBUF, 400, "not_otlp"),
        (b"{}", "text/plain", 415, "unsupported_media"),
    ],
)
def test_what_is_no_otlp_is_refused_whole(
    otel: Sender, body: bytes, media: str, status: int, code: str
) -> None:
    answer = otel.post("/v1/traces", body, media=media)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_credential_for_no_product_or_none_at_all_stores_nothing(
    otel: Sender, client: Any
) -> None:
    assert client.post("/v1/traces", b"{}", JSON).status_code == 401
    assert otel.post("/v1/traces?product=other", b"{}", media=JSON).status_code == 403

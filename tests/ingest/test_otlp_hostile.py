"""Nothing that is sent to the receiver is answered with a fault of ours."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.formats.otlp_bodies import body, named_pairs, wire_span
from tests.ingest.ingest_cast import Sender, derive_waiting

pytestmark = pytest.mark.django_db

JSON, PROTOBUF = "application/json", "application/x-protobuf"
ODD: list[Any] = [None, True, -1, 1.5, "", "\x00", "9" * 5_000, 2**80, [], {}, [[]], {"a": {}}]


def _answer(otel: Sender, sent: bytes, media: str) -> int:
    answer = otel.post("/v1/traces", sent, media=media)
    if answer.status_code != 200:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["code"]
    derive_waiting()
    return int(answer.status_code)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_protobuf(otel: Sender, data: Path, seed: int) -> None:
    dice = random.Random(seed)
    whole = (data / "otlp/0001.converted.pb").read_bytes()
    for _ in range(40):
        damaged = bytearray(whole[: dice.randint(1, len(whole))])
        for _ in range(dice.randint(0, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        assert _answer(otel, bytes(damaged), PROTOBUF) in (200, 400)


@pytest.mark.parametrize(
    "field", ["traceId", "spanId", "name", "startTimeUnixNano", "attributes", "events", "status"]
)
def test_odd_values_in_a_span(otel: Sender, field: str) -> None:
    for odd in ODD:
        sent = body(wire_span(1, **{field: odd}), wire_span(2))
        assert _answer(otel, sent, JSON) in (200, 400), odd


def test_odd_values_of_known_attributes(otel: Sender) -> None:
    names = ("gen_ai.usage.input_tokens", "gen_ai.request.id", "triton.model_name")
    kinds = ("stringValue", "intValue", "doubleValue", "boolValue", "arrayValue")
    pairs = [(name, kind) for name in names for kind in kinds]
    for odd in ODD:
        spans = [
            wire_span(number, attributes=[{"key": name, "value": {kind: odd}}])
            for number, (name, kind) in enumerate(pairs)
        ]
        assert _answer(otel, body(*spans), JSON) in (200, 400), odd


def test_nul_in_every_text(otel: Sender) -> None:
    named = {"triton.model_name": "m\x00", "triton.request_id": "r\x00", "triton.trace_id": 1}
    events = [{"name": "REQUEST_START\x00", "timeUnixNano": "5"}]
    execution = wire_span(1, name="n\x00", attributes=named_pairs(named), events=events)
    call = wire_span(
        2, attributes=named_pairs({"gen_ai.request.id": "c\x00", "gen_ai.usage.input_tokens": 1})
    )
    sent = body(execution, call, resource={"service.name": "s\x00"})
    assert _answer(otel, sent, JSON) == 200


def test_endless_nesting_and_a_body_of_another_shape(otel: Sender) -> None:
    for sent in (b"[" * 100_000, b'{"resourceSpans":' * 50_000, b"[]", b"7", b'"x"', b"null"):
        assert _answer(otel, sent, JSON) == 400
    group = b"\x0a\x7f" * 60_000
    assert _answer(otel, group, PROTOBUF) == 400


def test_numbers_at_the_ends_of_their_range(otel: Sender) -> None:
    ends = {"startTimeUnixNano": str(2**63 - 1), "endTimeUnixNano": str(2**63 - 1)}
    tokens = {"gen_ai.usage.input_tokens": 2**63 - 1, "gen_ai.usage.output_tokens": 2**31}
    latency = {"gen_ai.latency.e2e": 1e300, "gen_ai.latency.time_in_queue": -1.0}
    spans = [wire_span(1, **ends), wire_span(2, attributes=named_pairs(tokens | latency))]
    versions = {
        "triton.model_name": "m",
        "triton.model_version": 2**62,
        "triton.trace_id": -(2**62),
    }
    event = [
        {"name": "REQUEST_START", "timeUnixNano": "0"},
        {"name": "REQUEST_END", "timeUnixNano": str(2**63 - 1)},
    ]
    spans.append(wire_span(3, attributes=named_pairs(versions), events=event))
    assert _answer(otel, body(*spans), JSON) == 200
    assert otel.client.get("/api/v1/ingest/attempts").status_code == 200


def test_a_body_larger_than_one_may_be(otel: Sender) -> None:
    assert _answer(otel, json.dumps({"x": "y" * 9_000_000}).encode(), JSON) == 413

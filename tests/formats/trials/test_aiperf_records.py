import json
from typing import Any

import pytest

from orchid.formats.trials import aiperf_records
from orchid.formats.trials.shape import Trial

START = 1_759_813_207_532_900_363


def record(at_ms: float = 0, **changes: Any) -> dict[str, Any]:
    """One line to the documented layout."""
    start = START + int(at_ms * 1e6)
    metadata = {
        "session_num": 45,
        "x_request_id": "7609a2e7",
        "request_start_ns": start,
        "request_end_ns": start + 300_000_000,
        "benchmark_phase": "profiling",
        "was_cancelled": False,
        "cancellation_time_ns": None,
    }
    metrics = {
        "input_sequence_length": {"value": 550, "unit": "tokens"},
        "time_to_first_token": {"value": 100.0, "unit": "ms"},
        "request_latency": {"value": 300.0, "unit": "ms"},
        "output_token_count": {"value": 9, "unit": "tokens"},
        "reasoning_token_count": {"value": 2, "unit": "tokens"},
        "inter_chunk_latency": {"value": [4.8, 5.3], "unit": "ms"},
    }
    return {"metadata": metadata, "metrics": metrics, "error": None} | changes


def cancelled() -> dict[str, Any]:
    one = record(5, metrics={"error_isl": {"value": 550, "unit": "tokens"}})
    one["metadata"]["was_cancelled"] = True
    one["error"] = {"code": 499, "type": "RequestCancellationError", "message": "cancelled: secret"}
    return one


def read(*records: dict[str, Any] | bytes) -> Trial:
    lines = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in records)
    return aiperf_records.read(b"\r\n".join(lines))


def test_reasoning_counts_as_output_and_the_gap_is_over_all_tokens() -> None:
    (point,) = read(record()).points
    assert point.ours["output_sequence_length"].statistics["max"] == 11
    assert point.ours["inter_token_latency"].statistics["max"] == 20.0


def test_the_gap_between_tokens_is_undefined_at_one_token() -> None:
    one = record()
    one["metrics"]["output_sequence_length"] = {"value": 1, "unit": "tokens"}
    (point,) = read(one).points
    assert "inter_token_latency" not in point.ours
    assert point.ours["request_latency"].statistics["max"] == 300


def test_a_cancel_is_no_failure_and_neither_has_a_latency() -> None:
    failed = record(9, error={"code": 500, "type": "InternalServerError", "message": "x"})
    failed["metrics"] = None
    found = read(record(), cancelled(), failed)
    (point,) = found.points
    assert (point.requests, point.cancelled, point.errors) == (3, 1, 1)
    assert point.ours["request_latency"].statistics["count"] == 1
    assert "secret" not in repr(found)


def test_warm_up_requests_are_cut_and_counted() -> None:
    warm = record(0)
    warm["metadata"]["benchmark_phase"] = "warmup"
    (point,) = read(warm, record(1000), record(1300)).points
    assert (point.requests, point.warm_up) == (2, 1)
    assert point.duration_s == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (b'{"metadata": {"request_start_ns": NaN}}', "NaN"),
        (b'{"metadata": {"request_start_ns": -4}}', "request_start_ns"),
        (b'{"metadata"', "truncated"),
        (b'{"metadata": {"request_start_ns": 9, "request_end_ns": 3}}', "before request_start_ns"),
        (
            json.dumps(record(metrics={"request_latency": {"value": 1, "unit": "h"}})).encode(),
            "'h'",
        ),
        (
            json.dumps(record()).encode() + json.dumps(record()).encode(),
            "malformed",
        ),
    ],
)
def test_a_bad_line_is_named_and_loses_no_neighbour(bad: bytes, named: str) -> None:
    found = read(record(), bad, record(10))
    (lost,) = found.lost
    assert found.points[0].requests == 2
    assert lost.line == 2
    assert named in lost.reason

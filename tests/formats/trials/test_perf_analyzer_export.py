import json
from typing import Any

import pytest

from orchid.formats.reading import UnreadableError
from orchid.formats.trials import perf_analyzer_export

START = 1_700_000_000_000_000_000
MS = 1_000_000


def request(at_ms: float, *responses_ms: float, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": START + int(at_ms * MS),
        "request_inputs": {"text_input": "never kept"},
        "response_timestamps": [START + int(one * MS) for one in responses_ms],
        "response_outputs": [{"text_output": "never kept"} for _ in responses_ms],
        **more,
    }


def export(requests: list[Any], mode: str = "concurrency", value: float = 2, **more: Any) -> bytes:
    experiment = {"experiment": {"mode": mode, "value": value}, "requests": requests, **more}
    return json.dumps({"experiments": [experiment], "service_kind": "triton"}).encode()


def test_a_stream_has_a_first_and_a_last_response() -> None:
    found = perf_analyzer_export.read(export([request(0, 30, 50, 90), request(10, 100, 60)]))
    (point,) = found.points
    assert point.label == "concurrency 2"
    assert point.ours["time_to_first_token"].statistics["max"] == 50
    assert point.ours["request_latency"].statistics["max"] == 90
    assert point.ours["inter_response_gap"].statistics["count"] == 3
    assert b"never kept" not in repr(found).encode()


def test_no_response_is_a_failure_since_there_is_no_status() -> None:
    (point,) = perf_analyzer_export.read(export([request(0, 30), request(10)])).points
    assert (point.requests, point.errors) == (2, 1)
    assert "time_to_first_token" not in point.ours


def test_what_lies_outside_the_windows_is_cut_as_warm_up_and_counted() -> None:
    windows = [START + 100 * MS, START + 900 * MS]
    requests = [request(0, 80), request(200, 230), request(950, 999)]
    (point,) = perf_analyzer_export.read(export(requests, window_boundaries=windows)).points
    assert (point.requests, point.warm_up) == (1, 2)
    assert point.ours["request_latency"].statistics["max"] == 30


def test_a_late_sender_shows_in_the_windowed_rate_of_what_was_observed() -> None:
    """Arrivals 0, 0, 0, 20, 40 ms at a configured 50 a second."""
    requests = [request(at, at + 5) for at in (0, 0, 0, 20, 40)]
    found = perf_analyzer_export.read(export(requests, "request_rate", 50))
    (point,) = found.points
    assert found.loop == "open"
    assert point.offered_per_s == 50
    rate = point.ours["send_rate"].statistics
    assert rate["peak in 20 ms"] == 150
    assert rate["mean"] == 100


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"timestamp": "soon"}, "request 1"),
        ({"timestamp": -5}, "request 1"),
        ({"timestamp": START, "response_timestamps": [START - 1]}, "before its request"),
    ],
)
def test_a_bad_request_is_lost_alone_with_its_place(bad: dict[str, Any], named: str) -> None:
    body = export([request(0, 30), bad, request(10, 50)])
    found = perf_analyzer_export.read(body)
    (lost,) = found.lost
    assert found.points[0].requests == 2
    assert named in lost.reason
    assert body[lost.offset :].startswith(json.dumps(bad).encode()[:12])


@pytest.mark.parametrize("body", [b"{}", b'{"experiments": []}', b"[" * 100_000, b'{"experiments"'])
def test_another_document_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableError):
        perf_analyzer_export.read(body)

import json
from collections.abc import Callable
from typing import Any

import pytest

from orchid.formats.reading import UnreadableError
from orchid.formats.trials import console_tables, summaries
from orchid.formats.trials.shape import Trial

Read = Callable[[str], Trial]

#: To the layout of `profile_export_genai_perf.json` and `profile_export_aiperf.json`.
GENAI_PERF: dict[str, Any] = {
    "request_throughput": {"unit": "requests/sec", "avg": 1.99},
    "request_latency": {"unit": "ms", "avg": 499.2, "p50": 514.19, "p95": 550.1, "p99": 548.69},
    "time_to_first_token": {"unit": "ms", "avg": 16.26, "p50": 16.56, "p99": 17.09},
    "inter_token_latency": {"unit": "ms", "avg": 1.85, "p50": 1.92, "p99": 2.02},
    "input_sequence_length": {"unit": "tokens", "avg": 550.06, "p50": 550},
    "output_sequence_length": {"unit": "tokens", "avg": 261.9, "p50": 265},
    "request_count": {"unit": "count", "avg": 100.0},
    "request_goodput": {"unit": "requests/sec", "avg": 1.5},
    "telemetry_stats": {},
    "input_config": {
        "model_names": ["llama-3"],
        "perf_analyzer": {"stimulus": {"concurrency": 4}},
    },
}
AIPERF: dict[str, Any] = {
    "request_latency": {"unit": "ms", "avg": 6550.4, "p50": 5799.9, "p95": 8980.8, "count": 116},
    "benchmark_duration": {"unit": "sec", "avg": 15.2},
    "request_count": {"unit": "requests", "avg": 116.0},
    "was_cancelled": True,
    "error_summary": [
        {"error_details": {"code": 499, "type": "RequestCancellationError"}, "count": 81},
        {"error_details": {"code": 500, "type": "InternalServerError"}, "count": 3},
    ],
    "input_config": {
        "endpoint": {"model_names": ["openai/gpt-oss-20b"]},
        "loadgen": {"request_rate": 25},
    },
}


def read(body: dict[str, Any]) -> Trial:
    return summaries.read(json.dumps(body).encode())


def test_an_aggregate_of_genai_perf_keeps_linear_percentiles_in_milliseconds() -> None:
    found = read(GENAI_PERF)
    (point,) = found.points
    assert (found.tool, found.loop, found.model) == ("GenAI-Perf", "closed", "llama-3")
    assert (point.label, point.requests, point.achieved_per_s) == ("concurrency 4", 100, 1.99)
    latency = point.metrics["request_latency"]
    assert (latency.unit, latency.method) == ("ms", "linear between order statistics")
    assert latency.statistics["p95"] == 550.1
    assert found.told["lengths"] == "mean 550.06 in, 261.9 out"
    assert found.unused == 1


def test_an_aggregate_of_aiperf_tells_cancelled_from_failed() -> None:
    found = read(AIPERF)
    (point,) = found.points
    assert (found.tool, found.loop, found.whole) == ("AIPerf", "open", False)
    assert (point.errors, point.cancelled, point.offered_per_s) == (3, 81, 25)
    assert point.duration_s == 15.2


def test_a_rate_held_back_by_a_concurrency_is_no_open_loop() -> None:
    both = AIPERF | {"input_config": {"loadgen": {"request_rate": 25, "concurrency": 8}}}
    assert read(both).loop == "closed"
    assert read(AIPERF | {"input_config": None}).loop == ""


def test_every_console_table_of_the_documentation_is_read(trial: Read) -> None:
    found = trial("perf/genai_perf_doc_tables_a.csv")
    assert found.tool == "AIPerf and GenAI-Perf"
    assert len(found.points) == 11
    assert sum(len(point.metrics) for point in found.points) == 78
    assert found.lost == []
    first = next(one for one in found.points if one.label == "aiperf README.md table 1")
    assert (first.requests, first.achieved_per_s) == (711, 255.54)
    assert first.metrics["time_to_first_token"].statistics == {
        "mean": 18.26, "min": 11.22, "max": 106.32, "p99": 68.82, "p90": 27.76, "p75": 16.62,
        "std": 12.07,
    }  # fmt: skip
    assert first.metrics["output_token_throughput"].statistics == {"value": 10944.03}


def test_an_exported_table_has_sections_and_its_devices_are_left_alone() -> None:
    body = (
        b"Metric,avg,min,max,p50,p99,std\n"
        b'Request Latency (ms),"6,550.36",4996.25,9383.37,5799.90,9381.63,1171.14\n'
        b"Time to First Token (ms),NaN,382.24,4121.09,787.54,4119.33,1189.99\n"
        b"\nMetric,Value\nRequest Count,200\nBenchmark Duration (sec),15.20\n"
        b"\nEndpoint,GPU,Metric,avg\nlocalhost:9401,0,GPU Power Usage (W),43.37\n"
    )
    found = console_tables.read(body)
    (point,) = found.points
    assert (point.requests, point.duration_s) == (200, 15.2)
    assert point.metrics["request_latency"].statistics["mean"] == 6550.36
    assert "mean" not in point.metrics["time_to_first_token"].statistics
    (lost,) = found.lost
    assert (lost.line, lost.reason.partition(";")[0]) == (3, "time_to_first_token.avg is NaN")
    assert body[lost.offset :].startswith(b"Time to First")


@pytest.mark.parametrize("body", [b"{}", b'{"request_latency": 4}', b'{"request_latency": {}}'])
def test_a_document_without_a_metric_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableError):
        summaries.read(body)

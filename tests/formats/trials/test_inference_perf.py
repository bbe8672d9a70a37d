import json
from collections.abc import Callable

import pytest

from orchid.formats.reading import UnreadableError
from orchid.formats.trials import inference_perf
from orchid.formats.trials.shape import Trial

Read = Callable[[str], Trial]
RUNS = {
    "inference_perf_vllm": ([60, 1884, 3707, 5531, 7355, 9178, 11002], 38717, 81418),
    "inference_perf_vllm_batch_size": ([60, 2278, 4496, 6715, 8933, 11151, 13369], 47002, 98004),
}


@pytest.mark.parametrize("run", RUNS)
def test_every_stage_of_a_run_is_read_from_its_client(trial: Read, run: str) -> None:
    counts, total, _ = RUNS[run]
    stages = [trial(f"perf/{run}/stage_{n}_lifecycle_metrics.json") for n in range(7)]
    assert [one.points[0].requests for one in stages] == counts
    assert [one.points[0].label for one in stages] == [f"stage {n}" for n in range(7)]
    assert all(one.loop == "open" for one in stages)
    assert all(one.points[0].errors == 0 for one in stages)
    assert all(one.lost == [] for one in stages)
    summary = trial(f"perf/{run}/summary_lifecycle_metrics.json").points[0]
    assert (summary.label, summary.requests) == ("all stages", total)
    assert sum(counts) == total


@pytest.mark.parametrize("run", RUNS)
def test_the_same_run_through_prometheus_disagrees_and_both_are_kept(trial: Read, run: str) -> None:
    _, total, scraped = RUNS[run]
    client = trial(f"perf/{run}/summary_lifecycle_metrics.json").points[0]
    server = trial(f"perf/{run}/summary_prometheus_metrics.json").points[0]
    assert (client.requests, server.requests) == (total, scraped)
    ours, theirs = (one.metrics["request_latency"] for one in (client, server))
    assert ours.statistics["p50"] != theirs.statistics["p50"]
    assert ours.method == "linear between order statistics"
    assert theirs.method == "interpolated within histogram buckets"
    assert (ours.clock, theirs.clock) == ("client", "server, scraped by Prometheus")


@pytest.mark.parametrize("run", RUNS)
def test_every_stage_of_a_run_is_read_from_prometheus(trial: Read, run: str) -> None:
    stages = [trial(f"perf/{run}/stage_{n}_prometheus_metrics.json") for n in range(7)]
    assert [one.points[0].label for one in stages] == [f"stage {n}" for n in range(7)]
    assert all(one.loop == "" for one in stages)
    rates = [one.points[0].achieved_per_s for one in stages]
    assert rates == sorted(rates, key=lambda rate: rate or 0)


def test_the_first_stage_keeps_its_figures_in_seconds(trial: Read) -> None:
    point = trial("perf/inference_perf_vllm/stage_0_lifecycle_metrics.json").points[0]
    assert point.offered_per_s == 1.0
    assert point.achieved_per_s == pytest.approx(1.0171575756131475)
    latency = point.metrics["request_latency"]
    assert latency.unit == "s"
    assert latency.statistics["p50"] == 0.4796094944467768
    assert latency.statistics["p99"] == 0.489441333723953
    assert point.metrics["schedule_delay"].statistics["min"] < 0


def test_a_client_that_fell_behind_is_said_to(trial: Read) -> None:
    late = trial("perf/inference_perf_vllm/stage_6_lifecycle_metrics.json")
    assert any("fell behind: it sent 106.55 of 183.38" in note for note in late.notes)
    in_time = trial("perf/inference_perf_vllm/stage_1_lifecycle_metrics.json")
    assert in_time.notes == []


def test_nan_loses_its_own_figure_by_name(raw: Callable[[str], bytes]) -> None:
    body = json.loads(raw("perf/inference_perf_vllm/stage_0_lifecycle_metrics.json"))
    body["successes"]["latency"]["request_latency"]["p99"] = float("nan")
    body["successes"]["latency"]["request_latency"]["p95"] = -1
    found = inference_perf.read(json.dumps(body).encode())
    statistics = found.points[0].metrics["request_latency"].statistics
    assert {"p99", "p95"} & statistics.keys() == set()
    assert statistics["p50"] == 0.4796094944467768
    assert [lost.reason.partition(";")[0] for lost in found.lost] == [
        "request_latency.p95 is -1",
        "request_latency.p99 is nan",
    ]


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"successes": 4}', b"\xff", b'{"a":' * 99_999])
def test_another_document_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableError):
        inference_perf.read(body)

"""Figures of real scrapes with the units that their engines mean."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.formats import engine_metrics, prometheus, triton_statistics
from orchid.formats.engine_metrics import EngineFigure, Histogram, histograms, unit_of
from orchid.formats.prometheus import Increase, increase_over_runs


def figures(path: Path) -> list[EngineFigure]:
    return engine_metrics.of_samples(prometheus.read(path.read_bytes()).records)


def by_name(found: list[EngineFigure]) -> dict[tuple[str, str], EngineFigure]:
    return {(one.name, one.labels): one for one in found}


def test_the_totals_of_eight_models_add_up(data: Path) -> None:
    found = figures(data / "metrics/metrics_triton_eight_models.prom")
    models = {one.model for one in found if one.name == "nv_inference_request_success"}
    assert len(models) == 8
    used = {one.name: one for one in found if one.model == "densenet_onnx:1"}
    total = used["nv_inference_request_duration_us"]
    assert (total.value, total.unit, total.kind) == (1_327_965, "us", "counter")
    parts = ("queue", "compute_input", "compute_infer", "compute_output")
    values = [used[f"nv_inference_{part}_duration_us"].value or 0 for part in parts]
    assert values == [145, 626, 1_326_831, 61]
    assert sum(values) + 302 == total.value


def test_gauges_of_a_gpu_carry_its_label_and_unit(data: Path) -> None:
    found = [
        one
        for one in figures(data / "metrics/metrics_triton_eight_models.prom")
        if one.labels.startswith("gpu_uuid=")
    ]
    units = {one.name: (one.unit, one.model) for one in found}
    assert units["nv_gpu_power_usage"] == ("W", "")
    assert units["nv_gpu_memory_used_bytes"] == ("bytes", "")
    assert units["nv_gpu_utilization"] == ("share", "")


def test_a_histogram_without_a_suffix_is_one(data: Path) -> None:
    (found,) = histograms(figures(data / "metrics/metrics_first_response_histogram.prom"))
    assert (found.model, found.name) == ("my_model:1", "nv_inference_first_response_histogram_ms")
    assert (found.unit, found.count, found.total) == ("ms", 37, 10_771)
    assert found.buckets[:2] == ((100.0, 8), (500.0, 30))
    assert found.mean == pytest.approx(291.1, abs=0.05)
    assert found.quantile_bound(0.95) == 2_000.0
    assert found.sound


def test_blocks_of_a_tensorrt_backend_are_told_apart_by_their_label(data: Path) -> None:
    found = by_name(figures(data / "metrics/metrics_trtllm_backend.prom"))
    name = "nv_trt_llm_kv_cache_block_metrics"
    blocks = {
        labels.removeprefix("kv_cache_block_type="): one.value or 0.0
        for (told, labels), one in found.items()
        if told == name
    }
    assert blocks == {"fraction": 0.4875, "tokens_per": 64, "used": 1, "free": 6239, "max": 6239}
    # The backend's own fraction is no used over max, so that neither is worked out of the other.
    assert blocks["fraction"] != blocks["used"] / blocks["max"]
    assert {one.model for one in found.values()} == {"tensorrt_llm:1"}


def test_vllm_behind_triton_is_read_past_lines_that_are_no_exposition(data: Path) -> None:
    found = figures(data / "metrics/metrics_vllm_backend.prom")
    assert {one.model for one in found} == {"vllm_model:1"}
    told = {one.name: one for one in histograms(found)}
    first = told["vllm:time_to_first_token_seconds"]
    assert (first.unit, first.count) == ("s", 1)
    assert first.mean == pytest.approx(0.0323, abs=1e-4)
    assert told["vllm:request_prompt_tokens"].unit == ""
    values = {one.name: one.value for one in found}
    assert (values["vllm:prompt_tokens_total"], values["vllm:generation_tokens_total"]) == (10, 16)


def test_vllm_says_what_it_does_not_measure_and_a_cut_histogram_has_no_count(data: Path) -> None:
    found = figures(data / "metrics/metrics_vllm_qwen_coder.prom")
    values = {one.name: one for one in found}
    assert values["vllm:gpu_prefix_cache_hit_rate"].value is None
    assert values["vllm:cpu_prefix_cache_hit_rate"].unit == "share"
    assert values["vllm:gpu_cache_usage_perc"].unit == "share"
    ended = values["vllm:request_success_total"]
    assert (ended.value, ended.labels) == (4, "finished_reason=stop")
    assert ended.model == "Qwen/Qwen2.5-Coder-1.5B-Instruct"
    assert "num_gpu_blocks=81767" in values["vllm:cache_config_info"].labels
    assert "block_size=16" in values["vllm:cache_config_info"].labels
    (tokens,) = histograms(found)
    assert (tokens.name, tokens.is_cut) == ("vllm:iteration_tokens_total", True)
    assert tokens.total == 148 + 955
    assert (tokens.mean, tokens.quantile_bound(0.5)) == (None, None)


def test_statistics_are_counts_and_nanoseconds(data: Path) -> None:
    read = triton_statistics.read((data / "triton/statistics_http_decoder.json").read_bytes())
    found = {one.name: one for one in engine_metrics.of_statistics(read.records)}
    assert found["inference_count"].value == 437
    assert (found["queue_ns"].value, found["queue_ns"].unit) == (1_674_632_856, "ns")
    # It has no cache, so that nothing is said of one.
    assert "cache_hit_count" not in found


def test_summaries_and_failures_of_a_real_server(recordings: Path) -> None:
    found = figures(recordings / "run1/metrics-after.txt")
    summary = [one for one in found if one.name == "nv_inference_queue_summary_us"]
    assert {one.kind for one in summary} == {"summary"}
    failed = {
        one.labels: one.value
        for one in found
        if one.name == "nv_inference_request_failure" and one.model == "premium:1"
    }
    assert set(failed) == {
        f"reason={reason}" for reason in ("REJECTED", "CANCELED", "BACKEND", "OTHER")
    }


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("nv_cache_hit_duration_per_model", "us"),
        ("nv_cache_num_hits_per_model", ""),
        ("nv_energy_consumption", "J"),
        ("nv_model_load_duration_secs", "s"),
        ("vllm:e2e_request_latency_seconds_sum", "s"),
        ("vllm:e2e_request_latency_seconds_count", ""),
        ("vllm:kv_cache_usage_perc", "share"),
        ("vllm:num_preemptions_total", ""),
    ],
)
def test_each_name_has_its_unit(name: str, unit: str) -> None:
    assert unit_of(name) == unit


def test_another_exporters_figures_are_left_out() -> None:
    reading = prometheus.read(b"go_goroutines 7\nprocess_start_time_seconds 5\nnv_x 1\n")
    found = engine_metrics.of_samples(reading.records)
    assert [one.name for one in found] == ["process_start_time_seconds", "nv_x"]


def test_buckets_that_fall_are_not_sound() -> None:
    assert not Histogram("m", "h", "", "s", ((1.0, 5.0), (2.0, 4.0)), 4, 1.0).sound


def test_every_run_but_the_first_began_at_nothing() -> None:
    assert increase_over_runs([[100, 160], [5, 25]]) == Increase(85, 1)
    # A run that has already counted past the last one is a restart all the same.
    assert increase_over_runs([[100, 160], [170]]) == Increase(230, 1)
    assert increase_over_runs([[], [7, 9], []]) == Increase(2, 0)


@given(st.lists(st.lists(st.integers(0, 1000), max_size=6), max_size=5))
def test_growth_is_never_negative_however_runs_are_cut(runs: list[list[int]]) -> None:
    found = increase_over_runs(runs)
    assert found.value >= 0
    assert found.resets <= sum(map(len, runs))

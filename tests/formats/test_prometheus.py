from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orchid.formats import prometheus
from orchid.formats.prometheus import Increase, increase


def test_names_and_figures_of_a_real_scrape(data: Path) -> None:
    reading = prometheus.read((data / "metrics/metrics_triton_eight_models.prom").read_bytes())
    used = {
        sample.name: sample.value
        for sample in reading.records
        if sample.labels.get("model") == "densenet_onnx"
    }
    assert used["nv_inference_request_success"] == 3
    parts = ("queue", "compute_input", "compute_infer", "compute_output")
    spent = sum(used[f"nv_inference_{part}_duration_us"] or 0 for part in parts)
    assert used["nv_inference_request_duration_us"] == 1_327_965 == spent + 302


def test_suffixes_stay_as_the_server_wrote_them(data: Path) -> None:
    reading = prometheus.read((data / "metrics/metrics_vllm_qwen_coder.prom").read_bytes())
    values = {sample.name: sample.value for sample in reading.records}
    assert values["vllm:prompt_tokens_total"] == 148
    assert values["vllm:generation_tokens_total"] == 955


def test_lines_that_are_no_exposition_cost_only_themselves(data: Path) -> None:
    reading = prometheus.read((data / "metrics/metrics_vllm_backend.prom").read_bytes())
    assert len(reading.lost) == 6
    assert reading.lost[0].line == 12
    assert len(reading.records) == 26
    kinds = {sample.name: sample.kind for sample in reading.records}
    assert kinds["vllm:time_to_first_token_seconds_bucket"] == "histogram"


def test_not_a_number_is_no_value() -> None:
    (sample,) = prometheus.read(b'# TYPE s summary\ns{quantile="0.5"} NaN\n').records
    assert sample.value is None


def test_a_reset_counts_from_zero_and_is_flagged() -> None:
    assert increase([100, 160, 5, 25]) == Increase(85, 1)


def test_one_sample_is_no_increase() -> None:
    assert increase([]) == increase([7]) == Increase(0, 0)


@given(st.lists(st.integers(0, 1000), min_size=1))
def test_a_counter_that_never_falls_grew_by_its_ends(steps: list[int]) -> None:
    values = [sum(steps[: n + 1]) for n in range(len(steps))]
    assert increase(values) == Increase(values[-1] - values[0], 0)

"""Whole files of recorded traffic come out with the published figures of each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from orchid.formats.arrivals import compact, registry
from orchid.formats.arrivals.statistics import statistics

Raw = Callable[[str], bytes]


@dataclass(frozen=True)
class Expected:
    """Lengths as p50, p95, p99, mean; percentiles here lie between order statistics."""

    rows: int
    into: tuple[float, ...]
    out: tuple[float, ...]
    pearson: float
    spearman: float


@dataclass(frozen=True)
class Timing:
    seconds: float
    rate: float
    cv: float
    zero_gaps: int
    longest_s: float
    peak: int


CHAT = Expected(300, (731.5, 1748.9, 2765.2, 857.46), (632, 773, 784.12, 652.51), 0.157, 0.1889)
LENGTHS = {
    "azure_llm_2023_code_first_half.csv": Expected(
        4409, (1454, 7325.2, 7436, 2040.78), (13, 85, 247.84, 27.52), 0.0046, -0.0206
    ),
    "azure_llm_2023_conv_first_half.csv": Expected(
        9683, (1035, 4086, 4122, 1236.96), (141, 463, 612.18, 221.91), -0.1731, 0.0353
    ),
    "mooncake_conversation_first_half.jsonl": Expected(
        6015, (7590, 41502.6, 91228.7, 12781.08), (356, 708, 1134.62, 346.77), 0.0783, 0.0696
    ),
    "vidur_arxiv_lengths_first_half.csv": Expected(
        14128, (2717, 3817, 3933, 2578.73), (166, 788.95, 3287.92, 295.89), -0.4687, -0.1143
    ),
    "llmservingsim_sharegpt_llama_300.jsonl": CHAT,
    "vllm_rtx4090_llama_3_1_8b_requests.jsonl": CHAT,
    "vllm_rtxpro6000_llama_3_1_8b_requests.jsonl": CHAT,
}
TIMES = {
    "azure_llm_2023_code_first_half.csv": Timing(1422.081, 3.0997, 14.1026, 0, 173.522, 67),
    "azure_llm_2023_conv_first_half.csv": Timing(1743.404, 5.5535, 1.0725, 0, 4.315, 15),
    "mooncake_conversation_first_half.jsonl": Timing(1881, 3.1972, 2.9312, 5387, 3.001, 23),
    "llmservingsim_sharegpt_llama_300.jsonl": Timing(29.137, 10.2619, 0.9416, 0, 0.461, 16),
    "vllm_rtx4090_llama_3_1_8b_requests.jsonl": Timing(29.101, 10.2747, 0.9405, 0, 0.461, 18),
    "vllm_rtxpro6000_llama_3_1_8b_requests.jsonl": Timing(29.121, 10.2674, 0.9403, 0, 0.458, 17),
}


def described(values: list[int]) -> list[float]:
    return [*np.percentile(values, [50, 95, 99]), float(np.mean(values))]


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_of_a_trace_are_the_published_ones(raw: Raw, name: str) -> None:
    expected = LENGTHS[name]
    _, trace = registry.read(raw(name), name)
    assert (trace.rows, trace.lost, trace.unused) == (expected.rows, [], 0)
    into = [one.input_tokens for one in trace.arrivals]
    out = [one.output_tokens for one in trace.arrivals]
    assert described(into) == pytest.approx(list(expected.into), abs=0.051)
    assert described(out) == pytest.approx(list(expected.out), abs=0.0051)
    found = statistics(trace, trace.arrivals)
    assert found["pearson"] == pytest.approx(expected.pearson, abs=5e-5)
    assert found["spearman"] == pytest.approx(expected.spearman, abs=5e-5)
    assert found["input"]["p95"] == np.percentile(into, 95, method="inverted_cdf")


@pytest.mark.parametrize("name", TIMES)
def test_times_of_a_trace_are_the_published_ones(raw: Raw, name: str) -> None:
    expected = TIMES[name]
    _, trace = registry.read(raw(name), name)
    found = statistics(trace, trace.arrivals)
    assert found["duration_s"] == pytest.approx(expected.seconds, abs=0.0006)
    assert found["rate_per_s"] == pytest.approx(expected.rate, abs=6e-5)
    assert found["gap_cv"] == pytest.approx(expected.cv, abs=6e-5)
    assert found["longest_gap_s"] == pytest.approx(expected.longest_s, abs=0.0006)
    assert (found["zero_gaps"], found["peak_in_1s"]) == (expected.zero_gaps, expected.peak)


def test_lengths_without_arrivals_have_no_rate(raw: Raw) -> None:
    _, trace = registry.read(raw("vidur_arxiv_lengths_first_half.csv"))
    assert trace.holds == "lengths"
    assert "rate_per_s" not in statistics(trace, trace.arrivals)


@pytest.mark.parametrize(
    ("client", "busy", "highest", "filled"),
    [("m_large_chunk_104", 1842, 465.448, 55), ("m_small_chunk_31", 1979, 73.118, 56)],
)
def test_a_model_of_traffic_has_rates_and_lengths_by_window(
    raw: Raw, client: str, busy: int, highest: float, filled: int
) -> None:
    _, rates = registry.read(raw(f"servegen_language_{client}_trace.csv"))
    found = statistics(rates, rates.arrivals)
    assert (found["windows"], found["busy_windows"], found["window_s"]) == (2016, busy, 600)
    assert found["rate"]["max"] == pytest.approx(highest, abs=0.001)
    assert found["families"] == ["Gamma", "Weibull"]
    _, lengths = registry.read(raw(f"servegen_language_{client}_dataset.json"))
    found = statistics(lengths, lengths.arrivals)
    assert (found["windows"], found["filled_windows"]) == (56, filled)
    assert (rates.lost, lengths.lost) == ([], [])


@pytest.mark.parametrize(
    "name", [*LENGTHS, "servegen_language_m_large_chunk_104_trace.csv",
             "servegen_language_m_large_chunk_104_dataset.json"]
)  # fmt: skip
def test_what_is_stored_is_read_back_in_order_and_is_small(raw: Raw, name: str) -> None:
    body = raw(name)
    _, trace = registry.read(body)
    stored = compact.encode(trace.arrivals, trace.windows)
    assert list(compact.arrivals_of(stored)) == trace.arrivals
    assert compact.windows_of(stored) == trace.windows
    assert len(stored) < 0.45 * len(body)

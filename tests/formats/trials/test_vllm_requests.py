import json
import re
from collections.abc import Callable

import numpy as np
import pytest

from orchid.formats.reading import Lost
from orchid.formats.trials import simulated, vllm_requests
from orchid.formats.trials.requests import Request, known
from orchid.formats.trials.shape import Trial

Raw = Callable[[str], bytes]
Read = Callable[[str], Trial]
CARDS = ("rtx4090", "rtxpro6000")
NAMES = {"TTFT": "first_ms", "TPOT": "gap_ms", "Latency": "latency_ms"}


def published(raw: Raw, card: str) -> dict[tuple[str, str], tuple[float, float]]:
    """(quantity, statistic) -> (measured, simulated), milliseconds, as published."""
    text = raw(f"measured/vllm_{card}_llama_3_1_8b_sim_vs_real.txt").decode()
    rows = re.findall(r"^(\w+) (\w+)\s+([\d.]+)\s+([\d.]+)", text, re.MULTILINE)
    assert len(rows) == 15
    return {(what, how): (float(real), float(sim)) for what, how, real, sim in rows}


def linear(requests: list[Request], field: str, how: str) -> float:
    """A published statistic: its percentiles lie between order statistics."""
    values = np.array(known(getattr(one, field) for one in requests))
    if how == "Mean":
        return float(values.mean())
    return float(np.percentile(values, 50 if how == "Median" else int(how[1:])))


@pytest.mark.parametrize("card", CARDS)
def test_single_requests_agree_with_the_published_comparison(raw: Raw, card: str) -> None:
    lost: list[Lost] = []
    body = raw(f"measured/vllm_{card}_llama_3_1_8b_requests.jsonl.gz")
    found = vllm_requests.read_requests(body, lost)
    assert (len(found), lost) == (300, [])
    for (what, how), (real, _) in published(raw, card).items():
        assert linear(found, NAMES[what], how) == pytest.approx(real, abs=0.051), (what, how)


@pytest.mark.parametrize("card", CARDS)
def test_the_simulators_own_table_agrees_too_and_is_called_simulated(raw: Raw, card: str) -> None:
    trial = simulated.read(raw(f"measured/sim_{card}_llama_3_1_8b_requests.csv.gz"))
    assert trial.simulated
    ours = trial.points[0].ours
    figures = {"TTFT": "time_to_first_token", "TPOT": "inter_token_latency"}
    for what, name in (figures | {"Latency": "request_latency"}).items():
        _, mean = published(raw, card)[what, "Mean"]
        assert ours[name].statistics["mean"] == pytest.approx(mean, abs=0.051)
        assert ours[name].clock == "simulated"


@pytest.mark.parametrize(
    ("card", "ttft_s", "e2e_s"),
    [
        ("rtxpro6000", (9.443, 18.398, 19.755), (29.616, 36.617, 37.639)),
        ("rtx4090", (60.111, 122.739, 137.356), (83.413, 148.978, 153.628)),
    ],
)
def test_times_are_first_or_last_token_minus_queued(
    raw: Raw, card: str, ttft_s: tuple[float, ...], e2e_s: tuple[float, ...]
) -> None:
    body = raw(f"measured/vllm_{card}_llama_3_1_8b_requests.jsonl.gz")
    found = vllm_requests.read_requests(body, [])
    for field, expected in (("first_ms", ttft_s), ("latency_ms", e2e_s)):
        got = [linear(found, field, how) / 1e3 for how in ("P50", "P95", "P99")]
        assert got == pytest.approx(list(expected), abs=0.0006)


def test_our_percentiles_are_nearest_rank_and_never_the_published_ones(trial: Read) -> None:
    point = trial("measured/vllm_rtx4090_llama_3_1_8b_requests.jsonl.gz").points[0]
    latency = point.ours["request_latency"]
    assert latency.method == "inverted CDF (nearest rank)"
    assert latency.clock == "engine, monotonic"
    assert latency.statistics["p50"] == pytest.approx(83275.37, abs=0.01)
    assert point.metrics == {}
    assert point.ours["send_rate"].clock == "client"


LINE = {
    "input_toks": 10,
    "output_toks": 2,
    "arrival_time": 1787267980.08,
    "queued_ts": 5.0,
    "scheduled_ts": 5.5,
    "first_token_ts": 6.0,
    "last_token_ts": 7.5,
}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"first_token_ts": 4.0}, "don't follow"),
        ({"queued_ts": -1.0}, "stamp"),
        ({"output_toks": -2}, "output_toks"),
        ({"last_token_ts": float("nan")}, "NaN"),
        ({"first_token_ts": 1787267981.0}, "don't follow"),
    ],
)
def test_stamps_of_two_clocks_or_out_of_order_lose_their_line(
    change: dict[str, float], named: str
) -> None:
    body = "\n".join(json.dumps(one) for one in (LINE, LINE | change, LINE)).encode()
    found = vllm_requests.read(body)
    assert found.points[0].requests == 2
    assert [lost.line for lost in found.lost] == [2]
    assert named in found.lost[0].reason

from collections.abc import Callable

import pytest

from orchid.formats.trials import registry
from orchid.formats.trials.shape import Trial

Read = Callable[[str], Trial]
#: To the layout of GenTD26's gateway samples, which are not in order of time.
GATEWAY = b"value,container,timestamp_anon\n196.0,c1,1662859400.0\n425.0,c2,1662859300.0\n"


@pytest.mark.parametrize(
    ("name", "rows", "running", "seconds"),
    [
        ("burstgpt_vllm_log_scale100.csv.gz", 538, 150, 420.495),
        ("burstgpt_vllm_log_scale300.csv.gz", 323, 256, 205.778),
        ("burstgpt_vllm_log_scale1000.csv.gz", 269, 256, 148.281),
    ],
)
def test_logs_of_an_engine_are_samples_of_its_state(
    trial: Read, name: str, rows: int, running: int, seconds: float
) -> None:
    found = trial(f"measured/{name}")
    (point,) = found.points
    assert point.ours["num_running"].statistics["count"] == rows
    assert point.ours["num_running"].statistics["max"] == running
    assert point.duration_s == pytest.approx(seconds, abs=0.001)
    assert (point.requests, found.lost) == (None, [])


@pytest.mark.parametrize(
    ("card", "rows", "waiting"), [("rtx4090", 184, 234), ("rtxpro6000", 67, 104)]
)
def test_a_time_series_of_vllm_shows_how_many_waited(
    trial: Read, card: str, rows: int, waiting: int
) -> None:
    (point,) = trial(f"measured/vllm_{card}_llama_3_1_8b_timeseries.csv").points
    assert point.ours["waiting"].statistics["count"] == rows
    assert point.ours["waiting"].statistics["max"] == waiting
    assert point.ours["kv_cache_pct"].unit == "percent"


@pytest.mark.parametrize(
    ("name", "unit"), [("queue_rt.csv", "ms"), ("queue_size.csv", "tasks"), ("x.csv", "not told")]
)
def test_what_a_gateways_value_is_only_its_files_name_tells(name: str, unit: str) -> None:
    _, found = registry.read(GATEWAY, name)
    (point,) = found.points
    assert point.ours["value"].unit == unit
    assert point.duration_s == 100

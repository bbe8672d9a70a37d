from collections.abc import Callable

import pytest

from orchid.formats.trials import model_analyzer
from orchid.formats.trials.shape import Trial

Read = Callable[[str], Trial]
PERF = "perf/model_analyzer"


def test_a_table_of_one_ensemble_has_each_configuration_and_level(trial: Read) -> None:
    found = trial(f"{PERF}_ensemble_model_inference.csv")
    assert len(found.points) == 21
    assert (found.loop, found.model) == ("closed", "ensemble_add_sub")
    best = max(found.points, key=lambda point: point.achieved_per_s or 0)
    assert (best.level, best.achieved_per_s) == (8, 2865.9)
    latency = best.metrics["request_latency"]
    assert (latency.unit, latency.statistics) == ("ms", {"p99": 3.7})
    assert latency.method == "order statistic at floor(p/100 (n-1) + 0.5)"


def test_several_models_at_once_keep_a_total_and_each(trial: Read) -> None:
    found = trial(f"{PERF}_multi_model_model_inference.csv")
    assert len(found.points) == 12
    first = next(one for one in found.points if one.achieved_per_s == 421.0)
    assert first.metrics["throughput"].statistics == {
        "value": 421.0,
        "value of model 1": 184.5,
        "value of model 2": 236.5,
    }
    assert first.metrics["request_latency"].statistics["p99 of model 1"] == 23.9
    assert first.level is None


@pytest.mark.parametrize(("name", "rows"), [("ensemble", 21), ("multi_model", 12)])
def test_tables_of_devices_are_samples(trial: Read, name: str, rows: int) -> None:
    found = trial(f"{PERF}_{name}_model_gpu.csv")
    assert len(found.points) == rows
    assert found.lost == []
    assert {metric.clock for point in found.points for metric in point.metrics.values()} == {
        "engine, sampled"
    }


def test_a_cell_that_is_no_figure_loses_its_row_alone(raw: Callable[[str], bytes]) -> None:
    body = raw(f"{PERF}_multi_model_model_inference.csv").replace(b"421.0, [184.5", b"421.0, [nan")
    found = model_analyzer.read(body)
    assert len(found.points) == 11
    assert [lost.line for lost in found.lost] == [2]
    assert "is nan" in found.lost[0].reason

from collections.abc import Callable

import pytest

from orchid.formats.trials.shape import Trial

Read = Callable[[str], Trial]


def test_throughput_times_time_is_the_number_in_flight(trial: Read) -> None:
    """Little's law: half the inferences a second are requests, 16 of them in flight."""
    for point in trial("tables/triton_tutorial_batching_detail.csv").points:
        median_s = point.metrics["request_latency"].statistics["p50"] / 1e6
        assert (point.achieved_per_s or 0) / 2 * median_s == pytest.approx(point.level, rel=0.01)


def test_executions_tell_the_mean_batch(trial: Read) -> None:
    points = trial("tables/triton_tutorial_batching_detail.csv").points
    batches = [point.metrics["mean_batch"].statistics["mean"] for point in points]
    assert batches == pytest.approx([2.0, 6.12, 4.83], abs=0.005)
    assert [point.requests for point in points] == [8777, 28696, 37218]


def test_every_level_of_each_scheduler_is_a_point_of_a_closed_loop(trial: Read) -> None:
    found = trial("tables/triton_tutorial_batching_concurrency.csv")
    assert (len(found.points), found.loop) == (24, "closed")
    assert found.points[7].metrics["request_latency"].statistics == {"p95": 34035}
    for point in found.points:
        tail_s = point.metrics["request_latency"].statistics["p95"] / 1e6
        assert (point.achieved_per_s or 0) / 2 * tail_s >= (point.level or 0)

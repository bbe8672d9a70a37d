from collections.abc import Callable

import pytest

from orchid.formats.reading import UnreadableError
from orchid.formats.trials import perf_analyzer_table
from orchid.formats.trials.shape import Trial

HEADER = b"Request Rate,Inferences/Second,Network+Server Send/Recv,p95 latency,Odd column\r\n"


def test_rows_sorted_by_throughput_come_in_the_order_of_their_concurrency(
    trial: Callable[[str], Trial],
) -> None:
    found = trial("perf/perf_analyzer_inception_graphdef.csv")
    assert [point.level for point in found.points] == [1, 2, 3, 4]
    assert [point.achieved_per_s for point in found.points] == [69.2, 87.2, 84.2, 84.2]
    assert found.loop == "closed"
    assert found.lost == []


def test_times_are_microseconds_by_the_tools_own_index(trial: Callable[[str], Trial]) -> None:
    latency = (
        trial("perf/perf_analyzer_inception_graphdef.csv").points[0].metrics["request_latency"]
    )
    assert latency.unit == "us"
    assert latency.statistics == {"p50": 13891, "p90": 18795, "p95": 19753, "p99": 21018}
    assert latency.method == "order statistic at floor(p/100 (n-1) + 0.5)"
    assert latency.clock == "client"


def test_throughput_times_the_sum_of_parts_is_the_concurrency(
    trial: Callable[[str], Trial],
) -> None:
    for point in trial("perf/perf_analyzer_inception_graphdef.csv").points:
        parts = [one for one in point.metrics.values() if set(one.statistics) == {"mean"}]
        busy_us = sum(part.statistics["mean"] for part in parts)
        assert (point.achieved_per_s or 0) * busy_us / 1e6 == pytest.approx(point.level, rel=0.02)


def test_a_network_time_of_zero_is_said_to_be_a_clamp() -> None:
    found = perf_analyzer_table.read(HEADER + b"10,9.5,0,1000,x\r\n20,19,12,1200,y\r\n")
    assert any("clamped" in note and "request rate 10" in note for note in found.notes)
    assert found.loop == "open"
    assert [point.offered_per_s for point in found.points] == [10, 20]
    assert found.unused == 1


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (b"10,NaN,0,1000,x", "Inferences/Second is NaN"),
        (b"10,-4,0,1000,x", "Inferences/Second is -4"),
        (b"10,9.5,0,inf,x", "p95 latency is inf"),
        (b"10,9.5,0,1e30,x", "p95 latency is 1e30"),
        (b"10,9.5,0", "expected 5 cells, found 3"),
        (b'10,9.5,0,"1000,x', "quotes"),
        (b"10,9.5,0,1000," + b"y" * 140_000, "a row of"),
        (b"10,9.5,0,1000," + b"y" * 5_000, "a cell of 5000"),
        (b"10,9.5,0,1000,\xff", "utf-8"),
    ],
)
def test_a_bad_row_is_named_with_its_place_and_loses_no_neighbour(row: bytes, named: str) -> None:
    good = b"20,19,12,1200,y\r\n"
    found = perf_analyzer_table.read(HEADER + good + row + b"\r\n" + good.replace(b"20", b"30"))
    assert [point.level for point in found.points] == [20, 30]
    (lost,) = found.lost
    assert named in lost.reason
    assert lost.line == 3
    assert lost.offset == len(HEADER + good)


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", HEADER])
def test_a_table_without_a_level_of_load_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        perf_analyzer_table.read(data)


def test_a_file_that_loses_every_row_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(UnreadableError, match="more than 10000 rows"):
        perf_analyzer_table.read(HEADER + b"x\n" * 20_000)

"""What is known of recorded runs comes out of their files."""

import gzip
from pathlib import Path

import pytest

from orchid.formats import triton_trace
from orchid.formats.triton_phases import Ending, ending, phases


@pytest.mark.parametrize(
    ("name", "median", "most"), [("healthy", 116, 260), ("stalled", 580, 1671)]
)
def test_the_queue_of_the_incident_stalls(data: Path, name: str, median: int, most: int) -> None:
    packed = data / f"triton/incident-queue-stall/{name}.trace.json.gz"
    reading = triton_trace.read(gzip.decompress(packed.read_bytes()))
    waits = sorted(
        (phases(trace).queue_ns or 0) / 1e6 for trace in reading.records if trace.model == "premium"
    )
    assert len(waits) == 56
    assert round(waits[len(waits) // 2]) == median
    assert round(waits[-1]) == most


def test_a_crashed_backend_leaves_a_stamp_that_was_never_taken(data: Path) -> None:
    reading = triton_trace.read((data / "triton/edge/trace-unhealthy-backend.json").read_bytes())
    assert len(reading.records) == 7
    for trace in reading.records:
        found = phases(trace)
        assert trace.first("COMPUTE_OUTPUT_START") is None
        assert (found.infer_ns, found.output_ns) == (None, None)
        assert 0.9e9 < (found.compute_ns or 0) < 1.1e9
        # Every call failed, and the server's own file can't tell.
        assert ending(trace) == Ending.ANSWERED

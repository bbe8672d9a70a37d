from collections import Counter
from pathlib import Path

from orchid.formats import client_log, triton_trace
from orchid.formats.triton_phases import Ending, Trace, children, ending, exclusive_ns, phases


def _compute(trace_id: int, start: int, stop: int, parent: int | None = None) -> Trace:
    return Trace(trace_id, (("COMPUTE_START", start), ("COMPUTE_END", stop)), parent_id=parent)


def test_a_childs_time_is_taken_out_of_its_parent_and_not_added_to_the_request() -> None:
    parent = _compute(1, 0, 2_054_650)
    child = _compute(2, 100_000, 1_900_000, parent=1)
    assert phases(parent).request_ns == 2_054_650
    assert exclusive_ns(parent, children([parent, child])[1]) == 254_650


def test_without_child_records_a_parent_is_not_broken_down() -> None:
    assert exclusive_ns(_compute(1, 0, 2_054_650), []) is None


def test_overlapping_children_are_taken_out_once() -> None:
    inner = [_compute(2, 10, 60, 1), _compute(3, 40, 80, 1), _compute(4, 90, 300, 1)]
    assert exclusive_ns(_compute(1, 0, 100), inner) == 20


def test_a_missing_event_leaves_a_phase_unknown() -> None:
    found = phases(Trace(1, (("QUEUE_START", 5), ("COMPUTE_INPUT_END", 9))))
    assert found.queue_ns is None
    assert found.infer_ns is None


def test_a_request_cancelled_in_the_queue_has_no_compute_time() -> None:
    trace = Trace(1, (("REQUEST_START", 0), ("QUEUE_START", 1), ("REQUEST_END", 9)))
    assert ending(trace) is Ending.CANCELLED
    assert phases(trace).compute_ns is None


def test_a_refusal_at_the_full_queue_never_ends() -> None:
    trace = Trace(1, (("REQUEST_START", 0), ("QUEUE_START", 1), ("GRPC_SEND_END", 9)))
    assert ending(trace) is Ending.QUEUE_FULL


def test_every_ending_of_the_recorded_run_agrees_with_what_its_client_saw(recordings: Path) -> None:
    pairs = _endings_by_client_failure(recordings)
    assert pairs == {
        ("", Ending.ANSWERED): 253,
        # The server answers and records no error: only the client knows.
        ("model_error", Ending.ANSWERED): 12,
        ("queue_timeout", Ending.QUEUE_TIMEOUT): 22,
        ("queue_full", Ending.QUEUE_FULL): 3,
        ("deadline", Ending.CANCELLED): 5,
        ("cancelled", Ending.CANCELLED): 4,
        # The ensemble had answered before the cancel reached it.
        ("cancelled", Ending.ANSWERED): 1,
    }


def _endings_by_client_failure(recordings: Path) -> Counter[tuple[str, Ending]]:
    run = recordings / "run1"
    calls = client_log.read((run / "client-log.jsonl").read_bytes()).records
    by_id = {call.request_id: call for call in calls if call.request_id}
    traces = [
        t
        for path in (run / "trace").iterdir()
        for t in triton_trace.read(path.read_bytes()).records
    ]
    composites = {trace.model for trace in traces if trace.id in children(traces)}
    return Counter(
        (str(by_id[trace.request_id].failure), ending(trace, composite=trace.model in composites))
        for trace in traces
        if trace.parent_id is None and trace.request_id in by_id
    )

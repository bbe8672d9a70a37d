import json
from collections import Counter
from itertools import chain
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.formats import triton_trace
from orchid.formats.triton_phases import Trace, children, phases


def _objects(*events: tuple[int, str, int]) -> list[dict[str, object]]:
    return [{"id": i, "timestamps": [{"name": name, "ns": ns}]} for i, name, ns in events]


def _file(*objects: dict[str, object]) -> bytes:
    return json.dumps(list(objects), separators=(",", ":")).encode()


def test_the_documented_request_has_the_documented_durations(data: Path) -> None:
    reading = triton_trace.read((data / "triton/trace_doc_http_one_request.json").read_bytes())
    (trace,) = reading.records
    found = phases(trace)
    assert found.http_ns == 3_125_547
    assert found.request_ns == 2_857_301
    assert found.queue_ns == 95_681
    assert found.compute_ns == 2_653_791
    assert (found.input_ns, found.infer_ns, found.output_ns) == (2_265_710, 344_855, 43_226)
    assert trace.times("HTTP_RECV_END")[0] - trace.times("HTTP_RECV_START")[0] == 44_864
    assert trace.times("HTTP_SEND_END")[0] - trace.times("HTTP_SEND_START")[0] == 31_413


def test_a_whole_server_run_gives_each_execution_once(recordings: Path) -> None:
    readings = [triton_trace.read(path.read_bytes()) for path in _run1(recordings)]
    traces = list(chain.from_iterable(reading.records for reading in readings))
    assert not any(reading.partial for reading in readings)
    assert len(traces) == len({trace.id for trace in traces}) == 461
    assert sum(trace.parent_id is not None for trace in traces) == 58
    assert Counter(trace.computed for trace in traces) == {True: 412, False: 49}
    assert {trace.model for trace in traces if trace.id in children(traces)} == {
        "chain",
        "router_bls",
    }


def _run1(recordings: Path) -> list[Path]:
    return sorted((recordings / "run1/trace").iterdir())


def test_a_stream_keeps_the_time_of_every_response(recordings: Path) -> None:
    traces = [t for path in _run1(recordings) for t in triton_trace.read(path.read_bytes()).records]
    streams = [trace for trace in traces if trace.model == "full_stream"]
    assert len(streams) == 23
    assert sum(trace.responses for trace in traces) == 876 + 155
    assert all(len(trace.times("INFER_RESPONSE_COMPLETE")) <= 1 for trace in streams)


def test_a_file_cut_inside_a_string_keeps_the_whole_objects_and_names_the_rest() -> None:
    whole = _file(
        *_objects((1, "QUEUE_START", 10), (1, "COMPUTE_START", 30), (1, "COMPUTE_END", 90))
    )
    cut = whole.rindex(b"COMPUTE_END") + 5
    reading = triton_trace.read(whole[:cut])
    assert reading.records == [Trace(1, (("QUEUE_START", 10), ("COMPUTE_START", 30)))]
    (lost,) = reading.lost
    assert lost.offset == whole.index(b'{"id"', whole.index(b"COMPUTE_START"))
    assert "ends inside" in lost.reason
    assert reading.partial
    assert not reading.complete


def test_an_open_array_of_whole_objects_is_partial_and_loses_nothing() -> None:
    whole = _file(*_objects((1, "QUEUE_START", 10), (1, "COMPUTE_START", 30)))
    reading = triton_trace.read(whole[:-1])
    assert reading.records == triton_trace.read(whole).records
    assert reading.lost == []
    assert reading.partial


def test_ids_that_triton_did_not_escape_cost_only_their_own_object(data: Path) -> None:
    raw = (data / "triton/trace-unescaped-request-ids.notjson").read_bytes()
    reading = triton_trace.read(raw)
    assert len(reading.records) == 25
    assert [raw[lost.offset :].startswith(b'{"id":') for lost in reading.lost] == [True] * 3
    assert all("does not escape" in lost.reason for lost in reading.lost)
    nameless = [trace.id for trace in reading.records if trace.model is None]
    assert nameless == [2842, 2843, 2844]
    assert {"uni-é-中", "prio9", "tail-2"} <= {trace.request_id for trace in reading.records}


def test_tensor_contents_are_counted_and_not_kept(data: Path) -> None:
    reading = triton_trace.read((data / "triton/trace-tensors-level.json").read_bytes())
    assert len(reading.records) == 25
    assert reading.dropped_text == 125
    assert "one two three" not in repr(reading)


def test_events_before_their_header_and_repeated_responses_join_by_id() -> None:
    trace = triton_trace.read(
        _file(
            *_objects((7, "REQUEST_START", 5), (7, "INFER_RESPONSE_COMPLETE", 90)),
            {"id": 7, "model_name": "full", "model_version": -1, "request_id": "r"},
            *_objects((7, "INFER_RESPONSE_COMPLETE", 40), (7, "INFER_RESPONSE_COMPLETE", 40)),
        )
    ).records[0]
    assert (trace.model, trace.model_version, trace.request_id) == ("full", -1, "r")
    assert (trace.first_response_ns, trace.last_response_ns) == (40, 90)
    assert trace.times("INFER_RESPONSE_COMPLETE") == [40, 90]


def test_the_older_spelling_reads_as_the_newer() -> None:
    older = {
        "model_name": "m",
        "model_version": 1,
        "id": 3,
        "timestamps": [
            {"name": "request handler start", "ns": 1},
            {"name": "queue start", "ns": 2},
            {"name": "compute start", "ns": 4},
            {"name": "request handler end", "ns": 9},
            {"name": "grpc wait/read end", "ns": 0},
        ],
    }
    trace = triton_trace.read(_file(older)).records[0]
    assert phases(trace).queue_ns == 2
    assert phases(trace).request_ns == 8
    assert trace.first_ns == 0


def test_a_restart_that_reuses_ids_is_told_apart_by_id_and_first_stamp() -> None:
    before = _file(*_objects(*((i, "REQUEST_START", 9 * 10**15 + i) for i in (1, 2, 3))))
    after = _file(*_objects(*((i, "REQUEST_START", 5 * 10**12 + i) for i in (1, 2, 3))))
    found = triton_trace.read(before).records + triton_trace.read(after).records
    assert len({(trace.id, trace.first_ns) for trace in found}) == 6


def test_waiting_for_a_request_is_not_its_arrival() -> None:
    trace = Trace(1, (("GRPC_WAITREAD_START", 1), ("GRPC_WAITREAD_END", 50), ("GRPC_SEND_END", 80)))
    assert trace.first_ns == 50
    assert phases(trace).grpc_ns == 30


@pytest.mark.parametrize(
    "junk", [b"", b"   ", b"no trace", b"\xff\xfe\x00", b"{}", b"[1,2]", b'{"id":']
)
def test_what_is_no_trace_gives_no_record_and_a_reason(junk: bytes) -> None:
    reading = triton_trace.read(junk)
    assert reading.records == []
    assert reading.partial
    assert bool(reading.lost) == bool(junk.strip())


_EVENTS = st.lists(
    st.tuples(
        st.integers(1, 4), st.sampled_from(["QUEUE_START", "COMPUTE_START"]), st.integers(0, 99)
    ),
    min_size=1,
    max_size=12,
)


@given(events=_EVENTS, cut=st.floats(0, 1))
def test_any_truncation_gives_the_whole_objects_before_the_cut(
    events: list[tuple[int, str, int]], cut: float
) -> None:
    objects = _objects(*events)
    whole = _file(*objects)
    at = int(cut * len(whole))
    kept = triton_trace.read(whole[:at])
    ends = [len(_file(*objects[: n + 1])) - 1 for n in range(len(objects))]
    complete = [event for event, end in zip(events, ends, strict=True) if end <= at]
    found = {(t.id, name, ns) for t in kept.records for name, ns in t.events}
    assert found == set(complete)


@given(events=_EVENTS, order=st.randoms(use_true_random=False))
def test_any_order_of_objects_gives_the_same_durations(
    events: list[tuple[int, str, int]], order: Random
) -> None:
    shuffled = list(events)
    order.shuffle(shuffled)
    assert _durations(events) == _durations(shuffled)


def _durations(events: list[tuple[int, str, int]]) -> dict[int, object]:
    return {t.id: phases(t) for t in triton_trace.read(_file(*_objects(*events))).records}

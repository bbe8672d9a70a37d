"""A trace file in pieces of any size, torn anywhere, with anything in its tensors."""

import json
import time
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.formats import triton_trace
from orchid.formats.reading import Lost
from orchid.formats.triton_phases import Trace
from orchid.formats.triton_trace import TraceReader

Object = dict[str, Any]


def written(objects: Iterable[Object]) -> list[bytes]:
    return [json.dumps(one, separators=(",", ":")).encode() for one in objects]


def array(pieces: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(pieces) + b"]"


def by_pieces(data: bytes, sizes: Iterable[int]) -> tuple[dict[int, Trace], list[Lost], int]:
    """What a reader gives that is fed so many bytes at once, the last size again and again."""
    reader, at, size = TraceReader(), 0, 1
    for size in sizes:
        reader.feed(data[at : at + size])
        at += size
    while at < len(data):
        reader.feed(data[at : at + size])
        at += size
    traces = {trace.id: trace for trace in reader.close()}
    return traces, reader.lost, reader.dropped_text


NAMES = ["REQUEST_START", "QUEUE_START", "COMPUTE_START", "my span", "<unknown>", "queue start"]
NUMBERS = st.integers(1, 5)
#: Text as clients send it; Triton writes it as it is, so what is whole of it must be JSON.
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
HEADERS = st.builds(
    lambda number, text: {"id": number, "model_name": "m", "model_version": 1, "request_id": text},
    NUMBERS,
    TEXT,
)
STAMPS = st.builds(
    lambda number, name, ns: {"id": number, "timestamps": [{"name": name, "ns": ns}]},
    NUMBERS,
    st.sampled_from(NAMES),
    st.integers(0, 99),
)
TENSORS = st.builds(
    lambda number, text: {
        "id": number,
        "activity": "TENSOR_QUEUE_INPUT",
        "tensor": {"name": "T", "data": text, "shape": "1", "dtype": "BYTES"},
    },
    NUMBERS,
    TEXT,
)
OBJECTS = st.lists(st.one_of(HEADERS, STAMPS, TENSORS), min_size=1, max_size=14)


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few objects fill several windows."""
    monkeypatch.setattr(triton_trace, "WINDOW", 256)


@pytest.mark.usefixtures("small_windows")
class TestAnyPieces:
    """One fixture for all examples: the bound of a window is set once."""

    @given(OBJECTS, st.floats(0, 1), st.lists(st.integers(1, 90), min_size=1, max_size=6))
    def test_give_the_traces_and_the_lost_fragments_of_the_whole(
        self, objects: list[Object], cut: float, sizes: list[int]
    ) -> None:
        whole = array(written(objects))
        torn = whole[: int(cut * len(whole))]
        assert by_pieces(torn, sizes) == by_pieces(torn, [len(torn) + 1])

    @given(OBJECTS, st.data())
    def test_a_broken_object_costs_itself_and_is_named_by_its_place(
        self, objects: list[Object], draw: st.DataObject
    ) -> None:
        pieces = written(objects)
        at = draw.draw(st.integers(0, len(pieces)))
        number = draw.draw(st.integers(6, 9))
        broken = b'{"id":%d,"model_name":"m","model_version":1,"request_id":"a"b"}' % number
        with_it = array([*pieces[:at], broken, *pieces[at:]])
        traces, lost, tensors = by_pieces(with_it, [40])
        sound_traces, _, sound_tensors = by_pieces(array(pieces), [40])
        assert traces == sound_traces
        assert tensors == sound_tensors
        assert [one.offset for one in lost] == [with_it.index(broken)]

    @given(OBJECTS, st.randoms(use_true_random=False), st.integers(1, 90))
    def test_any_order_of_the_stamps_gives_the_same_events(
        self, objects: list[Object], dice: Any, size: int
    ) -> None:
        shuffled = list(objects)
        dice.shuffle(shuffled)
        found, lost, _ = by_pieces(array(written(shuffled)), [size])
        assert lost == []
        sound, _, _ = by_pieces(array(written(objects)), [size])
        assert {number: set(trace.events) for number, trace in found.items()} == {
            number: set(trace.events) for number, trace in sound.items()
        }

    @given(st.binary(max_size=700), st.lists(st.integers(1, 90), min_size=1, max_size=4))
    def test_of_anything_at_all_give_what_the_whole_gives(
        self, junk: bytes, sizes: list[int]
    ) -> None:
        assert by_pieces(junk, sizes) == by_pieces(junk, [len(junk) + 1])

    def test_an_object_longer_than_a_window_is_named_and_its_neighbours_stay(self) -> None:
        first, last = written(
            {"id": number, "timestamps": [{"name": "QUEUE_START", "ns": number}]}
            for number in (1, 2)
        )
        long = b'{"id":3,"model_name":"' + b"m" * 5000 + b'"}'
        data = array([first, long, last])
        for size in (1, 7, 300, 9000):
            traces, lost, _ = by_pieces(data, [size])
            assert sorted(traces) == [1, 2]
            assert [(one.offset, "more than 256" in one.reason) for one in lost] == [
                (data.index(long), True)
            ]

    def test_a_tensor_longer_than_a_window_loses_nothing(self) -> None:
        tensor = {"name": "T", "data": "1," * 9000, "shape": "9000", "dtype": "INT32"}
        objects = [
            {"id": 1, "activity": "TENSOR_BACKEND_INPUT", "tensor": tensor},
            {"id": 1, "timestamps": [{"name": "QUEUE_START", "ns": 4}]},
        ]
        traces, lost, tensors = by_pieces(array(written(objects)), [100])
        assert (traces[1].events, lost, tensors) == ((("QUEUE_START", 4),), [], 1)


QUEUE = b'{"id":1,"timestamps":[{"name":"QUEUE_START","ns":4}]}'


def tensor(data: bytes, *, closed: bool = True) -> bytes:
    head = b'{"id":1,"activity":"TENSOR_QUEUE_INPUT","tensor":{"name":"T","data":"' + data
    return head + (b'","shape":"1,2","dtype":"INT8"}}' if closed else b"")


@pytest.mark.parametrize(
    "data", [b"\x00,\x01,", b'",",', b"\xff,\x80,", b"\\,\n,", b'\\"say "hi"\\"']
)
def test_raw_characters_in_a_tensor_lose_nothing(data: bytes) -> None:
    reading = triton_trace.read(array([tensor(data), QUEUE]))
    assert [trace.events for trace in reading.records] == [(("QUEUE_START", 4),)]
    assert (reading.lost, reading.dropped_text, reading.complete) == ([], 1, True)


def test_a_tensor_left_open_is_named_by_its_place() -> None:
    data = array([QUEUE, tensor(b'\\"ab\\",', closed=False), QUEUE.replace(b"4", b"5")])
    reading = triton_trace.read(data)
    assert reading.records == [Trace(1, (("QUEUE_START", 4), ("QUEUE_START", 5)))]
    (lost,) = reading.lost
    assert data[lost.offset :].startswith(b'{"id":1,"activity"')
    assert "left open" in lost.reason
    assert "ab" not in lost.reason


def test_a_name_of_a_backends_own_and_an_unknown_one_are_kept() -> None:
    names = ["CUSTOM_ACTIVITY", "<unknown>", "my own mark", "Queue Start"]
    objects = [{"id": 1, "timestamps": [{"name": name, "ns": 7}]} for name in names]
    (trace,) = triton_trace.read(array(written(objects))).records
    assert [name for name, _ in trace.events] == names


def test_files_that_were_put_together_are_read_as_one() -> None:
    later = QUEUE.replace(b'"id":1', b'"id":2')
    reading = triton_trace.read(array([QUEUE]) + b"\n" + array([later]) + b"\n")
    assert [trace.id for trace in reading.records] == [1, 2]
    assert not reading.partial


def test_a_key_that_is_newer_than_this_reader_is_no_fault() -> None:
    newer = b'{"span":{"id":"x"},"id":1,"timestamps":[{"name":"QUEUE_START","ns":4,"cpu":1}]}'
    for data in (array([newer]), array([newer, QUEUE])):
        reading = triton_trace.read(data)
        assert [trace.id for trace in reading.records] == [1]
        assert not reading.partial


HOSTILE = {
    "starts of objects": b'{"id":',
    "open arrays": b'{"id":1,"timestamps":[',
    "open strings": b'{"id":1,"model_name":"',
    "braces": b"{",
    "whitespace": b'{        "id"        :',
    "open tensors": b'{"id":1,"activity":"TENSOR_X","tensor":{"name":"',
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_the_size_of_what_is_no_trace(piece: bytes) -> None:
    def seconds(size: int) -> float:
        data = piece * (size // len(piece))
        begin = time.process_time()
        reading = triton_trace.read(data)
        taken = time.process_time() - begin
        assert reading.records == []
        assert len(reading.lost) <= triton_trace.KEPT_LOST
        return taken

    small, large = seconds(250_000), seconds(2_000_000)
    # Eight times the size would take 64 times as long, did each start look through the rest.
    assert large < 24 * small + 0.2

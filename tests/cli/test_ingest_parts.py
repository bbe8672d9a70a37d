"""Files of any size go in parts that stand alone, the same again as the same."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.cli import main as command_line
from orchid.cli.client import Api
from orchid.cli.ingest import counting
from orchid.cli.ingest import parts as cutting
from orchid.formats import triton_trace
from orchid.formats.triton_phases import Trace


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a file of kilobytes goes as one of gigabytes does."""
    monkeypatch.setattr(cutting, "PART", 2000)
    monkeypatch.setattr(cutting, "_TAIL", 500)
    monkeypatch.setattr(cutting, "_READ", 700)


def trace_file(ids: int, *, torn: bool = False) -> bytes:
    objects: list[dict[str, Any]] = []
    for number in range(1, ids + 1):
        objects.append({"id": number, "model_name": "m", "model_version": 1})
        for place, name in enumerate(("QUEUE_START", "COMPUTE_START", "COMPUTE_END")):
            objects.append(
                {"id": number, "timestamps": [{"name": name, "ns": 10 * number + place}]}
            )
    whole = json.dumps(objects, separators=(",", ":")).encode()
    return whole[:-20] if torn else whole


def joined(parts: list[cutting.Part]) -> dict[int, set[tuple[str, int]]]:
    found: dict[int, set[tuple[str, int]]] = {}
    for part in parts:
        for trace in triton_trace.read(part.content).records:
            found.setdefault(trace.id, set()).update(trace.events)
    return found


def of(traces: list[Trace]) -> dict[int, set[tuple[str, int]]]:
    return {trace.id: set(trace.events) for trace in traces}


def test_a_large_trace_file_goes_in_whole_closed_parts_that_hold_all_of_it() -> None:
    whole = trace_file(200)
    parts = list(cutting.parts(io.BytesIO(whole), "triton_trace"))
    readings = [triton_trace.read(part.content) for part in parts]
    assert len(parts) > 10
    assert not any(reading.partial for reading in readings)
    assert max(len(part.content) for part in parts) < 2200
    assert joined(parts) == of(triton_trace.read(whole).records)
    # Cut between two traces, so that hardly one is parted.
    assert len({t.id for r in readings for t in r.records}) == sum(len(r.records) for r in readings)


def test_a_place_in_a_part_is_told_as_a_place_in_the_file() -> None:
    whole = trace_file(200)
    for part in cutting.parts(io.BytesIO(whole), "triton_trace"):
        at = part.content.index(b'{"id"')
        assert whole[part.offset + at :].startswith(part.content[at : at + 60])


def test_a_torn_file_ends_as_it_was_torn() -> None:
    *whole, last = cutting.parts(io.BytesIO(trace_file(200, torn=True)), "triton_trace")
    assert not any(triton_trace.read(part.content).partial for part in whole)
    reading = triton_trace.read(last.content)
    (lost,) = reading.lost
    assert trace_file(200)[last.offset + lost.offset :].startswith(b'{"id":200,')


@given(ids=st.integers(1, 60), at=st.floats(0, 1))
def test_a_file_that_grows_is_delivered_up_to_its_last_whole_object(ids: int, at: float) -> None:
    whole = trace_file(ids)
    early = whole[: int(at * len(whole))]
    first = list(cutting.objects(io.BytesIO(early), growing=True))
    later = io.BytesIO(whole)
    later.seek(first[-1].end if first else 0)
    second = list(cutting.objects(later, growing=True))
    assert not any(triton_trace.read(part.content).lost for part in [*first, *second])
    assert joined([*first, *second]) == of(triton_trace.read(whole).records)


def test_what_has_grown_begins_with_the_parts_it_had() -> None:
    early = list(cutting.parts(io.BytesIO(trace_file(100)), "triton_trace"))
    late = list(cutting.parts(io.BytesIO(trace_file(300)), "triton_trace"))
    assert late[: len(early) - 1] == early[:-1]


def test_an_object_longer_than_a_part_is_not_cut() -> None:
    tensor = {"name": "T", "data": "1," * 4000, "shape": "4000", "dtype": "INT32"}
    objects = [
        {"id": 1, "model_name": "m", "model_version": 1},
        {"id": 1, "activity": "TENSOR_QUEUE_INPUT", "tensor": tensor},
        {"id": 1, "timestamps": [{"name": "QUEUE_START", "ns": 3}]},
    ]
    body = json.dumps(objects, separators=(",", ":")).encode()
    parts = list(cutting.parts(io.BytesIO(body), "triton_trace"))
    assert not any(triton_trace.read(part.content).partial for part in parts)
    assert joined(parts) == {1: {("QUEUE_START", 3)}}


def test_lines_are_never_cut_and_keep_their_numbers() -> None:
    body = b"".join(b'{"n": %d}\n' % number for number in range(1000))
    parts = list(cutting.parts(io.BytesIO(body), "requests"))
    assert b"".join(part.content for part in parts) == body
    for part in parts:
        assert json.loads(part.content.splitlines()[0])["n"] == part.lines


class Inbox:
    """Takes deliveries; refuses some first. What it took is unpacked."""

    def __init__(self) -> None:
        self.busy: list[httpx.Response] = []
        self.taken: dict[str, bytes] = {}
        self.asked: list[httpx.Request] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        about: dict[str, Any] = {"kind": "triton_trace", "reason": "", "counts": {}}
        if request.method == "GET":
            done = {"status": "done", "counts": {"inserted": 1, "partial": 0}, "rejected": []}
            return httpx.Response(
                200, json={**about, **done, "batch_id": request.url.path.rsplit("/", 1)[-1]}
            )
        if self.busy:
            return self.busy.pop(0)
        name, body = request.headers["Batch-Id"], request.content
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        created = name not in self.taken
        self.taken[name] = body
        received = {**about, "batch_id": name, "status": "received"}
        return httpx.Response(202 if created else 200, json=received)


@pytest.fixture
def inbox(monkeypatch: pytest.MonkeyPatch) -> Inbox:
    found, real = Inbox(), httpx.Client
    transport = httpx.MockTransport(found.answer)
    monkeypatch.setenv("ORCHID_TOKEN", "orc_ci_example")
    monkeypatch.setattr(
        "orchid.cli.client.httpx.Client",
        lambda **options: real(**{**options, "transport": transport}),
    )
    return found


@pytest.fixture
def orchid(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["orchid", "ingest", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run


def test_a_file_in_parts_is_one_line_of_the_result_and_the_same_again(
    inbox: Inbox,
    orchid: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "LOOK_AGAIN_S", 3600.0)  # what is counted is not waited for
    file = tmp_path / "trace.json.0"
    file.write_bytes(trace_file(200))
    code, out, _ = orchid(file, "--product", "p", "--server-run", "r", "--json")
    (result,) = json.loads(out)
    assert code == 0
    assert result["counts"]["inserted"] == result["parts"] == len(inbox.taken) > 10
    first = dict(inbox.taken)
    orchid(file, "--product", "p", "--server-run", "r")
    assert inbox.taken == first
    orchid(file, "--product", "p", "--server-run", "another")
    assert len(inbox.taken) == 2 * len(first)


def test_a_full_inbox_is_asked_again_when_it_said(inbox: Inbox) -> None:
    waits: list[float] = []
    inbox.busy = [
        httpx.Response(429, headers={"Retry-After": "7"}),
        httpx.Response(503, headers={"Retry-After": "9000"}),
        httpx.Response(503),
    ]
    api = Api(pause=waits.append)
    assert api.deliver("/api/v1/ingest/files", b"x", {"Batch-Id": "b"})["status"] == "received"
    assert waits == [7.0, 60.0, 1.0]


def test_an_inbox_that_stays_full_is_an_error_in_the_end(inbox: Inbox) -> None:
    waits: list[float] = []
    busy = {"title": "Wait", "code": "inbox_full", "detail": "Send again later."}
    inbox.busy = [httpx.Response(429, json=busy, headers={"Retry-After": "60"})] * 20
    with pytest.raises(Exception, match="inbox_full"):
        Api(pause=waits.append).deliver("/api/v1/ingest/files", b"x", {"Batch-Id": "b"})
    assert sum(waits) == 600


def test_an_anchor_is_taken_here_and_now(
    inbox: Inbox, orchid: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(trace_file(1))
    orchid(file, "--product", "p", "--anchor", "here")
    anchor = inbox.asked[0].url.params
    assert int(anchor["anchor_unix_ns"]) - int(anchor["anchor_monotonic_ns"]) > 10**18
    assert orchid(file, "--product", "p", "--anchor-unix-ns", "5")[0] == 3


def test_a_file_that_can_not_be_cut_is_bounded(
    inbox: Inbox,
    orchid: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cutting, "WHOLE", 1024**2)
    file = tmp_path / "trial.json"
    file.write_bytes(b"x" * (1024**2 + 1))
    code, _, err = orchid(file, "--kind", "trial", "--product", "p")
    assert code == 3
    assert "more than 1 MB" in err

import json
from collections import Counter
from pathlib import Path

from orchid.formats import client_log


def test_outcomes_of_the_recorded_run(recordings: Path) -> None:
    reading = client_log.read((recordings / "run1/client-log.jsonl").read_bytes())
    assert len(reading.records) == 340
    assert reading.lost == []
    assert Counter(call.outcome for call in reading.records) == {
        "completed": 281,
        "timed_out": 33,
        "failed": 15,
        "cancelled": 7,
        "rejected": 4,
    }


def test_prose_headers_and_answers_are_dropped_and_counted(recordings: Path) -> None:
    reading = client_log.read((recordings / "run2/client-log.jsonl").read_bytes())
    assert reading.dropped_text == 152
    text = repr(reading)
    assert "toy failure" not in text
    assert "traceparent" not in text


def test_a_stream_counts_its_chunks_and_has_a_first_response(recordings: Path) -> None:
    reading = client_log.read((recordings / "run2/client-log.jsonl").read_bytes())
    first = reading.records[0]
    assert first.output_tokens == 27
    assert first.first_response_ns == 774174758654 - 774149186774
    assert first.elapsed_ns == 774265766272 - 774149186774


def test_a_malformed_line_loses_no_neighbour(recordings: Path) -> None:
    whole = (recordings / "run1/client-log.jsonl").read_bytes().splitlines()[:3]
    reading = client_log.read(b"\n".join([whole[0], b'{"ttft": NaN}', whole[1], b"", whole[2]]))
    assert len(reading.records) == 3
    assert [lost.line for lost in reading.lost] == [2]


def test_two_objects_on_one_line_are_one_rejected_line(recordings: Path) -> None:
    line = (recordings / "run1/client-log.jsonl").read_bytes().splitlines()[0]
    reading = client_log.read(line + line)
    assert reading.records == []
    assert len(reading.lost) == 1


def test_a_line_that_no_column_could_hold_loses_no_neighbour(recordings: Path) -> None:
    whole = (recordings / "run1/client-log.jsonl").read_bytes().splitlines()[:2]
    sent = json.loads(whole[0])
    endless = json.dumps(sent)[:-1].encode() + b', "headers": ' + b"[" * 30_000 + b"]" * 30_000
    too_late = json.dumps(sent | {"t_send_unix_ns": 10**30}).encode()
    too_long = json.dumps(sent | {"n_out": 2**40}).encode()
    reading = client_log.read(b"\n".join([whole[0], endless + b"}", too_late, too_long, whole[1]]))
    assert len(reading.records) == 2
    assert [lost.line for lost in reading.lost] == [2, 3, 4]

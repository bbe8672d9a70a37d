"""Layouts of which no recording is at hand: written here as they are documented."""

import json
from typing import Any

import pytest

from orchid.formats.arrivals import blis, burstgpt, compact, gentd26, mooncake, servegen
from orchid.formats.arrivals.statistics import after_warm_up, statistics
from orchid.formats.reading import UnreadableError

BURSTGPT = b"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
BLIS_COLUMNS = (
    "request_id,client_id,tenant_id,slo_class,session_id,round_index,prefix_group,prefix_length,"
    "streaming,input_tokens,output_tokens,text_tokens,image_tokens,audio_tokens,video_tokens,"
    "reason_ratio,model,deadline_us,server_input_tokens,arrival_time_us,send_time_us,"
    "first_chunk_time_us,last_chunk_time_us,num_chunks,status,error_message,finish_reason\n"
)
BLIS_HEADER = (
    "trace_version: 3\ntime_unit: us\nmode: real\nwarm_up_requests: 1\nserver:\n  mode: x\n"
)
GENTD26 = (
    b"gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length\n"
    b"2024-11-15 16:57:50,TXT_2_IMG,SUCCEED,32.0,G0,63.0\n"
    b"2024-11-15 16:57:55,TXT_2_IMG,PENDING,0.0,G1,\n"
    b"2024-11-15 16:57:52,IMG_2_IMG,FAILED,1.0,G1,40\n"
    b"2024-11-15 16:57:52,IMG_2_IMG,LOST,1.0,G1,40\n"
)


def blis_row(number: int, arrival_us: int, sent_us: int, status: str = "ok") -> str:
    return (
        f"{number},c1,t1,standard,s1,0,,0,true,100,20,100,0,0,0,0,m,0,0,{arrival_us},{sent_us},"
        f'{sent_us + 9},{sent_us + 99},4,{status},"no, secret",stop\n'
    )


def test_a_response_of_no_tokens_failed_and_still_arrived() -> None:
    found = burstgpt.read(
        BURSTGPT + b"5,ChatGPT,472,18,490,Conversation log\n9.5,GPT-4,80,0,80,API log\n"
    )
    assert [one.failed for one in found.arrivals] == [False, True]
    assert [one.at_ns for one in found.arrivals] == [5_000_000_000, 9_500_000_000]
    assert [one.group for one in found.arrivals] == ["ChatGPT", "GPT-4"]
    assert statistics(found, found.arrivals)["failed"] == 1


def test_totals_that_don_t_add_up_lose_their_row() -> None:
    found = burstgpt.read(BURSTGPT + b"5,ChatGPT,472,18,500,x\n6,ChatGPT,1,1,2,x\n")
    assert (found.rows, [lost.line for lost in found.lost]) == (1, [2])


@pytest.mark.parametrize("header", ["", BLIS_HEADER, "---\n" + BLIS_HEADER + "---\n"])
def test_arrival_and_send_are_apart_with_a_header_or_without(header: str) -> None:
    rows = blis_row(0, 0, 50) + blis_row(1, 1000, 9000, "timeout") + "2,broken\n"
    body = (header + BLIS_COLUMNS + rows).encode()
    found = blis.read(body)
    assert [one.at_ns for one in found.arrivals] == [0, 1_000_000]
    assert [one.late_ns for one in found.arrivals] == [50_000, 8_000_000]
    assert [one.failed for one in found.arrivals] == [False, True]
    assert found.warm_up == (1 if header else 0)
    (lost,) = found.lost
    assert body[lost.offset :] == b"2,broken\n"
    assert lost.line == header.count("\n") + 4
    assert "secret" not in repr(found)


def test_another_unit_of_time_is_refused() -> None:
    body = (BLIS_HEADER.replace("us\n", "ms\n") + BLIS_COLUMNS + blis_row(0, 0, 0)).encode()
    with pytest.raises(UnreadableError, match="time_unit is ms"):
        blis.read(body)


def lines(*rows: dict[str, Any]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


def test_later_turns_of_a_session_follow_an_answer_and_are_counted_apart() -> None:
    found = mooncake.read(
        lines(
            {"timestamp": 0, "input_length": 10, "output_length": 5, "hash_ids": [2**64 - 1, 7]},
            {"session_id": "s", "delay": 40.0, "input_length": 4, "output_length": 2},
            {"timestamp": 27.5, "input_length": 1, "output_length": 1, "session_id": "s"},
        )
    )
    assert [one.at_ns for one in found.arrivals] == [0, 27_500_000]
    assert found.arrivals[1].session == "s"
    assert any(note.startswith("1 rows follow an answer") for note in found.notes)
    assert list(compact.arrivals_of(compact.encode(found.arrivals))) == found.arrivals


@pytest.mark.parametrize(
    "bad",
    [
        b'{"timestamp": NaN, "input_length": 1, "output_length": 1}',
        b'{"timestamp": -1, "input_length": 1, "output_length": 1}',
        b'{"timestamp": 1e300, "input_length": 1, "output_length": 1}',
        b'{"timestamp": 1, "input_length": -1, "output_length": 1}',
        b'{"timestamp": 1, "input_length": 1, "output_length": 1}{"timestamp": 2}',
        b'{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": ['
        + b"1," * 600_000
        + b"1]}",
    ],
)
def test_a_bad_line_is_lost_alone(bad: bytes) -> None:
    good = b'{"timestamp": 5, "input_length": 1, "output_length": 1}\r\n'
    found = mooncake.read(good + bad + b"\r\n" + good)
    assert found.rows == 2
    assert [(lost.line, lost.offset) for lost in found.lost] == [(2, len(good))]


def test_requests_for_pictures_have_characters_and_seconds_not_tokens() -> None:
    found = gentd26.read(GENTD26)
    assert found.units == ("prompt characters", "seconds of execution")
    assert [one.input_tokens for one in found.arrivals] == [63, 40, 0]
    assert [one.failed for one in found.arrivals] == [False, True, True]
    assert [lost.line for lost in found.lost] == [5]
    assert any("2 rows were not in the order" in note for note in found.notes)


@pytest.mark.parametrize(
    "text",
    [
        "{1: 0.5}",
        "{1: 0.5, 2: nan}",
        "{-1: 1.0}",
        "{1: 2.0}",
        "__import__('os')",
        "{1: 1.0, **{}}",
        "{__import__('os').getpid(): 1.0}",
        "{" + "1: 0.1," * 700_000 + "}",
        4,
    ],
)
def test_a_dict_written_as_text_is_read_by_its_characters_and_never_run(text: object) -> None:
    good = {"input_tokens": "{3: 0.25, 5: 0.75}", "output_tokens": "{1: 1.0}"}
    body = json.dumps({"0": good, "600": {**good, "input_tokens": text}}).encode()
    found = servegen.read_lengths(body)
    assert [window.input_tokens for window in found.windows] == [{3: 0.25, 5: 0.75}]
    (lost,) = found.lost
    assert body[lost.offset :].startswith(b'"600"')


def test_a_warm_up_is_cut_by_requests_or_seconds() -> None:
    found = mooncake.read(
        lines(
            *(
                {"timestamp": at, "input_length": 1, "output_length": 1}
                for at in range(0, 5000, 500)
            )
        )
    )
    assert len(after_warm_up(found.arrivals, 3)) == 7
    assert len(after_warm_up(found.arrivals, 0, 2.0)) == 6
    assert len(after_warm_up(found.arrivals, 5, 2.0)) == 5

from pathlib import Path

import pytest

from orchid.formats.arrivals import azure
from orchid.formats.arrivals.shape import Arrival
from orchid.formats.reading import UnreadableError

HEADER = b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
ROW = b"2023-11-16 18:15:46.6805900,374,44\r\n"


def test_the_shipped_slice_is_read_whole() -> None:
    path = Path(__file__).parents[3] / "examples/traces/azure-conversation-1000.csv"
    reading = azure.read(path.read_bytes())
    assert len(reading.arrivals) == 1000
    assert reading.lost == []
    assert reading.arrivals[0].input_tokens == 374
    times = [arrival.at_ns for arrival in reading.arrivals]
    assert times == sorted(times)


def test_seven_fractional_digits_are_exact() -> None:
    (arrival,) = azure.read(HEADER + ROW).arrivals
    assert arrival == Arrival(1_700_158_546_680_590_000, 374, 44)


def test_a_byte_order_mark_is_stripped() -> None:
    assert azure.read(b"\xef\xbb\xbf" + HEADER + ROW).arrivals == azure.read(HEADER + ROW).arrivals


def test_an_enormous_cell_loses_its_row_alone() -> None:
    huge = b"2023-11-16 18:15:47.0000000," + b"9" * 140_000 + b",1\r\n"
    reading = azure.read(HEADER + ROW + huge + ROW)
    assert len(reading.arrivals) == 2
    assert [lost.line for lost in reading.lost] == [3]


@pytest.mark.parametrize(
    "row",
    [
        b"2023-11-16 18:15:46,-1,4",
        b"2023-13-16 18:15:46,1,4",
        b"now,1,4",
        b"2023-11-16 18:15:46,1",
        b"2023-11-16 18:15:46,1.5,4",
    ],
)
def test_a_row_that_is_no_arrival_is_named(row: bytes) -> None:
    reading = azure.read(HEADER + row + b"\n" + ROW)
    assert len(reading.arrivals) == 1
    assert reading.lost[0].line == 2


@pytest.mark.parametrize("data", [b"", b"a,b,c\n1,2,3\n", ROW])
def test_a_file_without_the_header_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        azure.read(data)

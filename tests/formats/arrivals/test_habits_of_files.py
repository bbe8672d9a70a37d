"""Truncation, byte order marks, line ends, enormous cells: each costs what it touches, no more."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.formats.arrivals import azure, burstgpt, mooncake
from orchid.formats.arrivals.shape import Arrival, Trace
from orchid.formats.reading import UnreadableError

AZURE = b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n" + b"".join(
    b"2023-11-16 18:15:%02d.6805900,%d,44\r\n" % (second, 300 + second) for second in range(12)
)
MOONCAKE = b"".join(
    b'{"timestamp": %d, "input_length": %d, "output_length": 5, "hash_ids": [1]}\n' % (at, at + 1)
    for at in range(12)
)
BURST = b"Timestamp,Model,Request tokens,Response tokens\n" + b"".join(
    b'%d,"GPT, four",%d,9\n' % (at, at + 1) for at in range(12)
)
READERS = {
    "azure": (azure.read, AZURE),
    "mooncake": (mooncake.read, MOONCAKE),
    "burst": (burstgpt.read, BURST),
}


def held(trace: Trace) -> list[Arrival]:
    return trace.arrivals


@pytest.mark.parametrize("name", READERS)
@given(cut=st.integers(0, 900))
def test_a_truncated_file_gives_the_whole_rows_before_the_cut(name: str, cut: int) -> None:
    read, body = READERS[name]
    whole = held(read(body))
    try:
        found = read(body[:cut])
    except UnreadableError:
        return
    complete = len(found.arrivals) - 1
    assert found.arrivals[:complete] == whole[:complete]
    assert len(found.arrivals) + len(found.lost) <= len(whole)


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_and_other_line_ends_change_nothing(name: str) -> None:
    read, body = READERS[name]
    plain = body.replace(b"\r\n", b"\n")
    variants = (b"\xef\xbb\xbf" + body, plain, plain.replace(b"\n", b"\r\n\r\n"), plain.strip())
    assert all(held(read(one)) == held(read(body)) for one in variants)


@pytest.mark.parametrize("name", READERS)
def test_an_enormous_cell_loses_its_row_at_most(name: str) -> None:
    read, body = READERS[name]
    rows = body.splitlines(keepends=True)
    rows[4] = rows[4].replace(b",", b"," + b"7" * 140_000, 1)
    found = read(b"".join(rows))
    assert len(found.arrivals) == 11
    assert [(one.line, one.offset) for one in found.lost] == [(5, len(b"".join(rows[:4])))]


@pytest.mark.parametrize("name", READERS)
@given(junk=st.binary(max_size=60), at=st.integers(1, 11))
def test_any_junk_on_a_line_of_its_own_costs_no_row(name: str, junk: bytes, at: int) -> None:
    read, body = READERS[name]
    line = junk.replace(b"\n", b"").replace(b"\r", b"")
    rows = body.splitlines(keepends=True)
    found = read(b"".join([*rows[:at], b"!" + line + b"\n", *rows[at:]]))
    assert held(found) == held(read(body))
    assert [one.line for one in found.lost] == [at + 1]


def test_rows_out_of_order_are_sorted_and_equal_moments_keep_their_order() -> None:
    rows = AZURE.splitlines(keepends=True)
    mixed = b"".join(itertools.chain(rows[:1], reversed(rows[1:])))
    found = azure.read(mixed)
    assert held(found) == held(azure.read(AZURE))
    assert any("sorted" in note for note in found.notes)

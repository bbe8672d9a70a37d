"""Request records by the thousand: read fast where nothing is in doubt, else strictly.

A block of lines is read into the loose twins of `loose.py`. What they leave unchecked is seen to
here: a block of plain ASCII without space or escape holds no other character in any name; what is
said in words is checked once for each `Shape`, by reading that line strictly; amounts once for each
distinct text.

What the fast way refuses is read in ever smaller parts and in the end strictly, line by line, and
that verdict stands. A record that only the strict way takes (a space in the JSON, a name in another
script) is written canonically and read again.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET

from orchid.engine.wire.amounts import TEU_PARTS
from orchid.engine.wire.diagnosis import UNDECODED, RecordError
from orchid.engine.wire.loose import attempts_of, decisions_of, requests_of
from orchid.engine.wire.records import (
    AMOUNTS,
    BYTE_ORDER_MARK,
    MAX_RECORD_BYTES,
    Rejected,
    encode_record,
    parse_record,
)
from orchid.engine.wire.shapes import Shape, shapes_of

#: Bytes read at a time, and the rest of their last line: what a call of a library costs is spread
#: over a thousand lines, and what they need still fits the caches.
BLOCK = 1024 * 1024
#: So few lines are read one by one where something is wrong with one of them.
_FEW = 16

_amounts_of, _cost_parts_of = attrgetter(*AMOUNTS), attrgetter("cost_parts_usd")


class Lines(NamedTuple):
    """Sound records as lists of equal length.

    `requests`, `decisions` and `attempts` have the fields of the strict structs; amounts are text
    there. `decided` and `tried` are the JSON of the last two, as it was sent.
    """

    numbers: Sequence[int]
    requests: Sequence[Any]
    decisions: Sequence[Any]
    attempts: Sequence[tuple[Any, ...]]
    decided: Sequence[bytes]
    tried: Sequence[bytes]
    shapes: Sequence[Shape]
    arrived_us: Sequence[int]
    """Arrivals in microseconds since the epoch."""

    def take(self, places: Sequence[int]) -> "Lines":
        """Some of them, in their order."""
        columns: list[Any] = [[column[place] for place in places] for column in self]
        return Lines(*columns)


def read_lines(data: bytes, rejected: list[Rejected]) -> Iterator[Lines]:
    """The sound records of an NDJSON body, many at a time; the others are appended."""
    for number, block in _blocks(data.removeprefix(BYTE_ORDER_MARK)):
        yield from _sound(number, block, rejected)


class _InDoubtError(ValueError):
    """Not for the fast way, whether sound or not."""


#: What the fast way refuses with.
_Doubts = (_InDoubtError, RecordError, *UNDECODED)


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Whole lines with the number of the first, without the newline of the last."""
    begin, number = 0, 1
    while begin < len(data):
        end = data.find(b"\n", begin + BLOCK)
        block = data[begin:] if end < 0 else data[begin:end]
        block = block.removesuffix(b"\n") if end < 0 else block
        yield number, block
        begin, number = begin + len(block) + 1, number + block.count(b"\n") + 1


def _sound(number: int, block: bytes, rejected: list[Rejected]) -> Iterator[Lines]:
    """All of a block at once, or else half of it, and so on: one odd line slows only its own."""
    try:
        yield _read(number, block, _checked_count(block))
        return
    except _Doubts:
        count = block.count(b"\n") + 1
    if count <= _FEW:
        yield from _one_by_one(number, block.split(b"\n"), rejected)
        return
    middle = block.find(b"\n", len(block) // 2)
    middle = block.rfind(b"\n") if middle < 0 else middle
    yield from _sound(number, block[:middle], rejected)
    after = number + block.count(b"\n", 0, middle) + 1
    yield from _sound(after, block[middle + 1 :], rejected)


def _one_by_one(number: int, lines: list[bytes], rejected: list[Rejected]) -> Iterator[Lines]:
    for place, line in enumerate(lines, number):
        if not line.strip():
            continue
        try:
            yield _read_one(place, line)
        except RecordError as error:
            rejected.append(Rejected(place, error.code, error.message, error.field))


def _read_one(number: int, line: bytes) -> Lines:
    try:
        compact = _compact(line)
        return _read(number, compact, _checked_count(compact))
    except _Doubts:
        return _read(number, encode_record(parse_record(line)), 1)


def _compact(line: bytes) -> bytes:
    """Without the spaces that many encoders put between what they write."""
    if len(line) > MAX_RECORD_BYTES:
        raise _InDoubtError
    return msgspec.json.format(line, indent=-1) if b" " in line or b"\r" in line else line


def _checked_count(block: bytes) -> int:
    """How many lines these are, each a single object of plain characters.

    Between `}` and `{` no JSON goes on, so the records end where the lines do.
    """
    if not block.isascii() or b"\\" in block or b"\x7f" in block:
        raise _InDoubtError
    characters = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(characters <= ord(" "))
    if (characters[ends] != ord("\n")).any():
        raise _InDoubtError
    lengths = np.diff(ends, prepend=-1, append=len(block))
    whole = block.startswith(b"{") and block.endswith(b"}")
    if not whole or block.count(b"}\n{") != len(ends) or lengths.max() > MAX_RECORD_BYTES + 1:
        raise _InDoubtError
    return len(lengths)


def _read(number: int, block: bytes, count: int) -> Lines:
    requests = requests_of(block)
    if len(requests) != count:
        raise _InDoubtError
    decided = [bytes(request.decision) for request in requests]
    tried = [bytes(request.attempts) for request in requests]
    decisions, attempts = decisions_of(decided), attempts_of(tried)
    _check_amounts(decisions, attempts)
    shapes = shapes_of(block, requests, decisions, attempts)
    numbers, arrived_us = range(number, number + count), _arrived_us(requests)
    return Lines(numbers, requests, decisions, attempts, decided, tried, shapes, arrived_us)


def _arrived_us(requests: list[Any]) -> list[int]:
    """Exact until 2106: so far the double of a time in seconds is nearest to one microsecond."""
    seconds = map(datetime.timestamp, [request.arrived_at for request in requests])
    whole = np.rint(np.fromiter(seconds, dtype=np.float64, count=len(requests)) * 1e6)
    found: list[int] = whole.astype(np.int64).tolist()
    return found


def _check_amounts(decisions: list[Any], attempts: list[tuple[Any, ...]]) -> None:
    tried = list(chain.from_iterable(attempts))
    stated = set(chain.from_iterable(map(_amounts_of, tried)))
    stated.update([decision.teu for decision in decisions if decision is not None])
    for parts in map(_cost_parts_of, tried):
        if parts is not UNSET:
            stated.update(parts.values())
    try:
        TEU_PARTS.of(stated)
    except (ValueError, ArithmeticError) as error:
        raise _InDoubtError from error

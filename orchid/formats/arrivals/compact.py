"""A trace in few bytes, read back in order: columns of differences, names once, all deflated."""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from orchid.formats.arrivals.shape import Arrival, Window
from orchid.formats.reading import UnreadableError

_MAGIC = b"OAT1"
_LATE_UNKNOWN = -(2**63)
#: What one trace may unpack to.
_MOST = 512 * 1024 * 1024


def encode(arrivals: Sequence[Arrival], windows: Sequence[Window] = ()) -> bytes:
    """Arrivals (in order of time) and windows; columns that say nothing are left out."""
    columns: dict[str, Any] = {"rows": len(arrivals), "windows": list(windows)}
    if arrivals:
        at = np.array([one.at_ns for one in arrivals], dtype="<i8")
        columns["first"] = int(at[0])
        columns["gaps"] = np.diff(at).tobytes()
        columns["input"] = np.array([one.input_tokens for one in arrivals], dtype="<i4").tobytes()
        columns["output"] = np.array([one.output_tokens for one in arrivals], dtype="<i4").tobytes()
        columns |= _sparse(arrivals)
    return _MAGIC + zlib.compress(msgspec.msgpack.encode(columns), 6)


def arrivals_of(data: bytes) -> Iterator[Arrival]:
    """The arrivals in order; raises UnreadableError for other bytes."""
    columns = _columns(data)
    rows = int(columns["rows"])
    if not rows:
        return
    at = np.concatenate(([columns["first"]], np.frombuffer(columns["gaps"], dtype="<i8"))).cumsum()
    into, out = (np.frombuffer(columns[name], dtype="<i4") for name in ("input", "output"))
    failed = np.unpackbits(np.frombuffer(columns["failed"], dtype=np.uint8), count=rows)
    late = _late(columns, rows)
    sessions, groups = _names(columns, "session", rows), _names(columns, "group", rows)
    prefixes = _prefixes(columns, rows)
    for number in range(rows):
        yield Arrival(
            int(at[number]),
            int(into[number]),
            int(out[number]),
            bool(failed[number]),
            next(sessions),
            next(groups),
            next(prefixes),
            late[number],
        )


def windows_of(data: bytes) -> list[Window]:
    """The windows of a traffic model, in order of time."""
    return msgspec.convert(_columns(data)["windows"], list[Window], strict=False)


def _sparse(arrivals: Sequence[Arrival]) -> dict[str, Any]:
    failed = np.packbits(np.array([one.failed for one in arrivals], dtype=np.uint8))
    columns: dict[str, Any] = {"failed": failed.tobytes()}
    for name in ("session", "group"):
        texts = [getattr(one, name) for one in arrivals]
        if any(texts):
            known = {text: place for place, text in enumerate(dict.fromkeys(texts))}
            places = np.array([known[text] for text in texts], dtype="<i4")
            columns[name] = [list(known), places.tobytes()]
    if any(one.prefix for one in arrivals):
        blocks = [block for one in arrivals for block in one.prefix]
        lengths = np.array([len(one.prefix) for one in arrivals], dtype="<i4")
        columns["prefix"] = [lengths.tobytes(), np.array(blocks, dtype="<i8").tobytes()]
    if any(one.late_ns is not None for one in arrivals):
        late = [_LATE_UNKNOWN if one.late_ns is None else one.late_ns for one in arrivals]
        columns["late"] = np.array(late, dtype="<i8").tobytes()
    return columns


def _columns(data: bytes) -> dict[str, Any]:
    if not data.startswith(_MAGIC):
        raise UnreadableError("not a stored trace of a version that is known")
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(data[len(_MAGIC) :], _MOST)
    columns: dict[str, Any] = msgspec.msgpack.decode(plain)
    return columns


def _names(columns: dict[str, Any], name: str, rows: int) -> Iterator[str]:
    if name not in columns:
        return iter([""] * rows)
    known, places = columns[name]
    return (known[place] for place in np.frombuffer(places, dtype="<i4"))


def _prefixes(columns: dict[str, Any], rows: int) -> Iterator[tuple[int, ...]]:
    if "prefix" not in columns:
        return iter([()] * rows)
    lengths, blocks = columns["prefix"]
    every = np.frombuffer(blocks, dtype="<i8").tolist()
    ends = np.frombuffer(lengths, dtype="<i4").cumsum().tolist()
    starts = [0, *ends[:-1]]
    return (tuple(every[a:b]) for a, b in zip(starts, ends, strict=True))


def _late(columns: dict[str, Any], rows: int) -> list[int | None]:
    if "late" not in columns:
        return [None] * rows
    every = np.frombuffer(columns["late"], dtype="<i8").tolist()
    return [None if value == _LATE_UNKNOWN else value for value in every]

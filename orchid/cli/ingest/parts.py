"""Files cut into parts that stand alone, without ever holding a whole file.

The cuts follow from what stands before them, so that the same file again gives the same parts, and
one that has grown gives the same ones and then more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import click

from orchid.cli.ingest.names import OF_LINES
from orchid.formats.triton_objects import OBJECT_START, whole_before

#: A part is this large where the file has a place to cut, and a record may be so long.
PART, LONGEST = 4 * 1024 * 1024, 32 * 1024 * 1024
#: What the control plane takes of a file that can't be cut.
WHOLE = 48 * 1024 * 1024
_READ = 1024 * 1024
_TAIL = 64 * 1024
_SEPARATORS = b"\xef\xbb\xbf[, \t\r\n"


@dataclass(frozen=True)
class Part:
    """What is sent at once. Add `offset` to a place in it for the place in the file, and `lines` to
    a line; the file is delivered up to `end`."""

    content: bytes
    offset: int
    end: int
    lines: int = 0


def parts(file: BinaryIO, kind: str) -> Iterator[Part]:
    """The parts of a file that is finished, from its beginning."""
    if kind == "triton_trace":
        return objects(file)
    return _lines(file) if kind in OF_LINES else _whole(file)


def objects(file: BinaryIO, *, growing: bool = False) -> Iterator[Part]:
    """Parts of a trace file from where it stands, each a closed array of whole objects.

    The end of the file goes as it is, or up to its last whole object while it still grows.
    """
    offset, held = file.tell(), b""
    while block := file.read(_READ):
        held += block
        while len(held) >= PART and (cut := _object_cut(held)):
            yield _array(held[:cut], offset, closed=True)
            offset, held = offset + cut, held[cut:]
    if growing:
        held = held[: whole_before(held)]
    if held.strip(_SEPARATORS + b"]") or not (offset or growing):
        yield _array(held, offset, closed=growing)


def _object_cut(held: bytes) -> int:
    """Where another object begins, of another trace if one of those near the end does."""
    starts = [found.start() for found in OBJECT_START.finditer(held, PART - _TAIL, PART)]
    for before, start in zip(reversed(starts[:-1]), reversed(starts[1:]), strict=True):
        if _number(held, before) != _number(held, start):
            return start
    starts = starts or [found.start() for found in OBJECT_START.finditer(held, 1, PART)]
    if starts:
        return starts[-1]
    later = OBJECT_START.search(held, PART)
    return later.start() if later else len(held) // LONGEST * LONGEST


def _number(held: bytes, start: int) -> bytes:
    return held[start : held.find(b",", start, start + 64)]


def _array(held: bytes, offset: int, *, closed: bool) -> Part:
    if offset == 0 and not closed:
        return Part(held, 0, len(held))
    objects_alone = held.lstrip(_SEPARATORS)
    shift = len(held) - len(objects_alone)
    if closed:
        objects_alone = objects_alone.rstrip(b", \t\r\n]") + b"]"
    return Part(b"[" + objects_alone, offset + shift - 1, offset + len(held))


def _lines(file: BinaryIO) -> Iterator[Part]:
    offset, lines, held = 0, 0, b""
    while block := file.read(_READ):
        held += block
        while len(held) >= PART and (cut := _line_cut(held)):
            yield Part(held[:cut], offset, offset + cut, lines)
            lines += held.count(b"\n", 0, cut)
            offset, held = offset + cut, held[cut:]
    if held or not offset:
        yield Part(held, offset, offset + len(held), lines)


def _line_cut(held: bytes) -> int:
    cut = held.rfind(b"\n", 0, PART) + 1 or held.find(b"\n", PART) + 1
    return cut or len(held) // LONGEST * LONGEST


def _whole(file: BinaryIO) -> Iterator[Part]:
    content = file.read(WHOLE + 1)
    if len(content) > WHOLE:
        raise click.ClickException(
            f"{getattr(file, 'name', 'The file')} has more than {WHOLE // 1024**2} MB, and a file"
            " of its kind can't be cut. Deliver a shorter recording, or the lines of a log."
        )
    yield Part(content, 0, len(content))

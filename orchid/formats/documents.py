"""Whole JSON documents and JSON lines of other tools, which also write NaN where JSON has none."""

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from orchid.engine.wire.diagnosis import UNDECODED
from orchid.formats.lines import lines
from orchid.formats.reading import Lost, UnreadableError
from orchid.formats.tables import lose

Record = TypeVar("Record")

#: Bytes of one line, and of a document that is decoded whole.
MAX_LINE = 1024 * 1024
MAX_DOCUMENT = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


def document(data: bytes) -> dict[str, Any]:
    """One JSON object. NaN stays in place as a float, so that only its own figure is refused."""
    if len(data) > MAX_DOCUMENT:
        raise UnreadableError(f"a document of {len(data)} bytes; expected up to {MAX_DOCUMENT}")
    try:
        found = json.loads(data.removeprefix(_BOM).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"not a JSON document: {error}") from None
    if not isinstance(found, dict):
        raise UnreadableError("expected a JSON object")
    return found


def records(
    data: bytes, decode: Callable[[bytes], Record], lost: list[Lost]
) -> Iterator[tuple[int, int, Record]]:
    """(line, offset, record) of each line that decodes; the others are lost by name."""
    for number, offset, line in lines(data):
        try:
            if len(line) > MAX_LINE:
                raise ValueError(f"a line of {len(line)} bytes; expected up to {MAX_LINE}")
            yield number, offset, decode(line)
        except UNDECODED as error:
            lose(lost, Lost(offset, _reason(line, str(error)), number))
        except ValueError as error:
            lose(lost, Lost(offset, str(error), number))


def keys(data: bytes) -> frozenset[str]:
    """The names at the top of a document, or of one of the first lines where lines are records."""
    for number, _, line in lines(data):
        if found := _keys(line):
            return found
        if number > 20:
            break
    return _keys(data.removeprefix(_BOM)) or _keys_with_nan(data)


def _keys(text: bytes) -> frozenset[str]:
    try:
        return frozenset(msgspec.json.decode(text, type=dict[str, msgspec.Raw]))
    except UNDECODED:
        return frozenset()


def _keys_with_nan(data: bytes) -> frozenset[str]:
    try:
        return frozenset(document(data))
    except UnreadableError:
        return frozenset()


def _reason(line: bytes, reason: str) -> str:
    for name in (b"NaN", b"Infinity"):
        if name in line:
            return f"{name.decode()} is no number that can be used"
    return reason

"""Attributes as the bytes they came in: kept whole, or dropped.

Most spans carry a handful of pairs that are all known, and nothing of them is needed before a
worker looks at the span. So a pair is judged by its bytes (key, type of value, and that nothing
follows) and only one that is written in an unusual way is parsed for the answer.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.message import DecodeError

from orchid.formats.otlp.attributes import KEPT_ATTRIBUTES, LONGEST_NAME, Kind
from orchid.formats.otlp.wire import KeyValue

Value = str | int | float | bool

# Tags on the wire: the fields `key` and `value` of a pair, then those of its value.
_KEY, _VALUE = 0x0A, 0x12
_TEXT, _INT, _DOUBLE = 0x0A, 0x18, 0x21
_INT_BYTES, _DOUBLE_BYTES = 11, 9  # tag included
_ONE_BYTE = 0x80  # a length below it takes one byte


def _prefix(name: str) -> bytes:
    key = name.encode()
    return bytes([_KEY, len(key)]) + key + bytes([_VALUE])


_KINDS = {_prefix(name): kind for name, kind in KEPT_ATTRIBUTES.items()}


def kept(pairs: Iterable[bytes]) -> list[bytes]:
    """Those that may be stored."""
    found: list[bytes] = []
    for pair in pairs:
        if _is_plainly_kept(pair):
            found.append(pair)
        elif (pair[:1] != b"\x0a" or pair[: pair[1] + 3] in _KINDS) and (parsed := _parsed(pair)):
            found.append(parsed)
    return found


def _is_plainly_kept(pair: bytes) -> bool:
    """Known name, one value of its kind, nothing else; false also where that takes a parser."""
    try:
        at = pair[1] + 3
        kind = _KINDS.get(pair[:at])
        size = pair[at]
        if kind is None or size >= _ONE_BYTE or at + 1 + size != len(pair):
            return False
        tag = pair[at + 1]
        if kind is Kind.NAME:
            return tag == _TEXT and pair[at + 2] + 2 == size
        return (tag == _INT and size <= _INT_BYTES) or (tag == _DOUBLE and size == _DOUBLE_BYTES)
    except IndexError:
        return False


def _parsed(pair: bytes) -> bytes | None:
    """The pair written anew, where it is a kept one; None where it is not, or can't be read."""
    try:
        found = KeyValue.FromString(pair)
    except DecodeError:
        return None
    kind, text = KEPT_ATTRIBUTES.get(found.key), found.value.string_value
    which = found.value.WhichOneof("value")
    fits = 0 < len(text) <= LONGEST_NAME if kind is Kind.NAME else which != "string_value"
    if kind is None or which is None or not fits:
        return None
    found.DiscardUnknownFields()
    written: bytes = found.SerializeToString()
    return written


def values(pairs: Iterable[bytes]) -> Iterator[tuple[str, Value]]:
    """Names and values of stored pairs; one that turns out to hold no value is left out."""
    for pair in pairs:
        try:
            found = KeyValue.FromString(pair)
        except DecodeError:
            continue
        which = found.value.WhichOneof("value")
        value: Any = getattr(found.value, which) if which else None
        if value is not None and not (isinstance(value, float) and not math.isfinite(value)):
            yield found.key, value

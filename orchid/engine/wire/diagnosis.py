"""Why a record was refused: a stable code and a field, and never the value itself."""

import json
import re
from typing import Any

import msgspec

from orchid.engine.wire.fields import TEXT_FIELDS

#: What a decoder raises for input that it can't read, endless nesting included.
UNDECODED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NOT_A_NUMBER = object()
_AT = re.compile(r" - at (?:`key` in )?`\$\.?(?P<path>[^`]*)`\Z")
_NAMED = re.compile(r"(?:missing required|contains unknown) field `(?P<name>[^`]*)`")
_QUOTED = re.compile(r"(Invalid enum value ).*", re.DOTALL)
_CODES = (
    ("missing required field", "missing"),
    ("contains unknown field", "unknown_field"),
    ("timezone component", "bad_time"),
    ("Invalid RFC3339", "bad_time"),
    ("of length >= 1", "empty"),
    ("of length <=", "too_long"),
    ("Number out of range", "out_of_range"),
    ("finite decimal", "out_of_range"),
    (" >= ", "out_of_range"),
    (" <= ", "out_of_range"),
    ("matching regex", "bad_value"),
    ("Invalid enum value", "bad_value"),
    ("Expected `object`, got", "not_an_object"),
)


class RecordError(ValueError):
    """A refused record: a stable code, a dotted path ("" = the whole), a message for people."""

    def __init__(self, code: str, field: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.field, self.message = code, field, message


def why_refused(line: bytes, error: Exception) -> RecordError:
    """Name the fault of a line that did not decode. Text comes first: it must never be stored."""
    try:
        return _diagnosed(json.loads(line, parse_constant=lambda _: _NOT_A_NUMBER), str(error))
    except (ValueError, RecursionError):
        return RecordError("not_json", "", "the line is not one JSON object")


def _diagnosed(found: Any, said: str) -> RecordError:
    if path := _find(found, lambda key, _: key.lower() in TEXT_FIELDS):
        return RecordError(
            "text_not_allowed",
            path,
            f"{path}: records carry shapes and figures, never what was written; leave it out",
        )
    if path := _find(found, lambda _, value: value is _NOT_A_NUMBER):
        return RecordError("nan", path, f"{path}: not a finite number; send null when unknown")
    return _from_message(said)


def _find(value: Any, wanted: Any, path: str = "") -> str:
    """The first path, depth first, at which `wanted(key, value)` holds; "" when none does."""
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(str(index), item) for index, item in enumerate(value)]
    else:
        return ""
    for key, item in pairs:
        here = f"{path}.{key[:64]}" if path else key[:64]
        if wanted(key, item):
            return here
        if deeper := _find(item, wanted, here):
            return deeper
    return ""


def _from_message(text: str) -> RecordError:
    at, named = _AT.search(text), _NAMED.search(text)
    parts = [at["path"] if at else "", named["name"][:64] if named else ""]
    field = ".".join(part for part in parts if part)
    code = next((code for words, code in _CODES if words in text), "bad_type")
    words = _QUOTED.sub(r"\1(see the list of allowed values)", _AT.sub("", text))
    return RecordError(code, field, f"{field or 'record'}: {words[:300]}")

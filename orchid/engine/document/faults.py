"""What pydantic says of a value, in the words and places of a document's author."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic_core import ErrorDetails

from orchid.engine.document.bounds import Path
from orchid.engine.document.errors import DocumentError, listed, nearest, pointer_of, shown
from orchid.engine.document.number_words import number_words
from orchid.engine.document.schema import known_keys
from orchid.engine.document.values import DIGEST_PATTERN, NAME_PATTERN, SLUG_PATTERN
from orchid.engine.document.yaml_text import FLOAT, INTEGER

_MISSING = object()
_KEY = "[key]"
_QUOTED = re.compile(r"'([^']*)'")
_PATTERNS = {
    NAME_PATTERN: "a name of letters, digits and . _ : / + - (at most 80 characters)",
    SLUG_PATTERN: "a name of small letters, digits and - that begins with a letter",
    DIGEST_PATTERN: "sha256: and 64 hexadecimal digits",
}
_ALLOWED = {
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "tuple_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number",
    "float_type": "a number",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "less_than": "a number below {lt}",
    "less_than_equal": "a number of at most {le}",
    "too_short": "a list or mapping of at least {min_length}",
    "too_long": "a list or mapping of at most {max_length}",
    "string_too_short": "text of at least {min_length} character",
    "string_too_long": "text of at most {max_length} characters",
}
#: Types of faults of a number: its place says which numbers would be right.
_NUMBERS = {
    "number",
    "int_type",
    "int_from_float",
    "int_parsing_size",
    "float_type",
    "greater_than",
    "greater_than_equal",
    "less_than",
    "less_than_equal",
}
#: Types of faults in which quotes may have made text of a number or a truth value.
_UNQUOTED = {"number", "bool_type", "int_type", "duration"}


def fault(item: ErrorDetails, given: dict[str, Any]) -> DocumentError:
    """One fault of the model's, at the place in `given` where its author finds it."""
    path, kind = _existing_path(item["loc"], given), item["type"]
    if kind == "missing":
        key = str(item["loc"][-1])
        return DocumentError(pointer_of((*path, key)), "nothing", "this key, required", "missing")
    if kind == "extra_forbidden":
        return _unknown_key(path)
    if item["loc"][-1] == _KEY:
        return _bad_key(path, item)
    value = _at(given, path)
    allowed = (number_words(path) if kind in _NUMBERS else "") or _allowed(item)
    return DocumentError(pointer_of(path), shown(value), allowed, kind, _hint(item, value))


def merged(errors: Iterable[DocumentError]) -> list[DocumentError]:
    """One fault a place: the alternatives of a union are one sentence."""
    by_pointer: dict[str, DocumentError] = {}
    for error in errors:
        first = by_pointer.setdefault(error.pointer, error)
        if first is not error and error.allowed not in first.allowed:
            by_pointer[error.pointer] = DocumentError(
                first.pointer,
                first.found,
                f"{first.allowed}, or {error.allowed}",
                first.code,
                first.hint or error.hint,
            )
    return [error for error in by_pointer.values() if not _follows(error, by_pointer)]


def _follows(error: DocumentError, pointers: Iterable[str]) -> bool:
    """A list seems too short when its items failed: the items are the fault, not the length."""
    inside = f"{error.pointer}/"
    return error.code == "too_short" and any(pointer.startswith(inside) for pointer in pointers)


def _unknown_key(path: Path) -> DocumentError:
    keys, word = known_keys(path[:-1]), str(path[-1])
    found = f"unknown key {shown(word)}"
    return DocumentError(pointer_of(path), found, listed(keys), "unknown_key", nearest(word, keys))


def _bad_key(path: Path, item: ErrorDetails) -> DocumentError:
    return DocumentError(pointer_of(path), f"key {shown(path[-1])}", _allowed(item), "bad_key")


def _allowed(item: ErrorDetails) -> str:
    context = item.get("ctx", {})
    if item["type"] == "string_pattern_mismatch":
        return _PATTERNS[context["pattern"]]
    if item["type"] == "literal_error":
        return _one_of(_QUOTED.findall(context["expected"]))
    if item["type"] in _ALLOWED:
        return _ALLOWED[item["type"]].format(**context)
    return item["msg"].removeprefix("Value error, ")


def _one_of(words: list[str]) -> str:
    return words[0] if len(words) == 1 else listed(words)


def _hint(item: ErrorDetails, value: Any) -> str:
    if not isinstance(value, str):
        return ""
    if item["type"] == "literal_error":
        words = _QUOTED.findall(item.get("ctx", {})["expected"])
        return nearest(value, words) if len(words) > 1 else ""  # one alone is told as allowed
    unquoted = FLOAT.fullmatch(value) or INTEGER.fullmatch(value) or value in ("true", "false")
    return "write it without quotes" if item["type"] in _UNQUOTED and unquoted else ""


def _existing_path(loc: tuple[str | int, ...], given: Any) -> Path:
    """The part of pydantic's location that is in the document; union tags are not."""
    path: list[str | int] = []
    for part in loc:
        inner = _step(given, part)
        if inner is not _MISSING:
            given = inner
            path.append(part)
    return tuple(path)


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return _MISSING


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value

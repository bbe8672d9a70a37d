"""Text to plain values, refusing what makes a document ambiguous or unbounded."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import yaml

from orchid.engine.document.errors import DocumentError, DocumentErrors, pointer_of, shown

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_NODES = 50_000

Media = Literal["yaml", "json"]
Path = tuple[str | int, ...]

#: libyaml where the wheel has it (ten times faster); both give the same events.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    "null": None,
    "Null": None,
    "NULL": None,
    "~": None,
    "": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


def refuse(path: Path, found: str, allowed: str, code: str) -> DocumentErrors:
    return DocumentErrors([DocumentError(pointer_of(path), found, allowed, code)])


def parse(data: bytes | str, media: Media | None) -> Any:
    """The document's plain values.

    Raises DocumentErrors: too large, not UTF-8, not YAML or JSON, duplicate keys, anchors, tags,
    too deep, numbers that are not finite.
    """
    text = _text(data)
    if media is None:
        media = "json" if text.lstrip()[:1] == "{" else "yaml"
    value = _from_json(text) if media == "json" else _YamlReader(text).read()
    return plain(value)


def _text(data: bytes | str) -> str:
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BYTES:
        raise refuse((), f"{len(raw):,} bytes", f"at most {MAX_BYTES:,} bytes", "too_large")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte 0x{raw[error.start]:02x} at offset {error.start}"
        raise refuse((), found, "UTF-8 text", "not_utf8") from None


def plain(value: Any) -> Any:
    """A copy of dicts, lists and scalars alone; bounds depth and size, refuses NaN."""
    budget = [MAX_NODES]
    return _plain(value, (), budget)


def _plain(value: Any, path: Path, budget: list[int]) -> Any:
    budget[0] -= 1
    _within(path, budget[0])
    if isinstance(value, Mapping):
        return {_key(key, path): _plain(item, (*path, key), budget) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, (*path, i), budget) for i, item in enumerate(value)]
    return _scalar(value, path)


def _within(path: Path, budget: int) -> None:
    if budget < 0:
        raise refuse(path, f"over {MAX_NODES:,} values", f"at most {MAX_NODES:,}", "too_large")
    if len(path) > MAX_DEPTH:
        raise refuse(path, "deeper nesting", f"at most {MAX_DEPTH} levels", "too_deep")


def _key(key: object, path: Path) -> str:
    if not isinstance(key, str):
        raise refuse(path, f"key {shown(key)}", "text as a key", "bad_key")
    _check_text(key, path)
    return key


def _scalar(value: Any, path: Path) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise refuse(path, str(value), "a finite number", "not_finite")
    if isinstance(value, str):
        _check_text(value, path)
    return value


def _check_text(value: str, path: Path) -> None:
    """A quoted YAML text can spell any character, and no database takes a NUL."""
    if "\x00" in value:
        raise refuse(path, "a NUL character", "text without it", "nul")
    if not _is_unicode(value):
        raise refuse(path, "a lone surrogate", "Unicode text", "not_utf8")


def _is_unicode(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _from_json(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        found = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise refuse((), found, "JSON", "not_json") from None
    except RecursionError:
        raise refuse((), "deeper nesting", f"at most {MAX_DEPTH} levels", "too_deep") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise refuse(
                (), f"key {shown(key)} twice in one object", "each key once", "duplicate_key"
            )
        content[key] = value
    return content


def _no_constant(word: str) -> Any:
    raise refuse((), word, "a finite number", "not_finite")


def _integer(digits: str) -> int:
    if len(digits) > 30:
        raise refuse((), f"a number of {len(digits)} digits", "at most 30 digits", "huge_number")
    return int(digits)


class _YamlReader:
    """Builds values from parser events, so an alias is refused before anything is expanded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._duplicates: list[DocumentError] = []
        self._events: Iterator[Any] = iter(())
        self._budget = MAX_NODES

    def read(self) -> Any:
        try:
            self._events = iter(yaml.parse(self._text, Loader=_LOADER))
            value = self._document()
        except yaml.YAMLError as error:
            raise refuse((), _where(error), "YAML", "not_yaml") from None
        if self._duplicates:
            raise DocumentErrors(self._duplicates)
        return value

    def _document(self) -> Any:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        value = self._value(next(self._events), ())
        next(self._events)
        if not isinstance(next(self._events), yaml.StreamEndEvent):
            raise refuse((), "a second document", "one document", "not_yaml")
        return value

    def _value(self, event: Any, path: Path) -> Any:
        _no_indirection(event, path)
        self._budget -= 1
        _within(path, self._budget)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return _resolve(event, path)

    def _mapping(self, path: Path) -> dict[str, Any]:
        content: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            _no_indirection(event, path)
            if not isinstance(event, yaml.ScalarEvent):
                raise refuse(path, "a key that is no text", "text as a key", "bad_key")
            key = event.value
            value = self._value(next(self._events), (*path, key))
            if key in content:
                self._duplicates.append(_duplicate(event, (*path, key)))
            content.setdefault(key, value)
        return content

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or "unreadable text").replace("\n", " ")
    return f"{problem} at line {mark.line + 1}, column {mark.column + 1}" if mark else problem


def _duplicate(event: Any, path: Path) -> DocumentError:
    line = event.start_mark.line + 1
    return DocumentError(
        pointer_of(path), f"the key again at line {line}", "each key once", "duplicate_key"
    )


def _no_indirection(event: Any, path: Path) -> None:
    """An alias can grow a document without bound, and a tag can name a type to build."""
    line = event.start_mark.line + 1
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise refuse(path, f"an anchor or alias at line {line}", "the value itself", "anchor")
    if getattr(event, "tag", None):
        raise refuse(path, f"the tag {event.tag} at line {line}", "a value without a tag", "tag")


def _resolve(event: Any, path: Path) -> Any:
    """The core schema of YAML 1.2: `no` and `1:30` are text, never a truth value or 90."""
    if not event.implicit[0]:  # quoted or block text
        return event.value
    word = event.value
    if word in _WORDS:
        return _WORDS[word]
    if _NOT_FINITE.fullmatch(word):
        raise refuse(path, word, "a finite number", "not_finite")
    read = _number_reader(word)
    return read(word) if read else word


def _number_reader(word: str) -> Callable[[str], Any] | None:
    if _INTEGER.fullmatch(word):
        return _integer
    return float if _FLOAT.fullmatch(word) else None

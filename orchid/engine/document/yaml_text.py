"""YAML text to values, by the core schema of YAML 1.2, without its indirections."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from orchid.engine.document.bounds import (
    MAX_NODES,
    Path,
    broken_number,
    checked_key,
    checked_text,
    refuse,
    whole_number,
    within,
)
from orchid.engine.document.errors import MAX_FAULTS, DocumentError, DocumentErrors, pointer_of

#: libyaml where the wheel has it (ten times faster); both give the same events.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
INTEGER = re.compile(r"[-+]?[0-9]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
WORDS: dict[str, bool | None] = {
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


def read_yaml(text: str) -> Any:
    """Raises DocumentErrors: not YAML, duplicate keys, anchors, tags, too deep, bad numbers."""
    return _YamlReader(text).read()


class _YamlReader:
    """Builds values from parser events, so an alias is refused before anything is expanded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._duplicates: list[DocumentError] = []
        self._events: Iterator[Any] = iter(())
        self._budget = MAX_NODES

    def read(self) -> Any:
        try:
            self._events = iter(yaml.parse(self._text, Loader=LOADER))
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
        within(path, self._budget)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, path)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        return self._sequence(path)

    def _mapping(self, path: Path) -> dict[str, Any]:
        content: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            _no_indirection(event, path)
            if not isinstance(event, yaml.ScalarEvent):
                raise refuse(path, "a key that is no text", "text as a key", "bad_key")
            key = checked_key(event.value, path)
            value = self._value(next(self._events), (*path, key))
            if key in content:
                self._note(_duplicate(event, (*path, key)))
            content.setdefault(key, value)
        return content

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _note(self, duplicate: DocumentError) -> None:
        if len(self._duplicates) < MAX_FAULTS:
            self._duplicates.append(duplicate)


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
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        line = event.start_mark.line + 1
        raise refuse(path, f"an anchor or alias at line {line}", "the value itself", "anchor")
    if event.tag is not None:
        line = event.start_mark.line + 1
        found = f"the tag {event.tag[:MAX_TAG]} at line {line}"
        raise refuse(path, found, "a value without a tag", "tag")


MAX_TAG = 60


def _scalar(event: Any, path: Path) -> Any:
    """The core schema of YAML 1.2: `no` and `1:30` are text, never a truth value or 90."""
    word: str = event.value
    if not event.implicit[0]:  # quoted or block text
        checked_text(word, path)
        return word
    if word in WORDS:
        return WORDS[word]
    if NOT_FINITE.fullmatch(word):
        raise refuse(path, word, "a finite number", "not_finite")
    if INTEGER.fullmatch(word):
        return whole_number(word, path)
    return broken_number(word, path) if FLOAT.fullmatch(word) else word

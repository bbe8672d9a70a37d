"""YAML text to values, by the core schema of YAML 1.2, without its indirections."""

import re
from typing import Any

import yaml

from orchid.engine.document.bounds import (
    MAX_DEPTH,
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
NUMBER_BEGINS = frozenset("+-.0123456789")
MAX_TAG = 60
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
        self._budget = MAX_NODES

    def read(self) -> Any:
        try:
            loader = LOADER(self._text)
            self._next = loader.get_event
            value = self._document()
        except yaml.YAMLError as error:
            raise refuse((), self._fault(error), "YAML", "not_yaml") from None
        if self._duplicates:
            raise DocumentErrors(self._duplicates)
        return value

    def _document(self) -> Any:
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        value = self._value(self._next(), ())
        self._next()
        if not isinstance(self._next(), yaml.StreamEndEvent):
            raise refuse((), "a second document", "one document", "not_yaml")
        return value

    def _fault(self, error: yaml.YAMLError) -> str:
        """Where the text stops being YAML, with the parser's words for it."""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        told = " ".join(str(problem).split())
        mark = getattr(error, "problem_mark", None)
        if mark is not None:
            return f"no YAML at line {mark.line + 1}, column {mark.column + 1} ({told})"
        at = self._text.find(chr(getattr(error, "character", 0)))
        where = f" at line {self._text.count(chr(10), 0, at) + 1}" if at >= 0 else ""
        return f"no YAML{where} ({told})"

    def _value(self, event: Any, path: Path) -> Any:
        if type(event) is yaml.AliasEvent or event.anchor is not None or event.tag is not None:
            raise _indirection(event, path)
        self._budget -= 1
        if self._budget < 0 or len(path) > MAX_DEPTH:
            within(path, self._budget)
        if type(event) is yaml.ScalarEvent:
            return _scalar(event, path)
        return self._mapping(path) if type(event) is yaml.MappingStartEvent else self._list(path)

    def _mapping(self, path: Path) -> dict[str, Any]:
        content: dict[str, Any] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            key = _key(event, path)
            value = self._value(self._next(), (*path, key))
            if key in content:
                self._note(_duplicate(event, (*path, key)))
            content.setdefault(key, value)
        return content

    def _list(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            items.append(self._value(event, (*path, len(items))))
        return items

    def _note(self, duplicate: DocumentError) -> None:
        if len(self._duplicates) < MAX_FAULTS:
            self._duplicates.append(duplicate)


def _key(event: Any, path: Path) -> str:
    if type(event) is yaml.AliasEvent or event.anchor is not None or event.tag is not None:
        raise _indirection(event, path)
    if type(event) is not yaml.ScalarEvent:
        raise refuse(path, "a key that is no text", "text as a key", "bad_key")
    return checked_key(event.value, path)


def _duplicate(event: Any, path: Path) -> DocumentError:
    line = event.start_mark.line + 1
    return DocumentError(
        pointer_of(path), f"the key again at line {line}", "each key once", "duplicate_key"
    )


def _indirection(event: Any, path: Path) -> DocumentErrors:
    """An alias can grow a document without bound, and a tag can name a type to build."""
    line = event.start_mark.line + 1
    if type(event) is yaml.AliasEvent or event.anchor is not None:
        return refuse(path, f"an anchor or alias at line {line}", "the value itself", "anchor")
    return refuse(
        path, f"the tag {event.tag[:MAX_TAG]} at line {line}", "a value without a tag", "tag"
    )


def _scalar(event: Any, path: Path) -> Any:
    """The core schema of YAML 1.2: `no` and `1:30` are text, never a truth value or 90."""
    word: str = event.value
    if not event.implicit[0]:  # quoted or block text
        if event.style == '"':  # the one form with escapes; the parser refuses the rest as bytes
            checked_text(word, path)
        return word
    if word in WORDS:
        return WORDS[word]
    if word[0] not in NUMBER_BEGINS:
        return word
    if NOT_FINITE.fullmatch(word):
        raise refuse(path, word, "a finite number", "not_finite")
    if INTEGER.fullmatch(word):
        return whole_number(word, path)
    return broken_number(word, path) if FLOAT.fullmatch(word) else word

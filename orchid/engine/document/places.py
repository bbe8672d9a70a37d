"""Where in a text each value of a document stands, so that a fault can be pointed at.

Reads what there is up to a fault of the text itself: an unfinished document has places too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from orchid.engine.document.errors import pointer_of
from orchid.engine.document.parse import MAX_BYTES, MAX_DEPTH, MAX_NODES
from orchid.engine.document.yaml_text import LOADER

Parts = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """Lines, counted from 1, by JSON pointer; `broken_at` is where the text can't be read on."""

    lines: dict[str, int] = field(default_factory=dict)
    broken_at: int | None = None

    def line_of(self, pointer: str) -> int:
        """The line of the value, or of the nearest thing around it that the text has."""
        if not pointer and self.broken_at is not None:
            return self.broken_at
        while pointer and pointer not in self.lines:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer, 1)


def places(text: str) -> Places:
    """The line of every key and list item of a YAML or JSON text; of a repeated key the last."""
    found: dict[str, int] = {}
    if len(text) > MAX_BYTES:
        return Places(found)
    try:
        events = iter(yaml.parse(text, Loader=LOADER))
        for event in events:
            if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
                _note((), event, events, found)
                break
    except yaml.YAMLError as error:
        return Places(found, _line_of(error))
    except (_TooMuchError, StopIteration):
        pass  # too much to read, or a mapping as a key: the reader refuses both as a whole
    return Places(found)


class _TooMuchError(Exception):
    """More values, or deeper ones, than a document may have."""


def _note(path: Parts, event: Any, events: Iterator[Any], found: dict[str, int]) -> None:
    if len(found) > MAX_NODES or len(path) > MAX_DEPTH:
        raise _TooMuchError
    if isinstance(event, yaml.MappingStartEvent):
        _note_keys(path, events, found)
    elif isinstance(event, yaml.SequenceStartEvent):
        _note_items(path, events, found)


def _note_keys(path: Parts, events: Iterator[Any], found: dict[str, int]) -> None:
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        inner = (*path, str(getattr(key, "value", "")))
        found[pointer_of(inner)] = key.start_mark.line + 1
        _note(inner, next(events), events, found)


def _note_items(path: Parts, events: Iterator[Any], found: dict[str, int]) -> None:
    index = 0
    while not isinstance(item := next(events), yaml.SequenceEndEvent):
        inner = (*path, index)
        found[pointer_of(inner)] = item.start_mark.line + 1
        _note(inner, item, events, found)
        index += 1


def _line_of(error: yaml.YAMLError) -> int | None:
    mark = getattr(error, "problem_mark", None)
    return mark.line + 1 if mark else None

"""Which format a file is, by its content, with its name as a hint."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from orchid.formats import documents
from orchid.formats.lines import lines
from orchid.formats.reading import UnreadableError
from orchid.formats.tables import cells_of

Read = TypeVar("Read")


class Head:
    """What a file shows at first sight: its columns if it is a table, its keys if it is JSON."""

    def __init__(self, data: bytes, name: str = "") -> None:
        self._data = data
        self.name = name

    @cached_property
    def first(self) -> tuple[str, ...]:
        """The cells of the first line, as written."""
        _, _, line = next(lines(self._data), (0, 0, b""))
        try:
            return tuple(cell.strip() for cell in cells_of(line))
        except ValueError:
            return ()

    @cached_property
    def columns(self) -> frozenset[str]:
        return frozenset(cell.lower() for cell in self.first)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Names at the top of a JSON document, or of one of the first JSON lines."""
        looks_like_json = self._data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
        return documents.keys(self._data) if looks_like_json else frozenset()

    def has(self, *columns: str) -> bool:
        return self.columns.issuperset(columns)

    def holds(self, *keys: str) -> bool:
        return self.keys.issuperset(keys)

    def contains(self, *texts: bytes) -> bool:
        """Whether the first 64 KiB contain each text."""
        return all(text in self._data[: 64 * 1024] for text in texts)


@dataclass(frozen=True, slots=True)
class Format(Generic[Read]):
    """One format: its name in addresses, its title for people, its marks, its reader."""

    name: str
    title: str
    is_it: Callable[[Head], bool]
    read: Callable[[bytes, str], Read]


def recognised(
    formats: Sequence[Format[Read]], data: bytes, name: str = "", wanted: str = ""
) -> Format[Read]:
    """The format of a file; an explicit one wins. Raises UnreadableError, naming what is known."""
    known = {one.name: one for one in formats}
    if wanted:
        if wanted not in known:
            raise UnreadableError(f"format is one of {', '.join(known)}")
        return known[wanted]
    head = Head(data, name)
    for one in formats:
        if one.is_it(head):
            return one
    titles = "; ".join(one.title for one in formats)
    raise UnreadableError(f"this file is none of the known formats ({titles}); found {_seen(head)}")


def _seen(head: Head) -> str:
    """Names only, and few of them: cells may hold anything."""
    if head.keys:
        return f"JSON with {', '.join(sorted(key[:40] for key in head.keys)[:8])}"
    if len(head.first) > 1:
        return f"a table of {len(head.first)} columns"
    return "neither JSON nor a table"

"""Comma-separated tables: each row of a header by name, and a bad row loses itself alone.

A row is one line: a quoted cell may hold commas and doubled quotes, but no end of line, so that
an unclosed quote can't swallow its neighbours.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from orchid.formats.lines import lines
from orchid.formats.reading import Lost, UnreadableError

Record = TypeVar("Record")

#: Bytes of one cell and of one line; columns of one table; rows that may be lost of one file.
MAX_CELL = 4_096
MAX_LINE = 64 * 1024
MAX_COLUMNS = 500
MAX_LOST = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its line from 1, its byte offset, its cells in order."""

    line: int
    offset: int
    cells: tuple[str, ...]


class Table:
    """A table whose first line names its columns.

    `lost` grows while rows are read; `unused` counts columns that nobody asked for.
    """

    def __init__(self, data: bytes, required: Sequence[str], known: Sequence[str] = ()) -> None:
        self._lines = lines(data)
        number, offset, first = next(self._lines, (1, 0, b""))
        try:
            self.header = tuple(cell.strip() for cell in cells_of(first))
        except ValueError as error:
            raise UnreadableError(f"no header in the first line: {error}") from None
        self.header_row = Row(number, offset, self.header)
        self._index = _index(self.header)
        missing = [name for name in required if name.lower() not in self._index]
        if missing:
            raise UnreadableError(f"expected a header with {', '.join(missing)}")
        used = {name.lower() for name in (*required, *known)}
        self.unused = sum(name not in used for name in self._index)
        self.lost: list[Lost] = []

    def has(self, name: str) -> bool:
        return name.lower() in self._index

    def read(self, make: Callable[[Callable[[str], str]], Record]) -> list[Record]:
        """`make` gets a function from a column's name to the cell (blank where it is absent)."""
        made: list[Record] = []
        for row in rows(self._lines, self.lost, len(self.header)):
            try:
                made.append(make(partial(self._cell, row)))
            except ValueError as error:
                lose(self.lost, Lost(row.offset, str(error), row.line))
        return made

    def _cell(self, row: Row, name: str) -> str:
        at = self._index.get(name.lower())
        return "" if at is None else row.cells[at].strip()


def rows(found: Iterator[tuple[int, int, bytes]], lost: list[Lost], width: int) -> Iterator[Row]:
    """Rows of `width` cells; any other line is lost by number and offset."""
    for number, offset, line in found:
        try:
            cells = cells_of(line)
            if len(cells) != width:
                raise ValueError(f"expected {width} cells, found {len(cells)}")
        except ValueError as error:
            lose(lost, Lost(offset, str(error), number))
            continue
        yield Row(number, offset, tuple(cells))


def lose(lost: list[Lost], one: Lost) -> None:
    """Remember what was lost; a file that loses everything is another format."""
    lost.append(one)
    if len(lost) > MAX_LOST:
        raise UnreadableError(
            f"more than {MAX_LOST} rows were lost, the first in line {lost[0].line}:"
            f" {lost[0].reason}"
        )


def cells_of(line: bytes) -> list[str]:
    """The cells of one line; ValueError for one too long, an open quote or what is not UTF-8."""
    if len(line) > MAX_LINE:
        raise ValueError(f"a row of {len(line)} bytes; expected up to {MAX_LINE}")
    text = line.decode("utf-8")
    if '"' not in text:
        cells = text.split(",")
    else:
        try:
            cells = next(csv.reader([text], strict=True))
        except csv.Error as error:
            raise ValueError(f"the quotes of this row don't close: {error}") from None
    longest = max(map(len, cells))
    if longest > MAX_CELL:
        raise ValueError(f"a cell of {longest} characters; expected up to {MAX_CELL}")
    if len(cells) > MAX_COLUMNS:
        raise ValueError(f"{len(cells)} cells; expected up to {MAX_COLUMNS}")
    return cells


def _index(header: Sequence[str]) -> dict[str, int]:
    """Where each column stands; of two with one name the first is meant."""
    index: dict[str, int] = {}
    for at, name in enumerate(header):
        index.setdefault(name.lower(), at)
    return index

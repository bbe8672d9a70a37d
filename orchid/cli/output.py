"""What commands print: JSON for machines, aligned tables for people."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import click

Item = TypeVar("Item")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def show(data: Any, text: Callable[[], str], *, as_json: bool) -> None:
    """The data as it is, or in words; the words are made only when they are wanted."""
    click.echo(json.dumps(data, indent=2, default=str) if as_json else text())


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest cell; unknown values are a dash, never a zero."""
    cells = [list(headings), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


def progress(items: Sequence[Item], label: str) -> Iterator[Item]:
    """The items, with a bar on the error stream, so that what is printed stays clean."""
    with click.progressbar(items, label=label, file=sys.stderr) as bar:
        yield from bar


def cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def short(digest: str | None) -> str | None:
    """Enough of a digest to tell it from its neighbours."""
    return digest and digest.removeprefix("sha256:")[:12]

"""What commands print: JSON for machines, aligned tables for people."""

import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

Item = TypeVar("Item")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
cursor_option = click.option("--cursor", help="Where the page before ended.")

#: A column narrower than this reads worse folded than it does broken by the terminal.
LEAST_FOLD = 24
#: A moment as the API writes it; people read seconds, and want to know the zone.
MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z")


def show(
    data: Any,
    text: Callable[[], str],
    *,
    as_json: bool,
    say: Callable[[str], object] = click.echo,
) -> None:
    """The data as it is, or in words; the words are made only when they are wanted."""
    say(json.dumps(plain(data), indent=2, default=str) if as_json else text())


def plain(value: Any) -> Any:
    """Floats by the fifteen digits that one surely holds, and null for one that is no number."""
    if isinstance(value, float):
        return float(f"{value:.15g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest cell; unknown values are a dash, never a zero.

    On a terminal the last column is folded into its width; elsewhere a row stays one line.
    """
    cells = [list(headings), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return "\n".join(folded(line, sum(widths[:-1]) + 2 * len(widths[:-1])) for line in lines)


def more(answer: Mapping[str, Any]) -> str:
    """How to go on with a list that has more pages."""
    cursor = answer["next_cursor"]
    return f"\nMore: --cursor {cursor}" if cursor else ""


def room() -> int | None:
    """Columns of the terminal; None where the output is for no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def folded(line: str, indent: int) -> str:
    """A line for a terminal of its width, its further lines indented; as it is where none reads."""
    width = room()
    return line if width is None else folded_to(line, indent, width)


def folded_to(line: str, indent: int, width: int) -> str:
    """A line in so many columns, its further lines indented."""
    if len(line) <= width or width - indent < LEAST_FOLD:
        return line
    words = textwrap.wrap(line[indent:], width - indent, break_long_words=False)
    return line[:indent] + ("\n" + " " * indent).join(words)


def progress(items: Sequence[Item], label: str) -> Iterator[Item]:
    """The items, with a bar on the error stream, so that what is printed stays clean."""
    with click.progressbar(items, label=label, file=sys.stderr) as bar:
        yield from bar


def cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, str) and (moment := MOMENT.fullmatch(value)):
        return f"{moment[1]} {moment[2]} UTC"
    return "-" if value is None or value == "" else str(value)


def short(digest: str | None) -> str | None:
    """Enough of a digest to tell it from its neighbours."""
    return digest and digest.removeprefix("sha256:")[:12]


def verdict_said(text: str) -> None:
    """Print the words beside a verdict. Who reads no further (`| head`) changes no exit code."""
    try:
        click.echo(text)
    except BrokenPipeError:
        # Python would try again while it ends, and leave with a code of its own.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def written(data: bytes, file: Path) -> None:
    """The whole file or none of it: a reader, or a full disk, never sees half of one.

    `-` is standard output. Raises click.ClickException where it can't be written.
    """
    if str(file) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(data)  # a pipe or a device takes bytes and is no file to replace
        else:
            _replaced(data, file)
    except OSError as error:
        raise click.ClickException(f"{file} can't be written: {error.strerror}.") from error


def _replaced(data: bytes, file: Path) -> None:
    half = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        half.write_bytes(data)
        os.replace(half, file)
    finally:
        half.unlink(missing_ok=True)

"""How a command reads its document, and how it spells the figures of one."""

from collections.abc import Iterable
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from orchid.cli.client import place
from orchid.cli.output import folded
from orchid.engine.document.errors import DocumentError, nearest
from orchid.engine.document.load import DocumentErrors, LoadedDocument, load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.parse import MAX_BYTES
from orchid.engine.document.places import places
from orchid.engine.document.values import percent

document_argument = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
file_argument = click.Path(exists=True, dir_okay=False, path_type=Path)


def loaded(file: Path) -> LoadedDocument:
    """The document, or every fault of it at once with its line."""
    text = content(file)
    try:
        return load(text)
    except DocumentErrors as faults:
        raise refused(file, text, faults) from faults


def refused(file: Path, text: bytes, faults: DocumentErrors) -> click.ClickException:
    told = [
        folded(f"  {at_line(fault['line'])}{place(fault)}", 4) for fault in as_data(faults, text)
    ]
    head = f"{named(file)} has {len(told)} fault{'s' if len(told) > 1 else ''}:"
    return click.ClickException("\n".join([head, *told]))


def content(file: Path) -> bytes:
    """What the file or standard input (`-`) holds, up to one byte over what a document may have."""
    with click.open_file(str(file), "rb") as stream:
        return bytes(stream.read(MAX_BYTES + 1))


def load(text: bytes) -> LoadedDocument:
    """Raises DocumentErrors; of a larger file no more than the bound was read, so none is told."""
    if len(text) > MAX_BYTES:
        bound = f"{MAX_BYTES:,} bytes"
        fault = DocumentError("", f"more than {bound}", f"at most {bound}", "too_large")
        raise DocumentErrors([fault])
    return load_document(text)


def as_data(faults: DocumentErrors, text: bytes) -> list[dict[str, Any]]:
    lines = places(text.decode("utf-8-sig", "replace"))
    return [
        {**asdict(fault), "line": lines.line_of(fault.pointer) if fault.pointer else None}
        for fault in faults.errors
    ]


def at_line(line: int | None) -> str:
    return f"line {line}, " if line is not None else ""


def named(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


def meant(name: str, names: Iterable[str]) -> str:
    """What a name that isn't known may have meant."""
    known = list(names)
    return nearest(name, known) or f"it has {', '.join(known)}."


def unknown_class(name: str, document: PolicyDocument) -> str | None:
    if name in document.classes:
        return None
    return f"no class is {name!r}: {meant(name, document.classes)}"


def figure(value: Decimal) -> str:
    return f"{value:,.2f}"


def number(value: Decimal | str) -> str:
    """With separators, and no digit that says nothing."""
    text = f"{Decimal(value):,.2f}"
    return text.rstrip("0").rstrip(".")


def share(value: Decimal | None) -> str | None:
    return None if value is None else percent(value, 2)

"""How a command reads its document, and how it spells the figures of one."""

from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

import click

from orchid.cli.client import place
from orchid.engine.document.load import DocumentErrors, LoadedDocument, load_document

document_argument = click.Path(exists=True, dir_okay=False, path_type=Path)


def loaded(file: Path) -> LoadedDocument:
    """The document, or every fault of it at once."""
    try:
        return load_document(file.read_bytes())
    except DocumentErrors as faults:
        lines = [f"  {place(asdict(error))}" for error in faults.errors]
        count = len(lines)
        head = f"{file} has {count} fault{'s' if count > 1 else ''}:"
        raise click.ClickException("\n".join([head, *lines])) from faults


def figure(value: Decimal) -> str:
    return f"{value:,.2f}"


def number(value: Decimal | str) -> str:
    """With separators, and no digit that says nothing."""
    text = f"{Decimal(value):,.2f}"
    return text.rstrip("0").rstrip(".")


def share(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:.2%}"

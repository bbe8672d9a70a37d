"""How a command reads its document, and how it spells the figures of one."""

from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from orchid.cli.client import place
from orchid.engine.document.load import DocumentErrors, LoadedDocument, load_document

document_argument = click.Path(exists=True, dir_okay=False, path_type=Path)
LARGEST = Decimal(10) ** 18


class DecimalType(click.ParamType[Decimal]):
    """An exact figure from zero to a bound that no rate, price or count comes near."""

    name = "decimal"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            found = Decimal(str(value))
        except InvalidOperation:
            self.fail(f"{value} is no decimal number", param, ctx)
        if not (found.is_finite() and 0 <= found <= LARGEST):
            self.fail(f"{value} must be a number from 0 to {LARGEST:.0e}", param, ctx)
        return found


DECIMAL = DecimalType()


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

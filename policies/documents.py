"""A document as people read it: its sections as tables, its text, two texts side by side."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine import capacity, economics, memory
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.written import as_yaml

CONTEXT_LINES = 3


@dataclass(frozen=True)
class Fleet:
    """The fleet with what it costs and what it can carry, computed from the document."""

    devices: int
    groups: int
    pool: str
    hourly_usd: Decimal
    steady: capacity.Load
    after_group_loss: capacity.Load
    residency: memory.Residency | None


def fleet(document: PolicyDocument) -> Fleet:
    declared = document.fleet
    return Fleet(
        devices=declared.devices,
        groups=-(-declared.devices // declared.group_size),
        pool=declared.pool or "",
        hourly_usd=economics.hourly_ledger_usd(document),
        steady=capacity.steady(document),
        after_group_loss=capacity.group_loss(document),
        residency=memory.residency(declared),
    )


def ledger_table(document: PolicyDocument) -> Table:
    """Dollars an hour, line by line; the sum is the ledger that gates divide by successes."""
    declared = document.fleet
    devices = economics.device_usd_per_h(document)
    each = f"{declared.devices} × {figures.usd(declared.device_usd_per_h)}"
    return Table(
        "Hourly ledger",
        [Column("Line"), Column("Basis"), Column("An hour", numeric=True)],
        [
            ("Devices", each, figures.ledger_usd(devices)),
            ("Overhead", "allocated by policy", figures.ledger_usd(declared.overhead_usd_per_h)),
            ("Together", "", figures.ledger_usd(economics.hourly_ledger_usd(document))),
        ],
    )


def residency_table(ledger: memory.Residency) -> Table:
    lines = [(name.replace("_", " "), f"{gib:f}") for name, gib in ledger.lines.items()]
    closing = "closes exactly" if ledger.closes else f"{ledger.remainder_gib:f} unaccounted"
    return Table(
        "Memory of one device",
        [Column("Line"), Column("GiB", numeric=True)],
        [*lines, (f"Device ({closing})", f"{ledger.device_gib:f}")],
    )


@dataclass(frozen=True)
class Line:
    """A line of a document diff; `sign` is `+`, `-`, a space, or empty for a gap."""

    sign: str
    text: str

    @property
    def css(self) -> str:
        return {"+": "is-added", "-": "is-removed", "": "is-gap"}.get(self.sign, "")

    @property
    def spoken(self) -> str:
        return {"+": "added", "-": "removed"}.get(self.sign, "")


def document_diff(before: dict[str, Any], after: dict[str, Any]) -> list[Line]:
    """Changed lines with a few around them; a gap stands for what is equal."""
    unified = difflib.unified_diff(
        as_yaml(before).splitlines(), as_yaml(after).splitlines(), lineterm="", n=CONTEXT_LINES
    )
    return list(_lines(unified))


def _lines(unified: Iterator[str]) -> Iterator[Line]:
    for raw in list(unified)[2:]:
        if raw.startswith("@@"):
            yield Line("", f"line {raw.split('+')[1].split(',')[0]}")
        else:
            yield Line(raw[0], raw[1:])

"""A generation drafted from what calibration found: pads and disabled cells become a proposal."""

from typing import Any

from accounts.guard import Actor, Permission, require
from controlplane.errors import Conflict
from gates.services.drafting import draft_once
from policies.models import Product, Revision
from policies.selectors import given_of

_NAMES = ("route", "input_bucket", "output_bucket")


def draft_cells(
    actor: Actor, product: Product, digest: str, cells: list[dict[str, Any]]
) -> tuple[Revision, bool]:
    """The document with these `demand.cells`, and whether it was drafted just now.

    Raises Conflict where there is nothing to change.
    """
    require(actor, Permission.PROPOSE, product.slug)
    if not cells:
        raise Conflict("nothing_to_propose", "No cell needs a pad, and none has to be disabled.")
    document = with_cells(given_of(digest), cells)
    return draft_once(actor, product, digest, document, title_of(document, cells))


def with_cells(given: dict[str, Any], cells: list[dict[str, Any]]) -> dict[str, Any]:
    """A document with the cells in front of its own, of which those for the same shapes go.

    The first cell that covers a shape speaks, so a new one has to stand before a wider old one.
    """
    new = {_shape(cell) for cell in cells}
    old = [cell for cell in given["demand"].get("cells", ()) if _shape(cell) not in new]
    version = next_version(given["demand"]["version"])
    demand = {**given["demand"], "version": version, "cells": [*cells, *old]}
    return {**given, "demand": demand}


def next_version(version: str) -> str:
    """`teu-3` to `teu-3.1`, that to `teu-3.2`: other estimates are calibrated on their own."""
    name, dot, number = version.rpartition(".")
    return f"{name}.{int(number) + 1}" if dot and number.isdigit() else f"{version}.1"


def title_of(document: dict[str, Any], cells: list[dict[str, Any]]) -> str:
    """`Demand teu-3.1 by calibration: 2 cells padded, 1 cell disabled`."""
    disabled = sum(bool(cell.get("disabled")) for cell in cells)
    padded = len(cells) - disabled
    parts = [
        f"{count} {'cell' if count == 1 else 'cells'} {what}"
        for count, what in ((padded, "padded"), (disabled, "disabled"))
        if count
    ]
    return f"Demand {document['demand']['version']} by calibration: {', '.join(parts)}"


def _shape(cell: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(cell.get(name) for name in _NAMES)

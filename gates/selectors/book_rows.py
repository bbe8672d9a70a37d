"""The books as rows: what the API answers and what a spreadsheet opens."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from controlplane.errors import BadInput
from gates.selectors.economics import Books, Line
from orchid.engine.document.values import decimal_text
from orchid.engine.economics import Entry, cost_per_success_usd
from orchid.engine.economics.allocation import NOBODY
from orchid.engine.economics.ledger import usd_of_parts
from orchid.engine.rollup import CAUSES, FIGURES

ROUTE, TENANT = "route", "tenant"
#: What a charge is made of, in the order in which it is read.
PARTS = ("direct", "residency", "reserve", "common", "external")
COLUMNS = (
    "kind",
    "name",
    "requests",
    "admitted",
    "attempts",
    "successes",
    "unpriced",
    *(f"{part}_usd" for part in PARTS),
    "total_usd",
    "per_success_usd",
    "per_admitted_usd",
    "per_attempt_usd",
    "accelerator_ms",
    "teu",
    *(f"wasted_{cause}_{unit}" for cause in CAUSES for unit in ("ms", "teu", "usd")),
)

Row = dict[str, Any]


def lines_by(found: Books, by: str) -> list[Line]:
    """The lines by route, by tenant or by a dimension of the traffic."""
    if by in ("", ROUTE):
        return found.routes
    if by == TENANT:
        return found.tenants
    if by not in found.dimensions:
        known = ", ".join([ROUTE, TENANT, *found.dimensions])
        raise BadInput("unknown_dimension", f"The books can be read by {known}.")
    return found.by_dimension(by)


def rows(found: Books, by: str) -> list[Row]:
    """A row a line, and those that no request pays; `total_usd` of all is the ledger, exactly."""
    kind = by or ROUTE
    return [_line(kind, line) for line in lines_by(found, by)] + list(_apart(found))


def _line(kind: str, line: Line) -> Row:
    entry, charge = line.entry, line.charge
    return {
        "kind": kind,
        "name": line.name,
        "requests": entry.requests,
        "admitted": entry.admitted,
        "attempts": entry.attempts,
        "successes": entry.successes,
        "unpriced": entry.unpriced,
        **{f"{part}_usd": _usd(getattr(charge, part)) for part in PARTS},
        "total_usd": _usd(charge.total),
        "per_success_usd": per(charge.total, entry, entry.successes),
        "per_admitted_usd": per(charge.total, entry, entry.admitted),
        "per_attempt_usd": per(charge.total, entry, entry.attempts),
        "accelerator_ms": entry.ms / FIGURES["accelerator_ms"] if entry.told else None,
        "teu": decimal_text(Decimal(entry.teu) / FIGURES["work_teu"]),
        **{name: value for cause in CAUSES for name, value in _wasted(line, cause).items()},
    }


def per(parts: int, entry: Entry, count: int) -> str | None:
    """Dollars of one; None without any, and where some of the entry's dollars are unknown."""
    each = cost_per_success_usd(usd_of_parts(parts), count)
    return None if each is None or entry.unpriced else decimal_text(round(each, 15))


def _wasted(line: Line, cause: str) -> Row:
    waste = line.entry.waste[cause]
    return {
        f"wasted_{cause}_ms": waste.ms / FIGURES["accelerator_ms"] if line.entry.told else None,
        f"wasted_{cause}_teu": decimal_text(Decimal(waste.teu) / FIGURES["work_teu"]),
        f"wasted_{cause}_usd": _usd(waste.usd),
    }


def _apart(found: Books) -> Iterator[Row]:
    """The promise by route, and the deployment."""
    laid = found.by_cell.allocated
    for route, parts in sorted(laid.promise.items()):
        if parts:
            name = "hours without requests" if route == NOBODY else route
            yield dict.fromkeys(COLUMNS) | {
                "kind": "promise",
                "name": name,
                "total_usd": _usd(parts),
            }
    if laid.investment:
        yield dict.fromkeys(COLUMNS) | {
            "kind": "investment",
            "name": "deployment",
            "total_usd": _usd(laid.investment),
        }


def _usd(parts: int) -> str:
    return decimal_text(usd_of_parts(parts))

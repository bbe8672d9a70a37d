"""Pictures of the books: from the ledger to whom it was laid on, and what of it was wasted."""

import json
from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any, NamedTuple

from controlplane import figures
from controlplane.web import Column, Plot, Table
from gates.selectors.book_rows import per
from gates.selectors.economics import Books, Line
from orchid.engine.economics.display import in_cents
from orchid.engine.economics.ledger import usd_of_parts
from orchid.engine.economics.statement import Entry
from orchid.engine.rollup import CAUSES, FIGURES

#: What each line of the allocation is, in the order in which it is read.
PART_LABELS = {
    "direct": "Direct work",
    "residency": "Standing ready",
    "reserve": "Reserve",
    "common": "Common",
    "external": "External",
}
CAUSE_LABELS = {
    "failed": "Failed or invalid",
    "late": "Late",
    "cancelled": "Cancelled",
    "abandoned_prefill": "Abandoned prefill",
    "preempted": "Preempted",
    "padded": "Padded",
}
_COLOURS = {
    "direct": "--accent",
    "residency": "--ink-muted",
    "reserve": "--pass",
    "common": "--line-strong",
    "external": "--inconclusive",
}
#: As many names as a picture can show; the table has them all.
DRAWN = 12
_TABLE = (
    Column("Requests", numeric=True),
    *(Column(label, numeric=True) for label in PART_LABELS.values()),
    Column("Total", numeric=True),
    Column("A success", numeric=True),
    Column("An admitted", numeric=True),
    Column("An attempt", numeric=True),
    Column("Wasted", numeric=True),
)


class Bar(NamedTuple):
    """One bar of the waterfall: it begins where the one before it ended."""

    label: str
    parts: int
    begins: int
    colour: str


def waterfall_plot(found: Books) -> Plot:
    """What the pools and the upstreams cost, and what each dollar of it was laid on."""
    spent, laid, total = _spent(found), _laid(found), found.by_cell.total
    bars = spent + laid
    # Shown cents of either side sum to the shown ledger.
    shown = _in_cents(spent, total) | _in_cents(laid, total)
    rows = [[bar.label, figures.usd(shown[bar.label]), _share(bar.parts, total)] for bar in bars]
    return Plot(
        element_id="ledger-waterfall",
        title="From the ledger to what it was laid on",
        figure_json=json.dumps(_waterfall(bars), allow_nan=False),
        table=Table(
            "From the ledger to what it was laid on",
            (Column("Line"), Column("Dollars", numeric=True), Column("Of it", numeric=True)),
            rows,
        ),
    )


def allocation_plot(lines: Sequence[Line], head: str, total: int) -> Plot:
    """Dollars by name, each taken apart."""
    return Plot(
        element_id="allocation",
        title=f"Laid on each {head.lower()}",
        figure_json=json.dumps(_stacked(lines[:DRAWN]), allow_nan=False),
        table=Table(
            f"Laid on each {head.lower()}",
            (Column(head.capitalize()), *_TABLE),
            _allocation_rows(lines, total),
        ),
        note=_allocation_note(lines),
    )


def waste_plot(entry: Entry, direct: int) -> Plot:
    """Wasted work by cause, in dollars, TEU and time on devices."""
    return Plot(
        element_id="waste",
        title="Work that no success came of",
        figure_json=json.dumps(_waste(entry), allow_nan=False),
        table=Table(
            "Wasted work by cause",
            (
                Column("Cause"),
                Column("Dollars", numeric=True),
                Column("Of direct work", numeric=True),
                Column("TEU", numeric=True),
                Column("Time on devices", numeric=True),
            ),
            [_waste_row(entry, cause, direct) for cause in CAUSES],
        ),
    )


def dollars(parts: int) -> str:
    """A sum as a page shows it."""
    return figures.ledger_usd(usd_of_parts(parts)) if parts else "$0"


def each_usd(text: str | None) -> str:
    """Dollars of one, or that they are unknown."""
    return figures.UNKNOWN if text is None else figures.cost_usd(Decimal(text))


def _spent(found: Books) -> list[Bar]:
    """The ledger: pools and upstreams."""
    hours = found.by_cell.hours
    lines = {
        "Devices": sum(hour.devices_parts for hour in hours),
        "Overhead": sum(hour.overhead_parts for hour in hours),
        "External attempts": found.by_cell.external,
    }
    before = accumulate(lines.values(), initial=0)
    bars = zip(lines.items(), before, strict=False)
    return [Bar(label, parts, at, "--ink") for (label, parts), at in bars if parts]


def _laid(found: Books) -> list[Bar]:
    """What it was laid on, from the top down."""
    laid, direct = found.by_cell.allocated, _of(found, "direct")
    wasted = min(found.by_cell.whole.wasted.usd, direct)
    lines = {
        "Useful work": (direct - wasted, "--pass"),
        "Wasted work": (wasted, "--fail"),
        "Standing ready": (_of(found, "residency"), "--ink-muted"),
        "Reserve": (_of(found, "reserve"), "--ink-muted"),
        "Common": (_of(found, "common"), "--line-strong"),
        "External": (_of(found, "external"), "--inconclusive"),
        "Promise, unused": (laid.promise.total(), "--line-strong"),
        "Deployment": (laid.investment, "--accent"),
    }
    down = accumulate((-parts for parts, _ in lines.values()), initial=found.by_cell.total)
    bars = zip(lines.items(), list(down)[1:], strict=True)
    return [Bar(label, parts, at, colour) for (label, (parts, colour)), at in bars if parts]


def _in_cents(bars: Sequence[Bar], total: int) -> dict[str, Decimal]:
    return in_cents({bar.label: bar.parts for bar in bars}, _places(total))


def _of(found: Books, part: str) -> int:
    charges = found.by_cell.allocated.charges.values()
    return sum(getattr(charge, part) for charge in charges)


def _waterfall(bars: Sequence[Bar]) -> dict[str, Any]:
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": [bar.label for bar in bars],
                "x": [_number(bar.parts) for bar in bars],
                "base": [_number(bar.begins) for bar in bars],
                "text": [dollars(bar.parts) for bar in bars],
                "textposition": "outside",
                "cliponaxis": False,
                "hovertemplate": "%{y}: %{text}<extra></extra>",
                "marker": {"color": [bar.colour for bar in bars]},
            }
        ],
        "layout": _layout(len(bars)),
    }


def _stacked(lines: Sequence[Line]) -> dict[str, Any]:
    names = [line.name for line in lines]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "name": label,
                "y": names,
                "x": [_number(getattr(line.charge, part)) for line in lines],
                "marker": {"color": _COLOURS[part]},
                "hovertemplate": f"%{{y}}, {label.lower()}: $%{{x:,.4f}}<extra></extra>",
            }
            for part, label in PART_LABELS.items()
            if any(getattr(line.charge, part) for line in lines)
        ],
        "layout": {
            **_layout(len(names)),
            "barmode": "stack",
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        },
    }


def _waste(entry: Entry) -> dict[str, Any]:
    causes = [cause for cause in CAUSES if entry.waste[cause].usd]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": [CAUSE_LABELS[cause] for cause in causes],
                "x": [_number(entry.waste[cause].usd) for cause in causes],
                "text": [dollars(entry.waste[cause].usd) for cause in causes],
                "textposition": "auto",
                "hovertemplate": "%{y}: %{text}<extra></extra>",
                "marker": {"color": "--fail"},
            }
        ],
        "layout": _layout(len(causes)),
    }


def _layout(bars: int) -> dict[str, Any]:
    return {
        "height": 120 + 34 * max(bars, 1),
        "xaxis": {"title": {"text": "Dollars"}, "tickprefix": "$", "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed"},
        "showlegend": False,
        "margin": {"r": 64},
    }


def _allocation_rows(lines: Sequence[Line], total: int) -> list[list[str]]:
    """Shown cents of the totals sum to the shown sum of all of them."""
    places = _places(total)
    shown = in_cents({line.name: line.charge.total for line in lines}, places)
    return [
        [
            line.name,
            f"{line.entry.requests:,}",
            *(dollars(getattr(line.charge, part)) for part in PART_LABELS),
            figures.usd(shown[line.name]),
            each_usd(per(line.charge.total, line.entry, line.entry.successes)),
            each_usd(per(line.charge.total, line.entry, line.entry.admitted)),
            each_usd(per(line.charge.total, line.entry, line.entry.attempts)),
            dollars(line.entry.wasted.usd),
        ]
        for line in lines
    ]


def _allocation_note(lines: Sequence[Line]) -> str:
    unpriced = sum(line.entry.unpriced for line in lines)
    if not unpriced:
        return ""
    return f"{unpriced:,} requests have an attempt of unknown price, which is in no sum here."


def _waste_row(entry: Entry, cause: str, direct: int) -> list[str]:
    waste = entry.waste[cause]
    teu = Decimal(waste.teu) / FIGURES["work_teu"]
    seconds = Decimal(waste.ms) / FIGURES["accelerator_ms"] / 1000
    return [
        CAUSE_LABELS[cause],
        dollars(waste.usd),
        _share(waste.usd, direct),
        figures.decimals(teu, 0),
        f"{figures.decimals(seconds, 1)} s" if entry.told else "not told",
    ]


def _places(total: int) -> int:
    """Cents, and four decimals where the whole is below ten dollars."""
    return 2 if usd_of_parts(total) >= 10 else 4


def _share(part: int, whole: int) -> str:
    return figures.percent(Decimal(part) / whole) if whole else figures.UNKNOWN


def _number(parts: int) -> float:
    return float(usd_of_parts(parts))

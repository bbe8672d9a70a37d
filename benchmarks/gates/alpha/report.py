"""Writes what a full run found: the figures, the picture, and the table in `docs/verdicts.md`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.gates.alpha.peeking import ALPHA_PASS, NEVER, First
from benchmarks.gates.alpha.picture import Axes, Curve, draw
from benchmarks.line import Line

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "verdicts.md"
PICTURE = ROOT / "docs" / "img" / "alpha.svg"
FIGURES = Path(__file__).with_name("figures.jsonl")
BEGIN, END = "<!-- alpha: begin -->\n", "<!-- alpha: end -->\n"

_LOOKS = 160


def curve(name: str, first: First, requests: int) -> Curve:
    """The part of the runs that had passed by every number of requests."""
    looks = np.geomspace(50, requests, _LOOKS)
    happened = np.sort(first[first != NEVER])
    parts = np.searchsorted(happened, looks, side="right") / len(first)
    return Curve(name, list(zip(looks.tolist(), parts.tolist(), strict=True)))


def write(lines: Sequence[Line], curves: Sequence[Curve]) -> None:
    """The three of them; the text around the table stays as it is."""
    FIGURES.write_text("".join(f"{line.as_json()}\n" for line in lines))
    most = max(x for one in curves for x, _ in one.points)
    highest = max(y for one in curves for _, y in one.points)
    axes = Axes(50, most, min(1.0, 0.1 + round(highest, 1)))
    title = "Runs that had passed wrongly, by the requests looked at"
    PICTURE.write_text(draw(curves, ALPHA_PASS, axes, title))
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    DOCUMENT.write_text(before + BEGIN + table(lines) + END + rest.partition(END)[2])


def table(lines: Sequence[Line]) -> str:
    """The figures as rows of Markdown."""
    rows = [
        f"| {line.name} | {_shown(line.value, line.unit)} "
        f"| {line.against.name}: {_shown(line.against.value, line.unit)} | {_kept(line)} |\n"
        for line in lines
    ]
    return "| figure | measured | against | |\n| --- | --- | --- | --- |\n" + "".join(rows)


def _shown(value: float, unit: str) -> str:
    return f"{value:.2%}".replace("%", " %") if unit == "of runs" else f"{value:,.0f} {unit}"


def _kept(line: Line) -> str:
    return {True: "kept", False: "**not kept**", None: "shown"}[line.ok]

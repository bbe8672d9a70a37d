"""A trend as small as a word: a line against its bound, drawn in the page itself."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from controlplane.web import Column, Table
from gates import wording
from gates.models import Verdict
from gates.states import Metric

WIDTH, HEIGHT, EDGE = 120, 28, 3

#: Rows on the whole, oldest first, by metric.
Trends = Mapping[str, Sequence[Verdict]]


def trend_line(metric: Metric, bound: str, rows: Sequence[Verdict]) -> SafeString:
    """A gate's line with the words for who does not see it; empty with fewer than two rows."""
    if len(rows) < 2:
        return SafeString("")
    first, last = (wording.figure(metric, row.value, bound) for row in (rows[0], rows[-1]))
    values = [None if row.value is None else float(row.value) for row in rows]
    return sparkline(values, float(bound), f"{metric.label}, last hour: from {first} to {last}")


def table_of_trends(metrics: Sequence[Metric], trends: Trends) -> Table:
    """A row for each judgement, newest first, and a column for each gate."""
    by_time: dict[datetime, dict[str, str]] = {}
    for metric in metrics:
        for row in trends.get(metric, ()):
            said = wording.figure(metric, row.value, row.bound)
            at = row.evaluation.evaluated_at
            by_time.setdefault(at, {})[metric] = f"{said}, {row.get_verdict_display().lower()}"
    rows = [
        [f"{at:%H:%M:%S}", *(by_time[at].get(metric, "–") for metric in metrics)]
        for at in sorted(by_time, reverse=True)
    ]
    columns = [Column("Judged"), *(Column(str(metric.label)) for metric in metrics)]
    return Table("The last hour", columns, rows)


def sparkline(values: Sequence[float | None], bound: float, label: str) -> SafeString:
    """Values in order, gaps where one is unknown; empty where nothing is known."""
    known = [value for value in values if value is not None]
    if not known:
        return SafeString("")
    low, high = min([*known, bound]), max([*known, bound])
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<line class="spark__bound" x1="0" x2="{}" y1="{}" y2="{}"/>'
        '<path class="spark__line" d="{}"/></svg>',
        WIDTH,
        HEIGHT,
        label,
        WIDTH,
        _y(bound, low, high),
        _y(bound, low, high),
        _path(values, low, high),
    )


def _path(values: Sequence[float | None], low: float, high: float) -> str:
    """`M` begins the line anew after a gap; a lone value is drawn as a dot's length."""
    parts, drawing = [], False
    for place, value in enumerate(values):
        if value is None:
            drawing = False
            continue
        x = WIDTH * (place + 0.5) / len(values)
        parts.append(f"{'L' if drawing else 'M'}{x:.1f} {_y(value, low, high)}")
        if not drawing:
            parts.append("h1")
        drawing = True
    return "".join(parts)


def _y(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 0.5
    return f"{HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE):.1f}"

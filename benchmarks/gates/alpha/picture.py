"""A line picture as SVG, readable on light and on dark ground, without any library."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 250, 24, 52

_STYLE = """
  .ground { fill: #fff } text { font: 13px system-ui, sans-serif; fill: #333 }
  .axis { stroke: #999 } .grid { stroke: #ddd } .bound { stroke: #b00; stroke-dasharray: 5 4 }
  .l0 { stroke: #b45309; fill: none } .l1 { stroke: #1d4ed8; fill: none }
  .l2 { stroke: #047857; fill: none } .l3 { stroke: #7e22ce; fill: none }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #16181d } text { fill: #ddd } .axis { stroke: #777 }
    .grid { stroke: #444 } .bound { stroke: #f66 }
    .l0 { stroke: #fbbf24 } .l1 { stroke: #93c5fd } .l2 { stroke: #6ee7b7 } .l3 { stroke: #d8b4fe }
  }
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line through points of (requests, share)."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axes:
    """The ends of both axes; x is logarithmic."""

    x_least: float
    x_most: float
    y_most: float

    def x(self, value: float) -> float:
        part = math.log(value / self.x_least) / math.log(self.x_most / self.x_least)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - value / self.y_most * (HEIGHT - TOP - BOTTOM)


def draw(curves: Sequence[Curve], bound: float, axes: Axes, title: str) -> str:
    """The whole picture; `bound` is the dashed line."""
    ground = f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>'
    parts = [ground, *_grid(axes), *_bound(axes, bound)]
    for number, curve in enumerate(curves):
        parts += _curve(axes, number, curve)
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">'
    inside = "\n".join([f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>", *parts])
    return f"{head}\n{inside}\n</svg>\n"


def _grid(axes: Axes) -> list[str]:
    lines, right = [], WIDTH - RIGHT
    for tenth in range(int(axes.y_most * 10) + 1):
        y = axes.y(tenth / 10)
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(_text(LEFT - 8, y + 4, f"{tenth * 10} %", "end"))
    power = math.ceil(math.log10(axes.x_least))
    while 10**power <= axes.x_most:
        x = axes.x(10**power)
        lines.append(_text(x, HEIGHT - BOTTOM + 20, f"{10**power:,}", "middle"))
        power += 1
    y = HEIGHT - BOTTOM
    lines.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}"/>')
    lines.append(_text((LEFT + right) / 2, HEIGHT - 10, "requests looked at", "middle"))
    return lines


def _bound(axes: Axes, bound: float) -> list[str]:
    y, right = axes.y(bound), WIDTH - RIGHT
    line = f'<line class="bound" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return [line, _text(LEFT + 6, y - 6, f"declared: {bound:.0%}".replace("%", " %"), "start")]


def _curve(axes: Axes, number: int, curve: Curve) -> list[str]:
    steps = " ".join(f"{axes.x(x):.1f},{axes.y(y):.1f}" for x, y in curve.points)
    y = TOP + 16 + 44 * number
    x = WIDTH - RIGHT + 16
    name, _, more = curve.name.partition(": ")
    return [
        f'<polyline class="l{number}" points="{steps}" stroke-width="2"/>',
        f'<line class="l{number}" x1="{x}" x2="{x + 22}" y1="{y}" y2="{y}" stroke-width="3"/>',
        _text(x + 30, y + 4, name, "start"),
        _text(x + 30, y + 21, more, "start"),
    ]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'

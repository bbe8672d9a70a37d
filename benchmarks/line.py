"""One measured figure as one line of JSON, beside what it was measured against in the same run."""

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

_GOAL = re.compile(r"(>=|<=) (\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Against:
    """The peer, the limit or the reference figure; in the unit of the line."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Line:
    """`ratio` is value over against. A goal is a bound of the ratio; without one nothing is judged.

    `spread` is the half-width of the middle half of the rounds over their median.
    """

    name: str
    value: float
    unit: str
    against: Against
    goal: str | None = None
    spread: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.value / self.against.value

    @property
    def ok(self) -> bool | None:
        """Whether the ratio keeps the goal; None where there is none."""
        if self.goal is None:
            return None
        match = _GOAL.fullmatch(self.goal)
        if match is None:
            raise ValueError(f"a goal reads `>= 8` or `<= 0.2`, not {self.goal!r}")
        bound = float(match[2])
        return self.ratio >= bound if match[1] == ">=" else self.ratio <= bound

    def as_json(self) -> str:
        """The line as it is printed; figures to four digits."""
        figures: dict[str, Any] = asdict(self)
        against = {"name": self.against.name, "value": _short(self.against.value)}
        figures |= {"value": _short(self.value), "against": against}
        figures |= {"ratio": _short(self.ratio), "ok": self.ok}
        order = ("name", "value", "unit", "against", "ratio", "goal", "ok", "spread", "note")
        return json.dumps({key: figures[key] for key in order if figures[key] != ""})


def _short(figure: float) -> float:
    return float(f"{figure:.4g}")

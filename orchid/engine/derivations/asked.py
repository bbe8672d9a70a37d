"""Which figures are wanted, and how each is written: an `orchid.figures/v1` file.

    schema: orchid.figures/v1
    product: orchid-serve
    sets: {support: {prefix_tokens: 6000, ...}}     # arguments that several figures share
    figures:
      - {name: load, by: load_under, with: {trial: steady}, percent: 1, stated: "85.7"}

`percent` and `places` give the digits that are shown; without either the value is shown whole.
`stated` is what somebody claims the figure to be, and is held against what comes out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchid.engine.derivations.worked import FigureError

SCHEMA = "orchid.figures/v1"
MOST_FIGURES = 2_000
MOST_PLACES = 18
_KEYS = frozenset({"name", "part", "by", "with", "use", "percent", "places", "unit", "stated"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One wanted figure: its name, its derivation with arguments, its digits."""

    name: str
    by: str
    given: Mapping[str, Any]
    part: str = ""
    """The heading that it stands under."""
    places: int | None = None
    percent: bool = False
    unit: str | None = None
    """In place of the derivation's own."""
    stated: str | None = None


def asked_figures(content: Mapping[str, Any]) -> list[Asked]:
    """The figures of a file in its order; raises FigureError."""
    if content.get("schema") != SCHEMA:
        raise FigureError(f"the schema of wanted figures is {SCHEMA}")
    rows, sets = content.get("figures"), content.get("sets", {})
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_FIGURES:
        raise FigureError(f"/figures: a list of 1 to {MOST_FIGURES:,} is needed")
    if not isinstance(sets, dict):
        raise FigureError("/sets: an object is needed")
    found = [_asked(row, sets, f"/figures/{number}") for number, row in enumerate(rows)]
    names = [figure.name for figure in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FigureError(f"/figures: {twice!r} is asked for twice")
    return found


def _asked(row: Any, sets: Mapping[str, Any], at: str) -> Asked:
    if not isinstance(row, dict) or not {"name", "by"} <= row.keys() <= _KEYS:
        raise FigureError(f"{at}: an object with name, by and any of {', '.join(sorted(_KEYS))}")
    if "percent" in row and "places" in row:
        raise FigureError(f"{at}: percent or places, not both")
    return Asked(
        name=_text(row, "name", at),
        by=_text(row, "by", at),
        given={**_set(row, sets, at), **_object(row.get("with", {}), f"{at}/with")},
        part=_text(row, "part", at) if "part" in row else "",
        places=_places(row, at),
        percent="percent" in row,
        unit=_text(row, "unit", at) if "unit" in row else None,
        stated=_text(row, "stated", at) if "stated" in row else None,
    )


def _set(row: Mapping[str, Any], sets: Mapping[str, Any], at: str) -> dict[str, Any]:
    if "use" not in row:
        return {}
    name = _text(row, "use", at)
    if name not in sets:
        raise FigureError(f"{at}/use: the file has no set {name!r}")
    return _object(sets[name], f"/sets/{name}")


def _object(value: Any, at: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FigureError(f"{at}: an object of arguments is needed")
    return value


def _text(row: Mapping[str, Any], key: str, at: str) -> str:
    value = row[key]
    if not isinstance(value, str) or not 1 <= len(value) <= 200:
        raise FigureError(f"{at}/{key}: text of 1 to 200 characters is needed")
    return value


def _places(row: Mapping[str, Any], at: str) -> int | None:
    value = row.get("percent", row.get("places"))
    if value is None and not {"percent", "places"} & row.keys():
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_PLACES:
        raise FigureError(f"{at}: decimal places are a whole number from 0 to {MOST_PLACES}")
    return value

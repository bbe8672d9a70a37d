"""Figures as other tools write them: finite, in bounds, and refused by name when they are not."""

import math
from typing import Any

#: Nothing that is measured here (nanoseconds of Unix time included) lies above this.
LARGEST = 9e18


class BadFigureError(ValueError):
    """A figure that can't be one: the name, what was found and what was expected."""


def figure(found: Any, name: str, *, low: float = 0.0, high: float = LARGEST) -> float:
    """A finite number from `low` to `high`, of text or of a decoded value."""
    number = _number(found, name)
    if not math.isfinite(number):
        raise BadFigureError(f"{name} is {_shown(found)}; expected a finite number")
    if not low <= number <= high:
        raise BadFigureError(f"{name} is {_shown(found)}; expected {low:g} to {high:g}")
    return number


def count(found: Any, name: str, *, high: int = 2**31 - 1) -> int:
    """A whole number from 0, which tools also write as 711.0."""
    number = figure(found, name, high=high)
    if number != int(number):
        raise BadFigureError(f"{name} is {_shown(found)}; expected a whole number")
    return int(number)


def optional(found: Any, name: str, *, low: float = 0.0, high: float = LARGEST) -> float | None:
    """As `figure`, and None for what was left out: null, blank or N/A."""
    if found is None or (isinstance(found, str) and found.strip() in ("", "N/A")):
        return None
    return figure(found, name, low=low, high=high)


def _number(found: Any, name: str) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        raise BadFigureError(f"{name} is {_shown(found)}; expected a number")
    text = found.strip().replace(",", "") if isinstance(found, str) else found
    try:
        # Text beyond 40 characters is no figure, and `float` takes underscores for digits.
        if isinstance(text, str) and (len(text) > 40 or "_" in text or not text.isascii()):
            raise ValueError
        return float(text)
    except (ValueError, OverflowError):
        raise BadFigureError(f"{name} is {_shown(found)}; expected a number") from None


def _shown(found: Any) -> str:
    """The kind of what was found, or the figure itself: free text may be a prompt."""
    if isinstance(found, str) and not _looks_numeric(found):
        return "text"
    if isinstance(found, int | float | str):
        try:
            return str(found)[:40]
        except ValueError:  # thousands of digits
            return "a number too long to write"
    return type(found).__name__


def _looks_numeric(text: str) -> bool:
    plain = text.strip().lower()
    return plain.lstrip("+-") in ("nan", "inf", "infinity") or not plain.strip("0123456789+-.,e")

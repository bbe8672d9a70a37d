"""ServeGen's client models: rates by window (CSV without a header), and lengths by window (JSON).

The rates give for each 600 s a rate, the variation of the gaps, and a family (Gamma, Weibull) with
shape and scale. The lengths are probabilities of token counts, written as Python dicts inside JSON
strings: they are read by their few characters and never evaluated.
"""

import math

from orchid.formats.arrivals.shape import Holds, Trace, Window, bounded
from orchid.formats.documents import document
from orchid.formats.lines import lines
from orchid.formats.numbers import count, figure
from orchid.formats.reading import Lost, UnreadableError
from orchid.formats.tables import lose, rows

_FAMILIES = ("", "Gamma", "Weibull")
_COLUMNS = 6
_LONGEST = 4 * 1024 * 1024
_LENGTHS = ("input_tokens", "output_tokens")


def read_rates(data: bytes, name: str = "") -> Trace:
    """A window a row; raises UnreadableError without one."""
    lost: list[Lost] = []
    found: list[Window] = []
    for row in rows(lines(data), lost, _COLUMNS):
        try:
            found.append(_rate(row.cells))
        except ValueError as error:
            lose(lost, Lost(row.offset, str(error), row.line))
    notes = ["A model of arrivals by window, not arrivals that were seen."]
    return bounded(Trace("ServeGen rates", Holds.RATES, windows=found, lost=lost, notes=notes))


def read_lengths(data: bytes, name: str = "") -> Trace:
    """A window a key; raises UnreadableError without one."""
    lost: list[Lost] = []
    found: list[Window] = []
    unused = 0
    for start, held in document(data).items():
        try:
            found.append(_lengths(start, held))
            unused += sum(key not in _LENGTHS for key in held)
        except ValueError as error:
            lose(lost, Lost(max(data.find(f'"{start}"'.encode()), 0), str(error)))
    found.sort(key=lambda window: window.start_s)
    notes = ["Probabilities of lengths by window; the rates are in another file."]
    return bounded(
        Trace(
            "ServeGen lengths",
            Holds.DISTRIBUTIONS,
            windows=found,
            lost=lost,
            notes=notes,
            unused=unused,
        )
    )


def _rate(cells: tuple[str, ...]) -> Window:
    start, rate, cv, family, shape, scale = (cell.strip() for cell in cells)
    if family not in _FAMILIES:
        raise ValueError("expected the family Gamma or Weibull")
    return Window(
        figure(start, "start"),
        figure(rate, "rate"),
        figure(cv, "cv"),
        family,
        figure(shape, "shape") if family else None,
        figure(scale, "scale") if family else None,
    )


def _lengths(start: str, held: object) -> Window:
    if not isinstance(held, dict) or any(key not in held for key in _LENGTHS):
        raise ValueError("expected input_tokens and output_tokens in each window")
    tokens_in, tokens_out = (distribution(held[key]) for key in _LENGTHS)
    return Window(figure(start, "window"), input_tokens=tokens_in, output_tokens=tokens_out)


def distribution(text: object) -> dict[int, float]:
    """`{62: 0.25, 66: 0.75}` as numbers; they add up to 1, or there are none. Raises ValueError."""
    if not isinstance(text, str) or not (text.startswith("{") and text.endswith("}")):
        raise ValueError("expected a dict of token counts written as text")
    if len(text) > _LONGEST:
        raise ValueError(f"{len(text)} characters in one window; expected up to {_LONGEST}")
    pairs = (pair.partition(":") for pair in text[1:-1].split(",") if pair.strip())
    found = {count(key, "a token count"): figure(p, "a probability", high=1) for key, _, p in pairs}
    if found and not math.isclose(math.fsum(found.values()), 1.0, abs_tol=1e-3):
        raise ValueError("the probabilities of one window don't add up to 1")
    return found


def looks_like_rates(first: tuple[str, ...]) -> bool:
    """Whether a first line without a header is a window."""
    try:
        return len(first) == _COLUMNS and _rate(first).rate_per_s is not None
    except (ValueError, UnreadableError):
        return False

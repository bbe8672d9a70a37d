"""The stretches of time that the books of a product are shown for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta

from controlplane.errors import BadInput
from gates.models import Window
from gates.selectors.verdicts import live_window
from ingest.selectors import watermark
from orchid.engine.rollup import step_of
from orchid.engine.rollup_hour import hour_of
from policies.models import Product
from policies.selectors import document_of

#: A longer stretch is for an export by months, piece by piece.
LONGEST = timedelta(days=31)
_STEP_S = 60


@dataclass(frozen=True)
class Period:
    """From a step on, up to the last step that everything was counted of."""

    name: str
    label: str
    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.start


_LABELS = {
    "hour": "Last hour",
    "day": "24 hours",
    "week": "7 days",
    "window": "What is live",
}


def labels() -> dict[str, str]:
    """The periods by name, as a page offers them."""
    return dict(_LABELS)


def period_of(
    product: Product, now: datetime, name: str = "", start: str = "", end: str = ""
) -> Period:
    """The period of that name, or from one moment to another; a day where nothing is said."""
    if start or end:
        return _between(_moment("from", start), _moment("to", end))
    if (name or "day") not in _LABELS:
        raise BadInput("unknown_period", f"A period is one of {', '.join(_LABELS)}.")
    window = live_window(product)
    until = counted_until(product, window, now)
    starts: dict[str, Callable[[], datetime]] = {
        "hour": lambda: until - timedelta(hours=1),
        "day": lambda: hour_of(until - timedelta(hours=24)),
        "week": lambda: hour_of(until - timedelta(days=7)),
        "window": lambda: _opened(window, until),
    }
    chosen = name or "day"
    return Period(chosen, _LABELS[chosen], starts[chosen](), until)


def _between(start: datetime, end: datetime) -> Period:
    first, last = step_of(start, _STEP_S), step_of(end, _STEP_S)
    if not timedelta(0) < last - first <= LONGEST:
        said = f"`to` is after `from`, by a minute at least and {LONGEST.days} days at most."
        raise BadInput("bad_period", said)
    return Period("", f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC", first, last)


def _moment(name: str, text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput("bad_period", f"`{name}` is a time such as 2026-03-01T00:00Z.") from error
    if found.tzinfo is None:
        raise BadInput("bad_period", f"`{name}` needs its offset, such as Z for UTC.")
    # At the ends of the calendar neither an offset nor the hours around a moment can be counted.
    if not MINYEAR < found.year < MAXYEAR:
        raise BadInput("bad_period", f"`{name}` lies at the end of the calendar.")
    return found.astimezone(UTC)


def counted_until(product: Product, window: Window | None, now: datetime) -> datetime:
    """Dollars run on with the clock, requests only as far as they were told of: both stop there."""
    step_s = document_of(window.digest).gates.step_s if window else _STEP_S
    return step_of(watermark(product, now) or now, step_s)


def _opened(window: Window | None, until: datetime) -> datetime:
    if window is None:
        return hour_of(until)
    opened = step_of(window.opens_at, document_of(window.digest).gates.step_s)
    return max(min(opened, until), until - LONGEST)

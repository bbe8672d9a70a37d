"""Whether a moment lies in a freeze, and until when."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from orchid.engine.document.freeze import Freeze, weekly
from orchid.engine.wall_clock import read_wall, wall_at

DAY = timedelta(days=1)
MOST_IN_A_ROW = 100  # freezes that meet; a document that freezes for ever still gets an answer


@dataclass(frozen=True)
class Frozen:
    """The freeze that a moment lies in, from when until when (UTC)."""

    freeze: Freeze
    since: datetime
    until: datetime


def frozen_at(freezes: Iterable[Freeze], at: datetime) -> Frozen | None:
    """The freeze that holds longest at an instant. Raises UnknownZone.

    An hour of the wall that never comes or comes twice makes a freeze longer, never shorter.
    """
    spans = (span for freeze in freezes for span in _spans(freeze, at))
    holding = [span for span in spans if span.since <= at < span.until]
    return max(holding, key=lambda span: span.until, default=None)


def free_from(freezes: Iterable[Freeze], at: datetime) -> datetime:
    """The first instant from `at` on that lies in no freeze, those that meet taken together."""
    known = tuple(freezes)
    for _ in range(MOST_IN_A_ROW):
        found = frozen_at(known, at)
        if found is None:
            break
        at = found.until
    return at


def _spans(freeze: Freeze, at: datetime) -> Iterator[Frozen]:
    """The only span of a freeze, or those of its weeks that can hold an instant."""
    if not freeze.is_weekly:
        begins, ends = datetime.fromisoformat(freeze.from_), datetime.fromisoformat(freeze.until)
        yield _between(freeze, begins, ends)
        return
    begins, ends = _week(freeze, wall_at(at, freeze.zone).replace(tzinfo=None))
    # The wall may show less than it did already, so the week that begins today is asked as well.
    for back in (0 * DAY, 7 * DAY):
        yield _between(freeze, begins - back, ends - back)


def _between(freeze: Freeze, begins: datetime, ends: datetime) -> Frozen:
    since = read_wall(begins, freeze.zone).earliest
    return Frozen(freeze, since, read_wall(ends, freeze.zone).latest)


def _week(freeze: Freeze, wall: datetime) -> tuple[datetime, datetime]:
    """The beginning on the last such day, today included, and the end that follows it."""
    first_day, first = weekly(freeze.from_)
    last_day, last = weekly(freeze.until)
    begins = datetime.combine(wall.date() - DAY * ((wall.weekday() - first_day) % 7), first)
    ends = datetime.combine(begins.date() + DAY * ((last_day - first_day) % 7), last)
    return begins, ends if ends > begins else ends + 7 * DAY

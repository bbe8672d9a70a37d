"""What a clock on the wall says in a named zone, and the instants that it can mean.

Where clocks are put forward an hour of the wall never comes; where they are put back one comes
twice. Both are answered as such and never guessed at.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

SECOND = timedelta(seconds=1)
#: Years of a time that somebody may write: near the calendar's ends some zones have no instant.
YEARS = range(1970, 3000)
#: Files beside the zones that name none: this machine's own, and zones that count leap seconds.
NO_ZONES = ("localtime", "posixrules", "posix/", "right/")


class UnknownZone(ValueError):  # noqa: N818 - what was named, not what went wrong
    """The zone database has no zone of that name."""


@dataclass(frozen=True)
class Reading:
    """A time on the wall with the instants (UTC) that it means: none, one or two.

    `change` is the instant at which the clock jumps, where it has none or two.
    """

    local: datetime
    zone: str
    instants: tuple[datetime, ...]
    change: datetime | None = None

    @property
    def earliest(self) -> datetime:
        """The first instant it can mean; of an hour that never comes, the jump over it."""
        return self.instants[0] if self.instants else self._jump

    @property
    def latest(self) -> datetime:
        """The last instant it can mean; of an hour that never comes, the jump over it."""
        return self.instants[-1] if self.instants else self._jump

    @property
    def _jump(self) -> datetime:
        assert self.change is not None, "only a jump leaves a reading without an instant"
        return self.change


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    """The zone by its IANA name. Raises UnknownZone."""
    if name.startswith(NO_ZONES):
        raise UnknownZone(name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZone(name) from error


def read_wall(local: datetime, zone_name: str) -> Reading:
    """Every instant at which the wall shows `local`, a time without offset. Raises UnknownZone."""
    assert local.tzinfo is None, "a time on the wall has no offset"
    found = zone(zone_name)
    both = [local.replace(tzinfo=found, fold=fold).astimezone(UTC) for fold in (0, 1)]
    shown = [at for at in both if at.astimezone(found).replace(tzinfo=None) == local]
    instants = tuple(sorted(set(shown)))
    change = None if len(instants) == 1 else _change(min(both), max(both), found)
    return Reading(local, zone_name, instants, change)


def wall_at(at: datetime, zone_name: str) -> datetime:
    """What the wall shows at an instant, with its offset."""
    return at.astimezone(zone(zone_name))


def zone_words(at: datetime, zone_name: str) -> str:
    """The offset of the wall at an instant: `CEST, UTC+02:00`."""
    shown = wall_at(at, zone_name)
    text = shown.strftime("%z")
    return f"{shown.tzname()}, UTC{text[:3]}:{text[3:5]}"


def _change(low: datetime, high: datetime, found: ZoneInfo) -> datetime:
    """The instant at which the offset changes; one of the two lies before it, the other not."""
    before = low.astimezone(found).utcoffset()
    while high - low > SECOND:
        middle = (low + (high - low) / 2).replace(microsecond=0)
        if middle.astimezone(found).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high

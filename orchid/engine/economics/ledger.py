"""The ledger of an hour: every pool that ran in it, for as long as it ran.

A pool runs while any window of a generation that it serves is open. Two windows of one pool at the
same time (the incumbent's and the candidate's, or two publications of one generation) are one
pool's time and are paid once, by the newest document. A pool that answers nobody, or a candidate's
that answers only a part of the demand, is deployment investment for that time.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import NamedTuple

from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics.hourly import PRECISION, SECONDS_PER_HOUR, device_usd_per_h
from orchid.engine.rollup import EXACT, USD_STEP

HOUR = timedelta(hours=1)
#: Dollars are laid on requests in whole parts, so that nothing is lost: 1e-12 dollars.
USD_PARTS = int(1 / USD_STEP)


class Run(NamedTuple):
    """One generation's window: the time in which it was served by its pool."""

    digest: str
    document: PolicyDocument
    publication: int
    cohort: str
    exposure: float
    start: datetime
    end: datetime

    @property
    def pool(self) -> str:
        """What is paid once, however many windows it serves."""
        return self.document.fleet.pool or self.digest

    @property
    def is_investment(self) -> bool:
        """Shadow work, or a candidate that is only tried on a part of the demand."""
        return self.cohort == "shadow" or (self.cohort == "candidate" and self.exposure < 1)


@dataclass(frozen=True, slots=True)
class Held:
    """What a pool cost and could do in some time; dollars and capacity are exact."""

    seconds: Decimal = Decimal(0)
    devices_usd: Decimal = Decimal(0)
    headroom_usd: Decimal = Decimal(0)
    """The part of the devices that the safe factor keeps back."""
    overhead_usd: Decimal = Decimal(0)
    device_ms: Decimal = Decimal(0)
    teu: Decimal = Decimal(0)
    """At the raw rate."""

    def __add__(self, other: "Held") -> "Held":
        with localcontext(prec=PRECISION):
            return Held(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class PoolHour:
    """One pool in one hour, or in the part of it that was asked for."""

    pool: str
    hour_at: datetime
    document: PolicyDocument
    """The newest that the pool served."""
    live: Held
    invested: Held

    @property
    def devices_parts(self) -> int:
        return parts_of_usd(self.live.devices_usd + self.invested.devices_usd)

    @property
    def overhead_parts(self) -> int:
        return parts_of_usd(self.live.overhead_usd + self.invested.overhead_usd)

    @property
    def total_parts(self) -> int:
        """The line of the ledger."""
        return self.devices_parts + self.overhead_parts


def ledger(runs: Sequence[Run], start: datetime, end: datetime) -> list[PoolHour]:
    """Every hour of every pool that ran in start <= time < end, in order of both."""
    found = [
        _pool_hour(pool, hour_at, some)
        for hour_at in hours_between(start, end)
        for pool, some in _by_pool(runs, max(start, hour_at), min(end, hour_at + HOUR))
    ]
    return [one for one in found if one.live.seconds or one.invested.seconds]


def hours_between(start: datetime, end: datetime) -> Iterator[datetime]:
    """The starts of the hours that the stretch touches."""
    hour_at = start.replace(minute=0, second=0, microsecond=0)
    while hour_at < end:
        yield hour_at
        hour_at += HOUR


def parts_of_usd(usd: Decimal) -> int:
    """Dollars in whole parts, half to even."""
    return round(usd * USD_PARTS)


def usd_of_parts(parts: int) -> Decimal:
    """Whole parts as dollars."""
    return EXACT.multiply(Decimal(parts), USD_STEP)


def _by_pool(runs: Iterable[Run], start: datetime, end: datetime) -> list[tuple[str, list[Run]]]:
    """The runs of each pool, cut to the stretch."""
    pools: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        cut = run._replace(start=max(run.start, start), end=min(run.end, end))
        if cut.start < cut.end:
            pools[run.pool].append(cut)
    return sorted(pools.items())


def _pool_hour(pool: str, hour_at: datetime, runs: Sequence[Run]) -> PoolHour:
    live, invested = Held(), Held()
    for start, end in pairwise(sorted({at for run in runs for at in (run.start, run.end)})):
        now = [run for run in runs if run.start <= start and end <= run.end]
        if now:
            held = _held(max(now, key=_age).document, end - start)
            if all(run.is_investment for run in now):
                invested += held
            else:
                live += held
    return PoolHour(pool, hour_at, max(runs, key=_age).document, live, invested)


def _age(run: Run) -> tuple[int, bool, datetime]:
    return run.publication, run.cohort == "candidate", run.start


def _held(document: PolicyDocument, span: timedelta) -> Held:
    fleet = document.fleet
    with localcontext(prec=PRECISION):
        seconds = Decimal(span // timedelta(microseconds=1)) / 1_000_000
        hours = seconds / SECONDS_PER_HOUR
        devices = device_usd_per_h(document) * hours
        return Held(
            seconds,
            devices,
            devices * (1 - fleet.safe_factor),
            fleet.overhead_usd_per_h * hours,
            fleet.devices * seconds * 1000,
            fleet.devices * fleet.raw_teu_per_s * seconds,
        )

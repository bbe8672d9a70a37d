"""What the product as a whole was asked for: hours that a stage is compared with, and strata."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from controlplane import figures
from ingest.selectors import counted_by_hour
from orchid.engine.segments import dims_of
from policies.models import Product
from releases.selectors.progress.condition import Condition, Stand

LOOKED_BACK = timedelta(days=7)
#: Part of the busiest hour that counts as a peak where a stage asks for none of its own.
PEAK = 0.9


@dataclass(frozen=True)
class Demand:
    """Eligible requests of every generation together, by clock hour and by dimensions."""

    by_hour: Mapping[datetime, int]
    by_key: Mapping[str, int]

    @property
    def busiest(self) -> int:
        return max(self.by_hour.values(), default=0)

    @property
    def segments(self) -> list[dict[str, str]]:
        """The dimensions of everything that came."""
        return [dims_of(key) for key in sorted(self.by_key)]


def demand(product: Product, start: datetime, end: datetime) -> Demand:
    """What was counted up to the last whole minute, so that a tick each second reads it once."""
    return _demand(product.pk, start, end.replace(second=0, microsecond=0))


@lru_cache(maxsize=128)
def _demand(product_id: int, start: datetime, end: datetime) -> Demand:
    by_hour, by_key = Counter[datetime](), Counter[str]()
    product = Product.objects.get(pk=product_id)
    for stream in counted_by_hour(product, start, max(start, end)):
        if stream.by != "cell":
            continue
        for cell in stream.hours:
            eligible = cell.sums.counters["eligible"]
            by_hour[cell.at] += eligible
            by_key[cell.name.dims_key] += eligible
    return Demand(by_hour, {key: n for key, n in by_key.items() if n})


def peak(stand: Stand, since: datetime, share: float, what: str) -> Condition:
    """Whether `what` has had an hour as busy as the week's busiest, but for what `share` leaves."""
    busiest = demand(stand.product, stand.now - LOOKED_BACK, stand.now).busiest
    own = demand(stand.product, since, stand.now).busiest
    needed = share * busiest
    asked = f"{figures.share(share, 0)} of {busiest:,} requests in the week’s busiest hour"
    said = f"{what} has had {own:,} requests in its busiest hour; a peak is {needed:,.0f}."
    if not busiest:
        said = "No hour of the last week has had a request, so no peak is known."
    return Condition("peak", bool(busiest) and own >= needed, said, f"{own:,}", asked)

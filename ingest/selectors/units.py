"""A canary's split as its records tell it: units by stratum and cohort."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from ingest.models import EdgeStep, ExposedUnit, FollowedSplit
from ingest.models.units import EVERY_UNIT
from ingest.states import CountedBy
from orchid.engine.units import BIT_OF_COHORT
from policies.models import Product


@dataclass(frozen=True)
class UnitCounts:
    """Units of one stratum: by the candidate, by the incumbent (both count those of both)."""

    stratum: str
    candidate: int
    incumbent: int
    both: int


@dataclass(frozen=True)
class SplitCounts:
    """What is exposed as a whole, the part of the units that is followed, and the counts."""

    unit: str
    share: float
    strata: list[UnitCounts]


def split_counts(
    product: Product, publication: int, start: datetime, end: datetime
) -> SplitCounts | None:
    """The units of a publication; None where some edge's requests came as rollups.

    From `start` to `end` such an edge told single requests only of its choice.
    """
    split = FollowedSplit.objects.filter(product=product, publication=publication).first()
    steps = EdgeStep.objects.filter(product=product, step_at__gte=start, step_at__lt=end)
    if split is None or steps.filter(counted_by=CountedBy.ROLLUPS).exists():
        return None
    held = ExposedUnit.objects.filter(split_id=split.pk, unit__lt=split.keep)
    found: dict[str, dict[int, int]] = {}
    for row in held.values("stratum", "cohorts").annotate(units=Count("unit")):
        found.setdefault(row["stratum"], {})[row["cohorts"]] = row["units"]
    if not found:
        return None
    strata = [_counts(stratum, found[stratum]) for stratum in sorted(found)]
    return SplitCounts(split.unit, split.keep / EVERY_UNIT, strata)


def _counts(stratum: str, by_bits: dict[int, int]) -> UnitCounts:
    candidate, incumbent = BIT_OF_COHORT["candidate"], BIT_OF_COHORT["incumbent"]
    both = by_bits.get(candidate | incumbent, 0)
    return UnitCounts(
        stratum, by_bits.get(candidate, 0) + both, by_bits.get(incumbent, 0) + both, both
    )

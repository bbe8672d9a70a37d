"""Follows the units of a canary's split, as records of either cohort are counted.

What is written is a set: a unit that came before changes nothing, so that a batch delivered twice,
in parts or in another order leaves the same rows.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Count

from ingest.models import ExposedUnit, FollowedSplit
from ingest.services.dimensions import Capped
from orchid.engine.units import (
    BIT_OF_COHORT,
    WITHOUT_SHAPE,
    kept,
    stratum_name,
    unit_hash,
    unit_name,
)
from orchid.engine.wire.lines import Lines
from policies.models import Product

#: Units of one split that are followed; past it a sample by hash.
MOST_UNITS = 50_000
#: After its end a split is of interest for as long as late records may still change a judgement.
KEPT_AFTER = timedelta(hours=1)


def follow_units(
    product: Product, publication: int, unit: str, strata: Sequence[str], at: datetime
) -> None:
    """From now on keep which units each cohort answered; following it twice changes nothing."""
    FollowedSplit.objects.get_or_create(
        product=product,
        publication=publication,
        defaults={"unit": unit, "strata": list(strata), "opened_at": at},
    )


def unfollow_units(product: Product, publication: int, at: datetime) -> None:
    """The publication is over; the first end holds."""
    followed = FollowedSplit.objects.filter(product=product, publication=publication)
    followed.filter(closed_at=None).update(closed_at=at)


def followed_splits(product: Product) -> dict[int, FollowedSplit]:
    """The splits of a product that are followed, by publication."""
    found = FollowedSplit.objects.filter(product=product, closed_at=None)
    return {split.publication: split for split in found}


class _Place(NamedTuple):
    split: int
    unit: int


class UnitsSeen:
    """The units of one batch, gathered line by line."""

    def __init__(self, splits: dict[int, FollowedSplit], caps: Capped) -> None:
        self._splits, self._caps = splits, caps
        self._seen: dict[_Place, tuple[str, int]] = {}

    def add(self, lines: Lines) -> None:
        """Records that a rollup stands for are a choice of all, and say nothing of the split."""
        if not self._splits:
            return
        for request, shape in zip(lines.requests, lines.shapes, strict=True):
            split = self._splits.get(shape.publication or 0)
            bit = BIT_OF_COHORT.get(shape.cohort, 0)
            if split is None or not bit or shape.in_rollup or shape.reason in WITHOUT_SHAPE:
                continue
            session = request.session if isinstance(request.session, str) else None
            name = unit_name(split.unit, session, request.request_id, request.tenant)
            stratum = stratum_name(split.strata, shape.segment)
            unit = unit_hash(stratum, shape.class_, name)
            if unit < split.keep:
                place = _Place(split.pk, unit)
                label = stratum_name(split.strata, dict(self._caps.dims_of(shape.segment)))
                before = self._seen.get(place, (label, 0))[1]
                self._seen[place] = label, before | bit

    def store(self) -> None:
        """In order of the key, so that two workers never wait for each other in a ring."""
        if not self._seen:
            return
        places = sorted(self._seen)
        values: Any = [
            [place.split for place in places],
            [place.unit for place in places],
            [self._seen[place][0] for place in places],
            [self._seen[place][1] for place in places],
        ]
        with connection.cursor() as cursor:
            cursor.execute(_STORE, values)


_STORE = """
INSERT INTO ingest_exposedunit AS held (split_id, unit, stratum, cohorts)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::smallint[])
ON CONFLICT (split_id, unit) DO UPDATE SET cohorts = held.cohorts | excluded.cohorts
WHERE held.cohorts <> held.cohorts | excluded.cohorts
"""


def trim_units(now: datetime) -> None:
    """Keep every split within its bound, and forget those that are long over."""
    over = FollowedSplit.objects.filter(closed_at__lt=now - KEPT_AFTER)
    ExposedUnit.objects.filter(split_id__in=list(over.values_list("pk", flat=True))).delete()
    counts = ExposedUnit.objects.values("split_id").annotate(units=Count("unit"))
    for row in counts.filter(units__gt=MOST_UNITS):
        _trim(row["split_id"])


@transaction.atomic
def _trim(split_pk: int) -> None:
    split = FollowedSplit.objects.select_for_update().get(pk=split_pk)
    units = ExposedUnit.objects.filter(split_id=split_pk)
    split.keep = kept(list(units.values_list("unit", flat=True)), MOST_UNITS, split.keep)
    split.save(update_fields=["keep"])
    units.filter(unit__gte=split.keep).delete()

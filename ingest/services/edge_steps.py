"""By what an edge's requests of a step are counted: its records or its rollups, never both."""

from collections.abc import Iterable
from datetime import UTC, datetime

from ingest.models import EdgeStep
from ingest.states import CountedBy
from policies.models import Product


def claim(
    product: Product, edge: str, steps: Iterable[datetime], counted_by: CountedBy
) -> set[datetime]:
    """Say how these steps are counted; those that were claimed the other way before.

    Call it before any row of a request is locked, as two deliveries of one edge that claim a step
    first wait for each other.
    """
    wanted = sorted(set(steps))
    EdgeStep.objects.bulk_create(
        [
            EdgeStep(product=product, edge=edge, step_at=step_at, counted_by=counted_by)
            for step_at in wanted
        ],
        ignore_conflicts=True,
    )
    taken = EdgeStep.objects.filter(product=product, edge=edge, step_at__in=wanted)
    others = taken.exclude(counted_by=counted_by).values_list("step_at", flat=True)
    return {step_at.astimezone(UTC) for step_at in others}

"""Whether records came late, for steps that somebody has read already."""

from datetime import datetime, timedelta

from ingest.models import Batch, RollupDelta
from ingest.selectors.rollups import stream_of
from ingest.states import RollupBy
from policies.models import Product

#: A delivery is visible at most so long after the moment that it says it was counted.
_COMMITTED_WITHIN = timedelta(seconds=1)


def came_late(
    product: Product,
    digest: str,
    publication: int | None,
    cohort: str,
    steps: tuple[datetime, datetime],
    since: datetime,
) -> bool:
    """Whether a delivery that was counted after `since` added to these steps (end exclusive).

    Seen until it is merged with the step, which mostly takes seconds: who must not miss any looks
    again now and then. Cheap, since few deliveries are not merged.
    """
    stream = stream_of(product, (RollupBy.CELL, digest, publication, cohort))
    if stream is None:
        return False
    recent = Batch.objects.filter(done_at__gte=since - _COMMITTED_WITHIN)
    start, end = steps
    added = RollupDelta.objects.filter(stream_id=stream, step_at__gte=start, step_at__lt=end)
    return added.filter(batch_id__in=recent.values("pk")).exists()

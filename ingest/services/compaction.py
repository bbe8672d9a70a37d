"""One compactor merges deltas into steps and steps into hours; readers see no difference."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Min

from ingest.models import RollupDelta, RollupStep, RollupStream
from ingest.services.hours import Place, alone, fold, with_hours, without_hours
from ingest.services.partitions import STEPS, ensure_rollup_days
from orchid.engine.rollup_bytes import columns_in, pack_columns
from orchid.engine.rollup_columns import regrouped
from orchid.engine.rollup_hour import HOUR, hour_of
from policies.selectors import document_of

#: Late batches may still append after this; the next round merges them too.
SETTLED_AFTER = timedelta(seconds=30)
#: Steps a round; the next tick takes on from there.
_ROUND = 500


@transaction.atomic
def compact(now: datetime) -> int:
    """Merge the deltas of steps that are over; how many went. Nothing while another one runs."""
    if not alone(waiting=False):
        return 0
    settled = now - SETTLED_AFTER
    places = [place for _, place in zip(range(_ROUND), _steps_over(settled), strict=False)]
    merged = sum(_merge(stream, step_at) for stream, step_at in places)
    touched = {(stream, hour_of(step_at)) for stream, step_at in places}
    stale = with_hours(touched) | {place for place in touched if place[1] + HOUR <= settled}
    day = now.date()
    fold(stale | set(without_hours(day - timedelta(days=1), day, settled)))
    return merged


def _steps_over(settled: datetime) -> Iterator[Place]:
    """Steps with deltas that ended before, oldest first in each stream.

    The length of a step is the document's: one that still runs is left alone, because each merge
    writes the whole of it anew.
    """
    waiting = RollupDelta.objects.values("stream").annotate(first=Min("step_at"))
    streams = RollupStream.objects.in_bulk([row["stream"] for row in waiting])
    for pk in sorted(streams):
        step = timedelta(seconds=document_of(streams[pk].digest).gates.step_s)
        over = RollupDelta.objects.filter(stream=pk, step_at__lte=settled - step)
        for step_at in over.order_by("step_at").values_list("step_at", flat=True).distinct():
            yield pk, step_at.astimezone(UTC)


def _merge(stream: int, step_at: datetime) -> int:
    """One step's deltas and what was merged before as one sheet, in the place of all of them."""
    deltas = dict(
        RollupDelta.objects.filter(stream=stream, step_at=step_at).values_list("pk", "sheet")
    )
    ensure_rollup_days(STEPS, [step_at.date()])
    merged = RollupStep.objects.filter(day=step_at.date(), stream_id=stream, step_at=step_at)
    parts = [*deltas.values(), *merged.values_list("sheet", flat=True)]
    held = [columns_in(bytes(part)) for part in parts]
    sheet = pack_columns(regrouped(held, [columns.cell for columns in held]))
    if not merged.update(sheet=sheet):
        RollupStep.objects.create(
            day=step_at.date(), stream_id=stream, step_at=step_at, sheet=sheet
        )
    RollupDelta.objects.filter(pk__in=deltas).delete()
    return len(deltas)

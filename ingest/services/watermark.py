"""How far a source is counted: never past a batch that still waits."""

from django.db.models import Max

from ingest.models import Batch, Source
from ingest.states import BatchStatus


def advance(source_pk: int) -> None:
    """Move the watermark over the counted batches that have no waiting one before them.

    Runs at the end of the batch's own transaction. The lock makes two workers that end together
    see each other's batch.
    """
    source = Source.objects.select_for_update(no_key=True).get(pk=source_pk)
    batches = Batch.objects.filter(source=source)
    first_waiting = (
        batches.filter(status=BatchStatus.RECEIVED).order_by("pk").values_list("pk", flat=True)
    ).first()
    counted = batches.filter(status=BatchStatus.DONE)
    if first_waiting is not None:
        counted = counted.filter(pk__lt=first_waiting)
    reached = counted.order_by("-pk")[:200].aggregate(reached=Max("watermark"))["reached"]
    if reached is not None and (source.watermark is None or reached > source.watermark):
        source.watermark = reached
        source.save(update_fields=["watermark"])

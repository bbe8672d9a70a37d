"""Background work: count batches, find forgotten ones, keep partitions and rollups in shape."""

from typing import Any

from celery import shared_task
from django.utils import timezone


@shared_task(name="ingest.process_batch")
def process_batch(batch_pk: int) -> None:
    """Count one batch. Safe to run twice, and safe to kill."""
    from ingest.services.processing import process

    process(batch_pk)


@shared_task(name="ingest.derive_attempts")
def derive_attempts(source_pk: int) -> None:
    """Work out what new spans of a source say. Safe to run twice, and safe to kill."""
    from ingest.services.derived import derive

    derive(source_pk)


@shared_task(name="ingest.sweep")
def sweep() -> None:
    """Send again what no worker has taken."""
    from ingest.services.derived import forgotten
    from ingest.services.processing import waiting_batches

    for batch_pk in waiting_batches(timezone.now()):
        process_batch.delay(batch_pk)
    for source_pk in forgotten(timezone.now()):
        derive_attempts.delay(source_pk)


@shared_task(name="ingest.compact")
def compact() -> None:
    """Merge the deltas of finished steps."""
    from ingest.services.compaction import compact as merge_deltas

    merge_deltas(timezone.now())


@shared_task(name="ingest.keep_days")
def keep_days() -> None:
    """Make the partitions of the days to come and drop those past retention."""
    from ingest.services.partitions import keep_days as keep

    keep(timezone.now())


BEAT: dict[str, dict[str, Any]] = {
    # A tick that waited past its successor has nothing left to do.
    "ingest.sweep": {"task": "ingest.sweep", "schedule": 5.0, "options": {"expires": 5.0}},
    "ingest.compact": {"task": "ingest.compact", "schedule": 15.0, "options": {"expires": 15.0}},
    "ingest.keep_days": {"task": "ingest.keep_days", "schedule": 3600.0},
}

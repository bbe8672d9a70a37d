"""Background work: count batches, find forgotten ones, keep partitions and rollups in shape."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

#: What one message counts before others have their turn.
DRAINED, DRAIN_FOR = 20, timedelta(seconds=1)


@shared_task(name="ingest.drain")
def drain() -> None:
    """Count batches that wait. Safe to run twice, and safe to kill."""
    from ingest.services.processing import process_waiting

    if process_waiting(DRAINED, timezone.now() + DRAIN_FOR):
        drain.delay()


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

    if waiting_batches(timezone.now()):
        drain.delay()
    for source_pk in forgotten(timezone.now()):
        derive_attempts.delay(source_pk)


@shared_task(name="ingest.compact")
def compact() -> None:
    """Merge the deltas of finished steps, rank the tenants of what was counted, bound the units."""
    from ingest.services.compaction import compact as merge_deltas
    from ingest.services.tenants import rank_tenants
    from ingest.services.units import trim_units

    merge_deltas(timezone.now())
    rank_tenants(timezone.now())
    trim_units(timezone.now())


@shared_task(name="ingest.keep_days")
def keep_days() -> None:
    """Make the partitions of the days to come, and drop what is past its retention."""
    from ingest.services.counters import forget_old_samples
    from ingest.services.partitions import keep_days as keep
    from ingest.services.span_rows import keep_days as keep_span_days

    keep(timezone.now())
    keep_span_days(timezone.now())
    forget_old_samples(timezone.now())


@shared_task(name="ingest.forget_receipts")
def forget_receipts() -> None:
    """Delete some receipts and logged calls that are past retention; the next tick goes on."""
    from ingest.services.calls import forget_old_calls
    from ingest.services.receipts import forget_receipts as forget

    forget_old_calls(timezone.now())
    forget(timezone.now())


@shared_task(name="ingest.forget_executions")
def forget_executions() -> None:
    """Delete some of what engines told before retention began; the next tick goes on."""
    from ingest.services.forgetting import forget_executions as forget

    forget(timezone.now())


@shared_task(name="ingest.poll_servers")
def poll_servers() -> None:
    """Hand out the servers whose check is due, each to a task of its own."""
    from ingest.services.servers import due_servers

    for server_pk in due_servers(timezone.now()):
        poll_server.delay(server_pk)


# Over the time that a check allows itself; a worker that hangs all the same is ended.
@shared_task(name="ingest.poll_server", soft_time_limit=20, time_limit=30)
def poll_server(server_pk: int) -> None:
    """Check one server. Safe to run twice, and safe to kill."""
    from ingest.services.servers import poll

    poll(server_pk, timezone.now())


BEAT: dict[str, dict[str, Any]] = {
    "ingest.sweep": {"task": "ingest.sweep", "schedule": 5.0},
    "ingest.compact": {"task": "ingest.compact", "schedule": 15.0},
    "ingest.poll_servers": {
        "task": "ingest.poll_servers",
        "schedule": 2.0,
    },
    "ingest.forget_executions": {
        "task": "ingest.forget_executions",
        "schedule": 60.0,
    },
    "ingest.forget_receipts": {
        "task": "ingest.forget_receipts",
        "schedule": 60.0,
    },
    "ingest.keep_days": {"task": "ingest.keep_days", "schedule": 3600.0},
}

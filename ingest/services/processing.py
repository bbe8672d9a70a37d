"""From the inbox to rows and rollups: everything a batch does happens in one transaction.

A worker claims a batch for a while (so that a killed one is noticed), then does the work and marks
it done in a single transaction under the row's lock. Killed at any line, either nothing or all of
it is there; run twice, the second finds nothing to do.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import Conflict, Problem
from ingest import tasks
from ingest.models import Batch
from ingest.services import calls, counters, requests, tallies, traces, trials
from ingest.services.encoding import decoded
from ingest.services.stored import Stored
from ingest.services.watermark import advance
from ingest.states import BatchStatus, SourceKind
from orchid.formats.reading import UnreadableError

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
MAX_TRIES = 5
#: Refused lines that are kept by name; the count has all of them.
KEPT_REJECTED = 200

READERS: dict[str, Callable[[Batch, bytes], Stored]] = {
    SourceKind.EDGE: requests.store,
    SourceKind.TRITON_TRACE: traces.store,
    SourceKind.CLIENT_LOG: calls.store,
    SourceKind.STATISTICS: counters.store_statistics,
    SourceKind.METRICS: counters.store_metrics,
    SourceKind.TRIAL: trials.store_trial,
    SourceKind.ARRIVALS: trials.store_arrivals,
}


def process(batch_pk: int, now: datetime | None = None) -> None:
    """Count a batch, unless it is counted or another worker has it."""
    tries = _claim(batch_pk, now or timezone.now())
    if tries is None:
        return
    try:
        with transaction.atomic():
            _work(batch_pk, tries)
    except (UnreadableError, Problem) as error:
        _set_aside(batch_pk, tries, str(error))
    except Exception as error:
        # Whatever else went wrong may pass, or may be poison: it is tried again a few times,
        # alone, and never holds up its neighbours.
        logger.exception("batch %s failed on try %s", batch_pk, tries)
        _postpone(batch_pk, tries, f"{type(error).__name__} while counting")


def _claim(batch_pk: int, now: datetime) -> int | None:
    """Take the lease; the number of tries is its token. None when there is nothing to do."""
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    waiting = Batch.objects.filter(free, pk=batch_pk, status=BatchStatus.RECEIVED)
    exhausted = waiting.filter(tries__gte=MAX_TRIES).update(
        status=BatchStatus.SET_ASIDE, reason=f"Gave up after {MAX_TRIES} tries.", lease_until=None
    )
    if exhausted:
        return None
    if not waiting.update(tries=F("tries") + 1, lease_until=now + LEASE):
        return None
    return Batch.objects.values_list("tries", flat=True).get(pk=batch_pk)


def _work(batch_pk: int, tries: int) -> None:
    batch = (
        Batch.objects.select_for_update(of=("self",))
        .select_related("source", "product")
        .filter(pk=batch_pk, status=BatchStatus.RECEIVED, tries=tries)
        .first()
    )
    if batch is None or batch.body is None:
        return  # the lease ran out and another worker did it
    stored = READERS[batch.kind](batch, decoded(bytes(batch.body), batch.encoding))
    batch.status, batch.done_at, batch.body = BatchStatus.DONE, timezone.now(), None
    batch.counts = stored.counts | {"rejected": len(stored.rejected)}
    batch.rejected, batch.reason, batch.lease_until = stored.rejected[:KEPT_REJECTED], "", None
    batch.save()
    advance(batch.source_id)
    tallies.add_batch(batch, stored)


def _set_aside(batch_pk: int, tries: int, reason: str) -> None:
    Batch.objects.filter(pk=batch_pk, status=BatchStatus.RECEIVED, tries=tries).update(
        status=BatchStatus.SET_ASIDE, reason=reason[:500], lease_until=None
    )


def _postpone(batch_pk: int, tries: int, reason: str) -> None:
    until = timezone.now() + timedelta(seconds=2**tries)
    Batch.objects.filter(pk=batch_pk, status=BatchStatus.RECEIVED, tries=tries).update(
        lease_until=until, reason=reason[:500]
    )


def retry(actor: Actor, batch: Batch) -> None:
    """Put a batch that was set aside back into the queue; Conflict when it is not set aside."""
    require(actor, Permission.INGEST, batch.product.slug)
    with transaction.atomic():
        moved = Batch.objects.filter(pk=batch.pk, status=BatchStatus.SET_ASIDE).update(
            status=BatchStatus.RECEIVED, tries=0, lease_until=None, reason=""
        )
        if not moved:
            raise Conflict("not_set_aside", "This batch is not set aside; look at it again.")
        record(actor, "batch.retried", product=batch.product.slug, obj=("batch", batch.pk))
        transaction.on_commit(lambda: tasks.process_batch.delay(batch.pk))


def waiting_batches(now: datetime, limit: int = 200) -> list[int]:
    """Batches that no worker has: never claimed for some seconds, or whose lease ran out."""
    forgotten = Q(lease_until__isnull=True, received_at__lte=now - timedelta(seconds=2))
    waiting = Batch.objects.filter(forgotten | Q(lease_until__lte=now), status=BatchStatus.RECEIVED)
    return list(waiting.order_by("pk").values_list("pk", flat=True)[:limit])

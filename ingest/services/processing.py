"""From the inbox to rows and rollups: everything a batch does happens in one transaction.

A worker claims a batch for a while (so that a killed one is noticed), then does the work and marks
it done in a single transaction under the row's lock. Killed at any line, either nothing or all of
it is there; run twice, the second finds nothing to do.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import Conflict, Problem
from ingest.models import Batch
from ingest.services import (
    calls,
    counters,
    edge_rollups,
    requests,
    shadow,
    tallies,
    traces,
    trials,
)
from ingest.services.encoding import decoded
from ingest.services.inbox import ring
from ingest.services.stored import Stored
from ingest.services.watermark import advance
from ingest.states import BatchStatus, SourceKind
from orchid.formats.reading import UnreadableError

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
MAX_TRIES = 5
#: What is known of a try that could not even say how it failed.
ENDED = "in the last one the worker was ended, by its memory or by a signal."
#: Refused lines that are kept by name; the count has all of them.
KEPT_REJECTED = 200

READERS: dict[str, Callable[[Batch, bytes], Stored]] = {
    SourceKind.EDGE: requests.store,
    SourceKind.ROLLUP: edge_rollups.store,
    SourceKind.SHADOW: shadow.store,
    SourceKind.TRITON_TRACE: traces.store,
    SourceKind.CLIENT_LOG: calls.store,
    SourceKind.STATISTICS: counters.store_statistics,
    SourceKind.METRICS: counters.store_metrics,
    SourceKind.TRIAL: trials.store_trial,
    SourceKind.ARRIVALS: trials.store_arrivals,
}


def process_waiting(most: int, until: datetime) -> bool:
    """Count up to `most` batches, the oldest first, and begin none past `until`.

    Whether more may wait.
    """
    for _ in range(most):
        now = timezone.now()
        if now >= until:
            return True
        claim = _claim(_free(now), now)
        if claim is None:
            return False
        _process(claim)
    return True


def process(batch_pk: int, now: datetime | None = None) -> None:
    """Count a batch, unless it is counted or another worker has it."""
    at = now or timezone.now()
    if claim := _claim(_free(at).filter(pk=batch_pk), at):
        _process(claim)


class Claim(NamedTuple):
    """A lease: the number of tries is its token."""

    batch_pk: int
    tries: int


def _process(claim: Claim) -> None:
    if claim.tries > MAX_TRIES:
        _set_aside(claim, f"Gave up after {MAX_TRIES} tries; {ENDED}")
        return
    try:
        with transaction.atomic():
            _work(claim)
    except (UnreadableError, Problem) as error:
        _set_aside(claim, str(error))
    except Exception as error:
        # Whatever else went wrong may pass, or may be poison: it is tried again a few times,
        # alone, and never holds up its neighbours.
        logger.exception("batch %s failed on try %s", *claim)
        _postpone(claim, f"{type(error).__name__} while counting")


@transaction.atomic
def _claim(free: QuerySet[Batch], now: datetime) -> Claim | None:
    """Take the lease of the first; None when there is none.

    A batch that is being counted is locked by its worker, so that a lease that runs out under a
    long one takes nothing from it: a lease is for workers that ended.
    """
    batch = free.first()
    if batch is None:
        return None
    batch.tries += 1
    batch.lease_until = now + LEASE
    batch.save(update_fields=["tries", "lease_until"])
    return Claim(batch.pk, batch.tries)


def _free(now: datetime) -> QuerySet[Batch]:
    """Batches that wait and that no living worker has, the oldest first."""
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    waiting = Batch.objects.filter(free, status=BatchStatus.RECEIVED).order_by("pk")
    return waiting.only("pk", "tries", "lease_until").select_for_update(
        skip_locked=True, no_key=True
    )


def _work(claim: Claim) -> None:
    batch = (
        Batch.objects.select_for_update(of=("self",), no_key=True)
        .select_related("source", "product")
        .filter(pk=claim.batch_pk, status=BatchStatus.RECEIVED, tries=claim.tries)
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


def _set_aside(claim: Claim, reason: str) -> None:
    _held(claim).update(status=BatchStatus.SET_ASIDE, reason=reason[:500], lease_until=None)


def _postpone(claim: Claim, reason: str) -> None:
    """Wait longer after each try; after the last one the batch is set aside."""
    if claim.tries >= MAX_TRIES:
        _set_aside(claim, f"Gave up after {MAX_TRIES} tries; {reason}")
        return
    until = timezone.now() + timedelta(seconds=2**claim.tries)
    _held(claim).update(lease_until=until, reason=reason[:500])


def _held(claim: Claim) -> QuerySet[Batch]:
    return Batch.objects.filter(pk=claim.batch_pk, status=BatchStatus.RECEIVED, tries=claim.tries)


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
        transaction.on_commit(ring)


def waiting_batches(now: datetime) -> int:
    """How many batches no worker has."""
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    return Batch.objects.filter(free, status=BatchStatus.RECEIVED).count()

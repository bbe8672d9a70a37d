"""The decision diff over recorded requests: asked for, computed by a worker, stored once.

A worker claims a diff for a while, so that a killed one is noticed, and its number of tries is the
token with which it may write. Killed at any line, either nothing or all of the answer is there.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from controlplane.errors import BadInput
from gates import tasks
from gates.models import DecisionDiff
from gates.states import DiffStatus
from ingest.selectors import recorded_requests
from orchid.engine.decision_diff import Recorded, decision_diff
from policies.models import Product
from policies.selectors import document_of, revision_by_digest

logger = logging.getLogger(__name__)

#: Requests that are decided once more, and how long one worker may take over them.
MOST_REQUESTS = 200_000
MOST_TIME = timedelta(seconds=120)
#: Longer than a worker takes; after it another one begins afresh.
LEASE = timedelta(seconds=180)
MAX_TRIES = 3
#: For this long an answer is not computed again, although traffic goes on.
FRESH = timedelta(hours=1)


def ask_decision_diff(
    actor: Actor, product: Product, base_digest: str, digest: str, now: datetime | None = None
) -> DecisionDiff:
    """The diff of two documents over what is recorded; the one that there is, or a queued one.

    Asking twice, also at once, gives the same row. A failed one is queued again, and one that is
    done is computed anew only when it is old or found nothing recorded.
    """
    require(actor, Permission.PROPOSE, product.slug)
    if base_digest == digest:
        raise BadInput("same_document", "The two digests are the same document.")
    for one in (base_digest, digest):
        revision_by_digest(product, one)
    at = now or timezone.now()
    try:
        with transaction.atomic():
            return _found(product, base_digest, digest, at) or _queued(
                product, base_digest, digest, actor, at
            )
    except IntegrityError:  # somebody asked in the same moment
        return DecisionDiff.objects.get(
            product=product,
            base_digest=base_digest,
            digest=digest,
            status__in=DiffStatus.open(),
        )


def _found(product: Product, base_digest: str, digest: str, now: datetime) -> DecisionDiff | None:
    rows = DecisionDiff.objects.filter(product=product, base_digest=base_digest, digest=digest)
    newest = rows.order_by("-id").first()
    if newest is None or (newest.is_done and not _still_says_it(newest, now)):
        return None
    if newest.status == DiffStatus.FAILED:
        _requeue(newest.pk, now)
        newest.refresh_from_db()
    return newest


def _still_says_it(row: DecisionDiff, now: datetime) -> bool:
    return row.requests > 0 and now - row.asked_at < FRESH


def _queued(
    product: Product, base_digest: str, digest: str, actor: Actor, now: datetime
) -> DecisionDiff:
    row = DecisionDiff.objects.create(
        product=product,
        base_digest=base_digest,
        digest=digest,
        asked_by=actor.name,
        asked_at=now,
    )
    _send(row.pk)
    return row


def _requeue(pk: int, now: datetime) -> None:
    """Try a failed one afresh; who asks second finds it queued, or in a worker's hands already."""
    failed = DecisionDiff.objects.filter(pk=pk, status=DiffStatus.FAILED)
    if failed.update(status=DiffStatus.QUEUED, reason="", tries=0, asked_at=now):
        _send(pk)


def _send(pk: int) -> None:
    transaction.on_commit(lambda: tasks.compute_decision_diff.delay(pk), robust=True)


def compute(pk: int, now: datetime | None = None) -> None:
    """Compute a diff, unless it is done or another worker has it."""
    row = _claim(pk, now or timezone.now())
    if row is None:
        return
    try:
        read = _Read(recorded_requests(row.product, until=row.asked_at, limit=MOST_REQUESTS))
        diff = decision_diff(document_of(row.base_digest), document_of(row.digest), read)
    except Exception as error:
        logger.exception("decision diff %s failed on try %s", pk, row.tries)
        _postpone(row, f"{type(error).__name__} while comparing")
        return
    _write(
        row,
        status=DiffStatus.DONE,
        requests=diff.n,
        changed=diff.changed,
        records_from=read.first,
        records_to=read.last,
        is_whole=not read.ran_out,
        content=diff.as_json(),
        inputs_digest=read.digest(row.base_digest, row.digest),
        done_at=timezone.now(),
    )


def _claim(pk: int, now: datetime) -> DecisionDiff | None:
    """Take the lease. None where there is nothing to do, or where it was tried too often."""
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
    waiting = DecisionDiff.objects.filter(free, pk=pk, status__in=DiffStatus.open())
    if waiting.filter(tries__gte=MAX_TRIES).update(
        status=DiffStatus.FAILED, reason=f"Gave up after {MAX_TRIES} tries.", lease_until=None
    ):
        return None
    taken = {"status": DiffStatus.RUNNING, "tries": F("tries") + 1, "lease_until": now + LEASE}
    if not waiting.update(**taken):
        return None
    return DecisionDiff.objects.select_related("product").get(pk=pk)


def _postpone(row: DecisionDiff, reason: str) -> None:
    """What went wrong may pass; what goes wrong every time is told."""
    if row.tries >= MAX_TRIES:
        _write(row, status=DiffStatus.FAILED, reason=reason)
    else:
        until = timezone.now() + timedelta(seconds=2**row.tries)
        _write(row, status=DiffStatus.QUEUED, reason=reason, lease_until=until)


def _write(row: DecisionDiff, **columns: Any) -> None:
    """Only the holder of the lease may write."""
    mine = DecisionDiff.objects.filter(pk=row.pk, status=DiffStatus.RUNNING, tries=row.tries)
    mine.update(**{"lease_until": None, **columns})


@dataclass
class _Read:
    """The records on their way through, as long as there is time, and what they were."""

    records: Iterable[Recorded]
    first: datetime | None = None
    last: datetime | None = None
    ran_out: bool = False
    _hash: Any = field(default_factory=hashlib.sha256)

    def __iter__(self) -> Iterator[Recorded]:
        until = timezone.now() + MOST_TIME
        for count, record in enumerate(self.records):
            if count % 1024 == 0 and timezone.now() > until:
                self.ran_out = True
                return
            self.first = self.first or record.arrived_at
            self.last = record.arrived_at
            self._hash.update(f"{record.request_id}\n".encode())
            yield record

    def digest(self, base_digest: str, digest: str) -> str:
        """Over both documents and every request, so that one can tell what was compared."""
        self._hash.update(f"{base_digest}\n{digest}\n".encode())
        return f"sha256:{self._hash.hexdigest()}"


def waiting_diffs(now: datetime, limit: int = 50) -> list[int]:
    """Diffs that no worker has: never claimed for some seconds, or whose lease ran out."""
    forgotten = Q(lease_until__isnull=True, asked_at__lte=now - timedelta(seconds=5))
    waiting = DecisionDiff.objects.filter(
        forgotten | Q(lease_until__lte=now), status__in=DiffStatus.open()
    )
    return list(waiting.order_by("pk").values_list("pk", flat=True)[:limit])

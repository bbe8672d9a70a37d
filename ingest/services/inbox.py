"""The inbox: a batch is stored whole, and only then acknowledged."""

import hashlib
import logging
import re
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from controlplane.env import InboxBounds
from controlplane.errors import BadInput, Conflict, TooMany, retry_after
from ingest import tasks
from ingest.models import Batch, Source
from ingest.services.encoding import check
from ingest.states import BatchStatus
from policies.models import Product

logger = logging.getLogger(__name__)

_BATCH_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@dataclass(frozen=True)
class SourceKey:
    """What identifies a sender, and what it declares about itself."""

    kind: str
    name: str
    server_run: str = ""
    engine_kind: str = ""
    anchor_monotonic_ns: int | None = None
    anchor_unix_ns: int | None = None


@dataclass(frozen=True)
class BatchMeta:
    """Where the batch lies in its sender's sequence; an idle edge sends one with no records.

    `declared` is what the sender of a whole file said of it.
    """

    boot_id: str = ""
    first_seq: int | None = None
    last_seq: int | None = None
    watermark: datetime | None = None
    declared: dict[str, Any] = field(default_factory=dict)


def accept(
    product: Product,
    source_key: SourceKey,
    batch_id: str,
    kind: str,
    body: bytes,
    content_type: str = "",
    encoding: str = "",
    meta: BatchMeta | None = None,
) -> tuple[Batch, bool]:
    """Store a batch durably; False with the stored one when this id was here before.

    Raises BadInput for an id or an encoding that can't be used, Conflict when the id was used for
    other bytes, TooMany when the inbox is over its bound.
    """
    if not _BATCH_ID.fullmatch(batch_id):
        raise BadInput("bad_batch_id", "Batch-Id takes 1 to 128 letters, digits and . _ : -")
    check(body, encoding)
    digest = hashlib.sha256(body).hexdigest()
    if known := _known(product, batch_id, digest):
        return known, False
    _refuse_when_full(product, len(body))
    batch = Batch(
        product=product,
        batch_id=batch_id,
        kind=kind,
        content_type=content_type[:128],
        encoding=encoding,
        body=body,
        size=len(body),
        sha256=digest,
        **asdict(meta or BatchMeta()),
    )
    try:
        _store(batch, source_key)
    except IntegrityError:
        # Two deliveries at once: the unique id let one of them in.
        if known := _known(product, batch_id, digest):
            return known, False
        raise
    return batch, True


@transaction.atomic
def _store(batch: Batch, source_key: SourceKey) -> None:
    batch.source = source_for(batch.product, source_key)
    batch.save()
    transaction.on_commit(lambda: _enqueue(batch.pk))


def _known(product: Product, batch_id: str, digest: str) -> Batch | None:
    known = Batch.objects.filter(product=product, batch_id=batch_id).defer("body").first()
    if known is not None and known.sha256 != digest:
        raise Conflict("batch_id_reused", "This Batch-Id came before with other content.")
    return known


def _refuse_when_full(product: Product, size: int) -> None:
    """TooMany when the batch would bring what waits over a bound.

    Deliveries at the same moment don't see each other, so that a bound may be passed by as many.
    """
    bounds: InboxBounds = settings.INBOX
    waiting = Batch.objects.filter(status=BatchStatus.RECEIVED)
    own = _waiting(waiting.filter(product=product))
    if own.is_over(bounds.product_batches, bounds.product_bytes, size):
        raise _full(f"{own} of {product.slug} wait to be counted")
    every = _waiting(waiting)
    if every.is_over(bounds.all_batches, bounds.all_bytes, size):
        raise _full(f"{every} of all products wait to be counted")


@dataclass(frozen=True)
class Waiting:
    """What is stored and not yet counted."""

    batches: int
    size: int

    def is_over(self, batches: int, size: int, more: int) -> bool:
        """Whether a batch of `more` bytes passes a bound; an empty inbox takes any one."""
        return self.batches >= batches or 0 < self.size > size - more

    def __str__(self) -> str:
        return f"{self.batches} batches with {self.size} bytes"


def _waiting(batches: QuerySet[Batch]) -> Waiting:
    found = batches.aggregate(batches=Count("pk"), size=Sum("size"))
    return Waiting(found["batches"], int(found["size"] or 0))


def _full(what: str) -> TooMany:
    return TooMany(
        "inbox_full",
        f"{what}; send this one again after the seconds of Retry-After.",
        headers=retry_after(3, 10),
    )


def source_for(product: Product, key: SourceKey) -> Source:
    """The source of that name, made on first sight, and seen now. A declared anchor is kept."""
    source, _ = Source.objects.get_or_create(
        product=product, kind=key.kind, name=key.name, server_run=key.server_run
    )
    seen: dict[str, object] = {"last_seen_at": timezone.now()}
    if key.engine_kind:
        seen["engine_kind"] = key.engine_kind
    if key.anchor_monotonic_ns is not None and key.anchor_unix_ns is not None:
        seen["anchor_monotonic_ns"] = key.anchor_monotonic_ns
        seen["anchor_unix_ns"] = key.anchor_unix_ns
    Source.objects.filter(pk=source.pk).update(**seen)
    source.refresh_from_db()
    return source


def _enqueue(batch_pk: int) -> None:
    try:
        tasks.process_batch.delay(batch_pk)
    except Exception:
        # The batch is stored and the sender must hear so: the sweep finds it within seconds.
        logger.exception("batch %s is stored but its task could not be sent", batch_pk)

"""The inbox: a batch is stored whole, and only then acknowledged."""

import logging
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from ingest import tasks
from ingest.models import Batch, Source
from ingest.services.storing import (
    STORE,
    BatchMeta,
    Delivery,
    SourceKey,
    again,
    created,
    parameters,
)
from policies.models import Product

logger = logging.getLogger(__name__)

RING_EXPIRES_S = 10.0


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
    place = product.pk, product.slug
    delivery = Delivery(
        *place, source_key, batch_id, kind, body, content_type, encoding, meta or BatchMeta()
    )
    values = parameters(delivery)
    row = _stored(values)
    if again(row):
        row = _stored(values)
    new = created(row, delivery, values["sha256"])
    if new:
        transaction.on_commit(ring)
    return Batch.objects.defer("body").select_related("source").get(pk=row["id"]), new


def _stored(values: dict[str, Any]) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(STORE, values)
        names = [column.name for column in cursor.description]
        return dict(zip(names, cursor.fetchone(), strict=True))


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


def ring() -> None:
    """Tell the workers that something waits. One that can't be told finds it within seconds."""
    try:
        # A message that nobody took in this time is one of many, or the sweep's turn comes first.
        tasks.drain.apply_async(expires=RING_EXPIRES_S)
    except Exception:
        # The batch is stored and the sender must hear so: the sweep rings again.
        logger.exception("a batch is stored but the workers could not be told")

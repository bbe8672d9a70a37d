"""Attempts that were derived anew, over what the spans known before had made."""

from collections.abc import Sequence
from datetime import datetime

from ingest.models import EngineAttempt, Source
from ingest.services.attempts import Facts, add, rewrite

#: What an attempt says of which nobody told, by column.
_UNTOLD = {
    str(field.column): getattr(EngineAttempt(), field.attname)
    for field in EngineAttempt._meta.concrete_fields
    if not field.primary_key
}


def replace(source: Source, attempts: Sequence[Facts], now: datetime) -> None:
    """Store attempts; one that is known takes on these facts and keeps when it was first seen.

    Whoever calls is the only one to write this source's attempts.
    """
    named = {"product_id": source.product_id, "source_id": source.pk, "received_at": now}
    rows = [_UNTOLD | attempt | named for attempt in attempts]
    stored = EngineAttempt.objects.filter(source=source, key__in=[row["key"] for row in rows])
    known = dict(stored.values_list("key", "pk"))
    add([row for row in rows if row["key"] not in known])
    rewrite([row | {"id": known[row["key"]]} for row in rows if row["key"] in known])

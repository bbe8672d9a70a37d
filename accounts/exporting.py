"""The audit trail as a file: JSON lines that verify by themselves, or a table for a spreadsheet.

Read by the page in the order of the chain, so that neither side ever holds the whole of it.
"""

import csv
import io
import json
from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet

from accounts.guard import Actor, Permission, products_with
from accounts.models import AuditEvent, AuditSeal
from accounts.roles import EVERY_PRODUCT
from accounts.sealing import newest_head, sealed
from accounts.searching import AuditFilter, audit_events
from orchid.engine.wire.trail import Link
from orchid.engine.wire.trail_export import Closing, Opening, encode_line

PAGE = 500
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
COLUMNS = (
    *("seq", "id", "at", "actor_kind", "actor", "action", "product", "object_type", "object_id"),
    *("before", "after", "reason", "request_id", "data", "previous", "hash"),
)
#: What a spreadsheet would take for a formula is text here.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def exported(viewer: Actor, wanted: AuditFilter, form: str, now: datetime) -> Iterator[bytes]:
    """The sealed events that the filter asks for, up to the head that is signed now."""
    head = newest_head()
    rows = audit_events(viewer, wanted).filter(seal__seq__lte=head.seq if head else 0)
    links = _links(rows)
    if form == "csv":
        return _table(links)
    whole = not wanted.asked and EVERY_PRODUCT in products_with(viewer, Permission.AUDIT)
    return _lines(links, Opening(now, wanted.asked, whole), head.token if head else None)


def _links(rows: QuerySet[AuditEvent]) -> Iterator[Link]:
    """Each event with its place in the chain; every page is a query of its own."""
    last = 0
    while True:
        ids = rows.filter(seal__seq__gt=last).order_by("seal__seq").values("pk")[:PAGE]
        seals = AuditSeal.objects.filter(event__in=ids).select_related("event").order_by("seq")
        page = [sealed(row) for row in seals]
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1].seq


def _lines(links: Iterator[Link], opening: Opening, head: str | None) -> Iterator[bytes]:
    yield encode_line(opening) + b"\n"
    events = 0
    for found in links:
        events += 1
        yield encode_line(found) + b"\n"
    yield encode_line(Closing(events, head)) + b"\n"


def _table(links: Iterator[Link]) -> Iterator[bytes]:
    yield _row(COLUMNS)
    for found in links:
        yield _row(tuple(map(_cell, _values(found))))


def _values(found: Link) -> tuple[object, ...]:
    event = found.event
    names = ("id", "at", "actor_kind", "actor", "action", "product")
    data = json.dumps(event["data"], ensure_ascii=False, sort_keys=True)
    return (
        found.seq,
        *(event[name] for name in names),
        *event["object"],
        *(event[name] for name in ("before", "after", "reason", "request_id")),
        data,
        found.previous,
        found.hash,
    )


def _cell(value: object) -> object:
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else value


def _row(values: tuple[object, ...]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(values)
    return out.getvalue().encode()

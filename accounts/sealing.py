"""The hash chain over the audit trail: written by one sealer, checked by anyone."""

import hashlib
from dataclasses import dataclass
from typing import Any

import rfc8785
from django.db import connection, transaction

from accounts.models import AuditEvent, AuditPending, AuditSeal

GENESIS = "0" * 64
# Any constant will do, as long as every sealer asks for the same.
SEALER_LOCK = 0x0_5EA1
BATCH = 500


def content(event: AuditEvent) -> dict[str, Any]:
    """Every column of the event, in the form that is hashed."""
    return {
        "id": event.pk,
        "at": event.at.isoformat(),
        "actor_kind": event.actor_kind,
        "actor": event.actor,
        "action": event.action,
        "product": event.product_slug,
        "object": [event.object_type, event.object_id],
        "before": event.digest_before,
        "after": event.digest_after,
        "reason": event.reason,
        "request_id": event.request_id,
        "data": event.data,
    }


def link(previous: str, event: AuditEvent) -> str:
    """SHA-256 over the previous hash and the event's RFC 8785 form."""
    return hashlib.sha256(previous.encode() + rfc8785.dumps(content(event))).hexdigest()


@transaction.atomic
def seal() -> int:
    """Chain a batch of pending events. Returns 0 at once while another sealer works."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SEALER_LOCK])
        if not cursor.fetchone()[0]:
            return 0
    pending = list(AuditPending.objects.select_related("event").order_by("event_id")[:BATCH])
    head = AuditSeal.objects.order_by("-seq").first()
    seq, previous = (head.seq, head.hash) if head else (0, GENESIS)
    seals = []
    for waiting in pending:
        seq, digest = seq + 1, link(previous, waiting.event)
        seals.append(AuditSeal(seq=seq, event=waiting.event, previous=previous, hash=digest))
        previous = digest
    AuditSeal.objects.bulk_create(seals)
    AuditPending.objects.filter(pk__in=[waiting.pk for waiting in pending]).delete()
    return len(seals)


@dataclass(frozen=True)
class Verification:
    """What a walk over the chain found; `fault` is empty when all is well."""

    sealed: int
    pending: int
    head: str
    fault: str = ""

    @property
    def intact(self) -> bool:
        return not self.fault


def verify() -> Verification:
    """Walk the whole chain from its first link; O(events)."""
    expected, previous = 1, GENESIS
    for seal_row in AuditSeal.objects.select_related("event").order_by("seq").iterator(2000):
        fault = _fault(seal_row, expected, previous)
        if fault:
            return Verification(expected - 1, _pending(), previous, fault)
        expected, previous = expected + 1, seal_row.hash
    orphans = AuditEvent.objects.filter(seal__isnull=True, auditpending__isnull=True).first()
    fault = f"event {orphans.pk} was never sealed and isn't waiting" if orphans else ""
    return Verification(expected - 1, _pending(), previous, fault)


def _fault(seal_row: AuditSeal, expected: int, previous: str) -> str:
    if seal_row.seq != expected:
        return f"link {expected} is missing"
    if seal_row.previous != previous:
        return f"link {expected} does not follow the one before it"
    if seal_row.hash != link(previous, seal_row.event):
        return f"event {seal_row.event_id} differs from what link {expected} sealed"
    return ""


def _pending() -> int:
    return AuditPending.objects.count()

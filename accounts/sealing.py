"""The hash chain over the audit trail: written and signed by one sealer, checked by anyone."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.keys import Purpose, keys_of, known_keys
from accounts.models import AuditEvent, AuditHead, AuditPending, AuditSeal
from orchid.engine.wire.signed import SignatureRefused
from orchid.engine.wire.trail import GENESIS, Head, Link, Walk, link, read_head, sign_head

logger = logging.getLogger(__name__)

# Any constant will do, as long as every sealer asks for the same.
SEALER_LOCK = 0x0_5EA1
BATCH = 500
LOST = (
    "The audit trail doesn't lead on from link %s as it was signed: it was cut off or made anew, "
    "or an older backup was put back. Verifying says so until %s is removed."
)


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


def sealed(seal_row: AuditSeal) -> Link:
    """A link of the chain with its event, as it is exported and verified."""
    return Link(seal_row.seq, seal_row.previous, seal_row.hash, content(seal_row.event))


@transaction.atomic
def seal(now: datetime | None = None) -> int:
    """Chain a batch of pending events and sign the head. Returns 0 while another sealer works."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SEALER_LOCK])
        if not cursor.fetchone()[0]:
            return 0
    pending = list(AuditPending.objects.select_related("event").order_by("event_id")[:BATCH])
    newest = AuditSeal.objects.order_by("-seq").first()
    seq, previous = (newest.seq, newest.hash) if newest else (0, GENESIS)
    seals = []
    for waiting in pending:
        seq, digest = seq + 1, link(previous, content(waiting.event))
        seals.append(AuditSeal(seq=seq, event=waiting.event, previous=previous, hash=digest))
        previous = digest
    AuditSeal.objects.bulk_create(seals)
    AuditPending.objects.filter(pk__in=[waiting.pk for waiting in pending]).delete()
    if seq and not AuditHead.objects.filter(seq=seq).exists():
        _sign(seq, previous, now or timezone.now())
    return len(seals)


def _sign(seq: int, digest: str, now: datetime) -> None:
    """Sign the newest link, and leave the signature outside the database as well."""
    key = keys_of(Purpose.AUDIT)[0]
    token = sign_head(seq, digest, now, key.pem, key.kid)
    AuditHead.objects.create(seq=seq, hash=digest, kid=key.kid, token=token, signed_at=now)
    transaction.on_commit(lambda: _anchor(seq, digest, token), robust=True)


def newest_head() -> AuditHead | None:
    """The last signature over the chain."""
    return AuditHead.objects.order_by("-seq").first()


@dataclass(frozen=True)
class Verification:
    """What a walk over the chain found; `fault` is empty when all is well."""

    sealed: int
    pending: int
    head: str
    signed: int = 0
    signed_head: str = ""
    fault: str = ""

    @property
    def intact(self) -> bool:
        return not self.fault


def verify() -> Verification:
    """Walk the whole chain from its first link to the signed head; O(events).

    The anchored head is read first: what a sealer adds after that only leads beyond it.
    """
    anchored = _anchored()
    with _one_moment():
        return _walked(anchored)


@contextmanager
def _one_moment() -> Iterator[None]:
    """Every read sees the trail as of one moment; a transaction that is open stays as it is."""
    is_open = connection.in_atomic_block
    with transaction.atomic():
        if not is_open:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _walked(anchored: dict[int, str]) -> Verification:
    newest = newest_head()
    found, vouched = _vouched(newest)
    walk = Walk(heads={**dict(AuditHead.objects.values_list("seq", "hash")), **anchored})
    for row in AuditSeal.objects.select_related("event").order_by("seq").iterator(2000):
        if not walk.step(sealed(row)):
            break
    return Verification(
        walk.seq,
        AuditPending.objects.count(),
        walk.hash,
        vouched.seq if vouched else 0,
        newest.token if newest else "",
        walk.fault or found or _unsealed() or _uncovered(walk, vouched),
    )


def _vouched(newest: AuditHead | None) -> tuple[str, Head | None]:
    """A fault, or what the newest head says once its signature is verified."""
    if newest is None:
        return "", None
    try:
        head = read_head(newest.token, known_keys(Purpose.AUDIT))
    except SignatureRefused as refused:
        return f"the head of link {newest.seq} is not signed by us: {refused.message}", None
    if (head.seq, head.hash) != (newest.seq, newest.hash):
        return f"the head of link {newest.seq} differs from what was signed", None
    return "", head


def _unsealed() -> str:
    orphan = AuditEvent.objects.filter(seal__isnull=True, auditpending__isnull=True).first()
    return f"event {orphan.pk} was never sealed and isn't waiting" if orphan else ""


def _uncovered(walk: Walk, vouched: Head | None) -> str:
    """Links beyond the newest head, or a head beyond the links."""
    ends = vouched.seq if vouched else 0
    if walk.seq > ends:
        return f"the links after {ends} are covered by no signed head"
    furthest = max([ends, *walk.heads])
    if furthest > walk.seq:
        return f"a head was signed for link {furthest}, and the chain ends at link {walk.seq}"
    return ""


def _anchor_file() -> Path:
    return Path(settings.KEYS_DIR) / "audit-head"


def _anchor(seq: int, digest: str, token: str) -> None:
    """Who can write every table can't write here, so a trail that is cut off or made anew shows.

    And goes on showing: only a chain that leads on from the anchored link moves it.
    """
    path = _anchor_file()
    for held in _anchored().items():
        if held[0] > seq and _holds(*held):  # a sealer that came later was here first
            return
        if not _leads(held, (seq, digest)):
            logger.error(LOST, held[0], path)
            return
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(token)
    os.replace(fresh, path)


def _holds(seq: int, digest: str) -> bool:
    return AuditSeal.objects.filter(seq=seq, hash=digest).exists()


def _leads(start: tuple[int, str], end: tuple[int, str]) -> bool:
    """By its hashes: a link that was put back for this look only leads nowhere."""
    walk = Walk(*start)
    rows = AuditSeal.objects.filter(seq__gt=start[0], seq__lte=end[0]).select_related("event")
    for row in rows.order_by("seq").iterator(2000):
        if not walk.step(sealed(row)):
            return False
    return (walk.seq, walk.hash) == end


def _anchored() -> dict[int, str]:
    """The link of the head that lies beside the keys, by its sequence."""
    try:
        head = read_head(_anchor_file().read_text(), known_keys(Purpose.AUDIT))
    except (FileNotFoundError, SignatureRefused):
        return {}
    return {head.seq: head.hash}

"""Write the audit trail."""

from typing import Any

from django.db import transaction

from accounts.guard import Actor
from accounts.models import AuditEvent, AuditPending
from controlplane.web import request_id


def record(
    actor: Actor,
    action: str,
    *,
    product: str = "",
    obj: tuple[str, Any] = ("", ""),
    before: str = "",
    after: str = "",
    reason: str = "",
    data: dict[str, Any] | None = None,
) -> AuditEvent:
    """Write one audit event in the caller's transaction, which must be open."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an audit event is written in the transaction of the act")
    event = AuditEvent.objects.create(
        actor_kind=actor.kind,
        actor=actor.name,
        action=action,
        product_slug=product,
        object_type=obj[0],
        object_id=str(obj[1]),
        digest_before=before,
        digest_after=after,
        reason=reason,
        request_id=request_id.get(),
        data=data or {},
    )
    AuditPending.objects.create(event=event)
    return event


def seal_audit() -> int:
    """Chain every committed event that isn't chained yet; returns how many."""
    from accounts import sealing

    return sealing.seal()

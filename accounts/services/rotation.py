"""A new token or certificate for a machine that goes on, while the old one still counts."""

from datetime import datetime, timedelta

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from accounts.certificates import is_certificate
from accounts.guard import Actor, Permission, require
from accounts.models import Credential
from accounts.services.audit import record
from accounts.services.credentials import (
    issue_credential,
    revoke_credential,
    store_certificate,
)
from controlplane.errors import BadInput, Conflict, NotFound

LONGEST_OVERLAP = timedelta(days=30)
#: `older` was replaced by `newer`, in the transaction of it: what stands on the one goes over.
rotated = Signal()


@transaction.atomic
def rotate_credential(
    actor: Actor,
    credential_id: int,
    product_slug: str,
    overlap: timedelta,
    reason: str,
    certificate: str = "",
) -> tuple[Credential, str]:
    """A newer credential of the same kind, name and owner, and its token, shown this once.

    With the next certificate it is known by that, and there is no token; what is known by a
    certificate now isn't made to need a token unasked.
    The older one ends after the overlap, or when it would have ended anyway. At most two count: an
    even older one of that name is revoked at once.
    """
    require(actor, Permission.ADMINISTER, product_slug)
    older = _rotatable(credential_id, product_slug)
    if not certificate and is_certificate(older.token_hash):
        said = f"{older.name} is known by a certificate: give the one that comes next."
        raise BadInput("certificate_missing", said)
    _end_superseded(actor, older, reason)
    now = timezone.now()
    ends_at = now + min(max(overlap, timedelta(0)), LONGEST_OVERLAP)
    lifetime = older.expires_at - older.created_at if older.expires_at else None
    older.superseded_at = now
    older.expires_at = min(older.expires_at or ends_at, ends_at)
    older.save(update_fields=["superseded_at", "expires_at"])
    newer, token = _newer(actor, older, now + lifetime if lifetime else None, certificate)
    rotated.send(Credential, older=older, newer=newer)
    record(
        actor,
        "credential.rotated",
        product=product_slug,
        obj=("credential", newer.pk),
        reason=reason,
        data={"name": older.name, "older": older.pk, "ends_at": older.expires_at.isoformat()},
    )
    return newer, token


def _newer(
    actor: Actor, older: Credential, expires_at: datetime | None, certificate: str
) -> tuple[Credential, str]:
    same = {"kind": older.kind, "name": older.name, "product_slug": older.product_slug}
    if certificate:
        return store_certificate(actor, certificate, owner=older.owner, **same), ""
    return issue_credential(
        actor, owner=older.owner, expires_at=expires_at, scopes=older.scopes, **same
    )


def _rotatable(credential_id: int, product_slug: str) -> Credential:
    rows = Credential.objects.select_for_update(of=("self",)).select_related("owner")
    found = rows.filter(pk=credential_id, product_slug=product_slug).first()
    if found is None:
        raise NotFound("not_found", f"{product_slug} has no such credential.")
    if found.revoked_at or found.superseded_at:
        raise Conflict("credential_over", f"{found.name} has a newer credential, or none at all.")
    return found


def _end_superseded(actor: Actor, of: Credential, reason: str) -> None:
    same = Credential.objects.filter(
        product_slug=of.product_slug, kind=of.kind, name=of.name, revoked_at=None
    )
    for pk in same.exclude(superseded_at=None).values_list("pk", flat=True):
        revoke_credential(actor, pk, reason, of.product_slug)

"""Reads of the room: the audit trail as an actor may see it, and who has access to a product."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.guard import Actor, Permission, products_with
from accounts.models import AuditEvent, Credential, Grant, Invitation
from accounts.roles import EVERY_PRODUCT


@dataclass(frozen=True)
class AuditFilter:
    """Empty fields ask nothing."""

    product: str = ""
    actor: str = ""
    action: str = ""
    text: str = ""


def audit_events(viewer: Actor, wanted: AuditFilter) -> QuerySet[AuditEvent]:
    """Events of the products whose trail the viewer may read; those of none need it for all."""
    events = AuditEvent.objects.select_related("seal")
    slugs = products_with(viewer, Permission.AUDIT)
    if EVERY_PRODUCT not in slugs:
        events = events.filter(product_slug__in=slugs)
    exact = {"product_slug": wanted.product, "actor": wanted.actor}
    events = events.filter(**{field: value for field, value in exact.items() if value})
    if wanted.action:
        events = events.filter(action__startswith=wanted.action)
    return events.filter(_mentions(wanted.text)) if wanted.text else events


def _mentions(text: str) -> Q:
    """An object's number, or the beginning of a digest or of a request id."""
    digest = text if text.startswith("sha256:") else f"sha256:{text}"
    return (
        Q(object_id=text)
        | Q(digest_before__startswith=digest)
        | Q(digest_after__startswith=digest)
        | Q(request_id__startswith=text)
        | Q(reason__icontains=text)
    )


def grants_in(product_slug: str) -> QuerySet[Grant]:
    """Who has a role here, those with a role everywhere included."""
    return (
        Grant.objects.filter(product_slug__in=[product_slug, EVERY_PRODUCT], user__is_active=True)
        .select_related("user")
        .order_by("role", "user__username")
    )


def credentials_of(product_slug: str) -> QuerySet[Credential]:
    """Live ones first; a revoked one stays to be seen."""
    return (
        Credential.objects.filter(product_slug=product_slug)
        .select_related("owner")
        .order_by("-revoked_at", "kind", "name")
    )


def open_invitations(product_slug: str) -> QuerySet[Invitation]:
    return Invitation.objects.filter(
        product_slug=product_slug, accepted_at__isnull=True, expires_at__gt=timezone.now()
    ).order_by("-created_at")

"""Reads of the room: who and what has access to a product."""

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Credential, Grant, Invitation, User
from accounts.roles import EVERY_PRODUCT
from controlplane.errors import NotFound


def person_named(name: str) -> User:
    """Whoever has or had an account of that name. Raises NotFound."""
    person = User.objects.filter(username=name).first()
    if person is None:
        raise NotFound("not_found", "Nobody has an account of that name.")
    return person


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
    """Those that somebody could take up now."""
    rows = Invitation.objects.filter(accepted_at=None, withdrawn_at=None)
    return rows.filter(product_slug=product_slug, expires_at__gt=timezone.now()).order_by(
        "-created_at"
    )

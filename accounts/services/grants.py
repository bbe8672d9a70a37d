"""Give people their roles, and take them back."""

from django.db import transaction

from accounts.guard import Actor, Permission, require
from accounts.models import Grant, User
from accounts.roles import EVERY_PRODUCT, PEOPLE, Role
from accounts.services.audit import record
from controlplane.errors import BadInput, Conflict, NotFound


@transaction.atomic
def grant(actor: Actor, user: User, role: str, product_slug: str = EVERY_PRODUCT) -> Grant:
    """Give a person a role in a product; giving it again changes nothing."""
    require(actor, Permission.ADMINISTER, product_slug)
    if role not in PEOPLE:
        raise BadInput("unknown_role", f"A person's role is one of {', '.join(PEOPLE)}.")
    found, created = Grant.objects.get_or_create(user=user, role=role, product_slug=product_slug)
    if created:
        record(
            actor,
            "grant.given",
            product=product_slug,
            obj=("user", user.username),
            data={"role": role},
        )
    return found


@transaction.atomic
def revoke_grant(actor: Actor, grant_id: int, product_slug: str, reason: str) -> Grant:
    """Take one role back, as of now. The last person who can give roles stays.

    A role in every product is taken back by somebody who administers every product.
    """
    rows = _locked(product_slug)
    found = next((row for row in rows if row.pk == grant_id), None)
    if found is None:
        raise NotFound("not_found", f"{product_slug} has no such role of a person.")
    require(actor, Permission.ADMINISTER, found.product_slug)
    _refuse_last_owner(found, rows)
    found.delete()
    record(
        actor,
        "grant.taken",
        product=found.product_slug,
        obj=("user", found.user.username),
        reason=reason,
        data={"role": found.role},
    )
    return found


def _locked(product_slug: str) -> list[Grant]:
    """Every role that counts in the product, locked in one order.

    Of two who take each other's role at once, the second waits for the first and is refused.
    """
    rows = Grant.objects.select_for_update(of=("self",)).select_related("user")
    return list(rows.filter(product_slug__in=[product_slug, EVERY_PRODUCT]).order_by("pk"))


def _refuse_last_owner(grant: Grant, rows: list[Grant]) -> None:
    if grant.role != Role.PRODUCT_OWNER:
        return
    slugs = {grant.product_slug, EVERY_PRODUCT}
    owners = (row for row in rows if row.role == grant.role and row.product_slug in slugs)
    if not any(row.user.is_active and row.pk != grant.pk for row in owners):
        raise Conflict("last_owner", "Nobody else could give roles here. Make another owner first.")

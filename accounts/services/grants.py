"""Give people their roles."""

from django.db import transaction

from accounts.guard import Actor, Permission, require
from accounts.models import Grant, User
from accounts.roles import EVERY_PRODUCT, PEOPLE
from accounts.services.audit import record
from controlplane.errors import BadInput


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

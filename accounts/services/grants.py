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
    rows = Grant.objects.select_related("user")
    found = rows.filter(pk=grant_id, product_slug__in=[product_slug, EVERY_PRODUCT]).first()
    if found is None:
        raise NotFound("not_found", f"{product_slug} has no such role of a person.")
    require(actor, Permission.ADMINISTER, found.product_slug)
    refuse_last_owner(found)  # locks owners in one order, so nothing is locked before it
    if not Grant.objects.filter(pk=grant_id).delete()[0]:
        raise NotFound("not_found", "Somebody else has taken it back just now.")
    record(
        actor,
        "grant.taken",
        product=found.product_slug,
        obj=("user", found.user.username),
        reason=reason,
        data={"role": found.role},
    )
    return found


def refuse_last_owner(grant: Grant, leaver: User | None = None) -> None:
    """Raise 409 `last_owner` where nothing else lets anybody give roles where this grant does.

    No grant of a leaver counts, whichever they hold besides. Of two who take each other's role, or
    end each other's account, at once the second waits for the first, and is refused.
    """
    if grant.role != Role.PRODUCT_OWNER:
        return
    slugs = {grant.product_slug, EVERY_PRODUCT}
    # With their people, whom somebody may be ending at this moment.
    owners = (
        Grant.objects.select_for_update(of=("self", "user"))
        .select_related("user")
        .filter(role=Role.PRODUCT_OWNER, product_slug__in=slugs, user__is_active=True)
    )
    left = [row for row in owners.order_by("pk") if row.pk != grant.pk and row.user != leaver]
    if not left:
        where = "every product" if grant.product_slug == EVERY_PRODUCT else grant.product_slug
        said = f"Nobody else could give roles in {where}. Make another owner first."
        raise Conflict("last_owner", said)

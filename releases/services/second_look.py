"""What was done alone in an emergency is looked at by somebody else, or undone by them."""

from datetime import datetime, timedelta

from accounts.guard import Actor
from policies.models import Product
from releases.models import Publication, SecondLook
from releases.states import SecondLookKind

DUE_AFTER = timedelta(hours=24)


def open_second_look(
    actor: Actor,
    product: Product,
    kind: SecondLookKind,
    publication: Publication,
    reason: str,
    now: datetime,
    *,
    asked_of: list[str],
) -> SecondLook:
    """Ask for the look of another person, who holds one of the roles in `asked_of`."""
    return SecondLook.objects.create(
        product=product,
        kind=kind,
        publication=publication,
        asked_of=asked_of,
        actor=actor.name,
        actor_user=actor.user,
        reason=reason,
        opened_at=now,
        due_at=now + DUE_AFTER,
    )

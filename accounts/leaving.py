"""Somebody leaves, or comes back: their account is ended with all that it lets in.

Whoever administers every product may do that, to anybody but themselves. Roles stay written down,
and count for nothing meanwhile.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.models import Credential, Grant, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.selectors import person_named
from accounts.services import record, revoke_credential
from accounts.services.grants import refuse_last_owner
from accounts.session_rules import ended, sessions_of
from controlplane.errors import BadInput, Conflict, Forbidden


@dataclass(frozen=True)
class Account:
    """A person with what they may and what would fall with them."""

    person: User
    grants: list[Grant]
    tokens: list[Credential]


@dataclass(frozen=True)
class Ended:
    """Whose account it was, the tokens that fell with it and how many sessions ended."""

    person: User
    tokens: list[Credential]
    sessions: int


def account(actor: Actor, name: str) -> Account:
    """A person's account, for whoever could end it."""
    require(actor, Permission.ADMINISTER, EVERY_PRODUCT, reading=True)
    person = person_named(name)
    grants = Grant.objects.filter(user=person).order_by("product_slug", "role")
    return Account(person, list(grants), live_tokens(person))


def live_tokens(person: User) -> list[Credential]:
    """What machines show that this person answers for, as long as it counts."""
    rows = Credential.objects.filter(owner=person, revoked_at=None)
    rows = rows.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    return list(rows.order_by("product_slug", "kind", "name", "pk"))


@transaction.atomic
def end_account(actor: Actor, name: str, reason: str, *, tokens_fall: bool = False) -> Ended:
    """Let somebody in no longer: sessions end, and their tokens are revoked.

    409 `tokens_fall` names the tokens, until it is said that they may fall: what a pipeline or an
    edge shows is given another owner first. 409 `last_owner` where nobody else could give roles.
    Ended twice is ended.
    """
    person = _other(actor, name)
    _need(reason)
    if not person.is_active:
        return Ended(person, [], 0)
    # Owners are locked in one order before the person: of two who end each other, one is refused.
    for held in Grant.objects.filter(user=person, role=Role.PRODUCT_OWNER).order_by("pk"):
        refuse_last_owner(held, person)
    person = User.objects.select_for_update().get(pk=person.pk)
    falling = live_tokens(person)
    if falling and not tokens_fall:
        raise Conflict("tokens_fall", _would_fall(person, falling), tokens=told(falling))
    person.is_active = False
    person.save(update_fields=["is_active"])
    for token in falling:
        revoke_credential(actor, token.pk, f"{person.username}: {reason}", token.product_slug)
    sessions = ended(sessions_of(person))
    data = {"tokens": told(falling), "sessions_ended": sessions}
    record(actor, "account.ended", obj=("user", person.username), reason=reason, data=data)
    return Ended(person, falling, sessions)


@transaction.atomic
def restore_account(actor: Actor, name: str, reason: str) -> Account:
    """Let somebody in again, with the roles that they had; tokens that fell stay revoked."""
    person = User.objects.select_for_update().get(pk=_other(actor, name).pk)
    _need(reason)
    if not person.is_active:
        person.is_active = True
        person.save(update_fields=["is_active"])
        record(actor, "account.restored", obj=("user", person.username), reason=reason)
    return account(actor, name)


def told(tokens: Iterable[Credential]) -> list[dict[str, str]]:
    """Tokens by name, as machines and the trail are told of them."""
    return [
        {"product": one.product_slug, "kind": one.kind, "name": one.name, "prefix": one.prefix}
        for one in tokens
    ]


def _other(actor: Actor, name: str) -> User:
    require(actor, Permission.ADMINISTER, EVERY_PRODUCT)
    person = person_named(name)
    if person == actor.user:
        raise Forbidden("own_account", "Nobody ends or restores their own account: ask another.")
    return person


def _need(reason: str) -> None:
    if not reason.strip():
        raise BadInput("reason_missing", "Say why; it stays in the trail.")


def _would_fall(person: User, tokens: list[Credential]) -> str:
    named = ", ".join(f"{one.kind} {one.name} of {one.product_slug}" for one in tokens)
    return (
        f"{person.name} answers for {named}. Issue these to somebody else first, or say that they "
        "fall: whatever shows them stops at once."
    )

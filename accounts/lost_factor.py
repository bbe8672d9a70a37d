"""Somebody lost their second factor: another person takes it away, and both are told apart.

Whoever administers every product may do that, for what somebody can reach with a password alone is
no matter of one product. Nobody does it for themselves: that would be signing in without a factor.
"""

from dataclasses import dataclass

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.guard import Actor, Permission, require
from accounts.mails import mailed
from accounts.models import User
from accounts.roles import EVERY_PRODUCT
from accounts.selectors import person_named
from accounts.services import record
from accounts.session_rules import ended, sessions_of
from controlplane.errors import BadInput, Conflict, Forbidden

KINDS = {"totp": "authenticator app", "webauthn": "security key", "recovery_codes": "codes"}


@dataclass(frozen=True)
class Reset:
    """What was taken away, how many sessions ended, and whether a server took the mail of it."""

    person: User
    removed: list[str]
    sessions_ended: int
    mailed: bool


def whose_factors(actor: Actor, name: str) -> tuple[User, list[Authenticator]]:
    """Somebody else's factors, for whoever may take them away."""
    require(actor, Permission.ADMINISTER, EVERY_PRODUCT)
    person = person_named(name)
    if actor.user == person:
        said = "Your own factors are on the page of your account. If you lost them, ask another."
        raise Forbidden("own_factor", said)
    return person, _factors(person)


def reset_factors(actor: Actor, name: str, reason: str) -> Reset:
    """Take away every factor and code of a person and end their sessions; they are told by mail.

    Their password signs them in, and where their role needs a factor they set one up before
    anything else. 409 `no_factor` where there is none.
    """
    with transaction.atomic():
        person, removed, count = _reset(actor, name, reason.strip())
    said = {"person": person, "by": actor.name, "reason": reason.strip()}
    subject, template = "Orchid: your second factor was reset", "accounts/factor_reset_email.txt"
    return Reset(person, removed, count, mailed(person.email, subject, template, said))


def _factors(person: User) -> list[Authenticator]:
    return list(Authenticator.objects.filter(user=person).order_by("created_at"))


def _reset(actor: Actor, name: str, reason: str) -> tuple[User, list[str], int]:
    person, _ = whose_factors(actor, name)
    User.objects.select_for_update().get(pk=person.pk)  # of two at once, one finds none left
    factors = _factors(person)
    if not reason:
        raise BadInput("reason_missing", "Say how you know that it is them; it stays in the trail.")
    if not factors:
        raise Conflict("no_factor", f"{person.name} has no second factor.")
    removed = [str(factor.type) for factor in factors]
    Authenticator.objects.filter(pk__in=[factor.pk for factor in factors]).delete()
    count = ended(sessions_of(person))
    data = {"removed": removed, "sessions_ended": count}
    record(actor, "factor.reset", obj=("user", person.username), reason=reason, data=data)
    return person, removed, count

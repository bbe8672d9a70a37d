"""The cast: ana writes, ben and cho own, dee is on call, eve audits, and sam is nobody here."""

from dataclasses import dataclass

from django.test import Client

from accounts.guard import Actor, person
from accounts.models import Grant, User
from accounts.roles import EVERY_PRODUCT, Role

PASSWORD = "correct-horse-battery"


@dataclass(frozen=True)
class Cast:
    ana: User
    ben: User
    cho: User
    dee: User
    eve: User
    sam: User

    def actor(self, name: str) -> Actor:
        return person(getattr(self, name))

    def browser(self, name: str) -> Client:
        client = Client()
        client.force_login(getattr(self, name))
        return client


def cast_in(slug: str = EVERY_PRODUCT) -> Cast:
    """Everybody with their role in one product, or in all; sam has none."""
    roles = {
        "ana": Role.ENGINEER,
        "ben": Role.PRODUCT_OWNER,
        "cho": Role.PRODUCT_OWNER,
        "dee": Role.SRE,
        "eve": Role.AUDITOR,
        "sam": None,
    }
    return Cast(**{name: _somebody(name, role, slug) for name, role in roles.items()})


def _somebody(name: str, role: Role | None, slug: str) -> User:
    user = User.objects.create_user(
        name, f"{name}@example.org", PASSWORD, display_name=name.title()
    )
    if role:
        Grant.objects.create(user=user, role=role, product_slug=slug)
    return user

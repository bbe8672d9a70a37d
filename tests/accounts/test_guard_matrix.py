"""Every role against every permission, in its own product and in another."""

import pytest

from accounts.guard import SYSTEM_ACTOR, Permission, machine, may, person
from accounts.models import Credential, Grant, User
from accounts.roles import MACHINES, PEOPLE, Role
from tests.people import Cast

OWN, OTHER = "orchid-demo", "orchid-serve"
# Written out by hand, apart from the table it checks.
ALLOWED = {
    "product_owner": "view propose approve publish rollback override audit administer",
    "engineer": "view propose evidence_push ingest",
    "sre": "view propose approve publish rollback emergency override ingest audit",
    "auditor": "view audit",
    "ci": "view propose evidence_push ingest",
    "edge": "edge ingest",
    "otel": "ingest",
    "audit": "view audit",
    "ops": "view rollback",
}
MATRIX = [
    (role, permission, permission.value in ALLOWED[role].split())
    for role in Role.values
    for permission in Permission
]


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "permission", "allowed"), MATRIX)
def test_a_role_allows_what_the_table_says_and_only_in_its_product(
    role: str, permission: Permission, allowed: bool
) -> None:
    user = User.objects.create_user("pat")
    if role in PEOPLE:
        Grant.objects.create(user=user, role=role, product_slug=OWN)
        actor = person(user)
    else:
        actor = machine(Credential(kind=role, name="m", product_slug=OWN, owner=user))
    assert may(actor, permission, OWN) is allowed
    assert not may(actor, permission, OTHER)
    assert not may(actor, permission, "*")


def test_every_role_is_held_either_by_people_or_by_machines() -> None:
    assert set(PEOPLE) | set(MACHINES) == set(Role)
    assert not set(PEOPLE) & set(MACHINES)


@pytest.mark.django_db
def test_a_superuser_without_a_grant_may_nothing() -> None:
    root = User.objects.create_superuser("root")
    assert not any(may(person(root), permission, OWN) for permission in Permission)


def test_somebody_who_left_may_nothing(cast: Cast) -> None:
    cast.ben.is_active = False
    assert not any(may(person(cast.ben), permission, OWN) for permission in Permission)


def test_the_product_itself_never_approves() -> None:
    assert may(SYSTEM_ACTOR, Permission.ROLLBACK, OWN)
    assert not may(SYSTEM_ACTOR, Permission.APPROVE, OWN)


def test_a_machine_is_answered_for_by_its_owner(cast: Cast) -> None:
    ci = machine(Credential(kind="ci", name="build", product_slug=OWN, owner=cast.ana))
    assert ci.owner == cast.ana
    assert ci.name == "ci:build"

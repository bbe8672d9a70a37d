"""The first person of an empty product comes in by a link; after them, only by invitation."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.guard import Permission, may, person
from accounts.models import AuditEvent, User

pytestmark = pytest.mark.django_db


def link_for(name: str) -> str:
    out = StringIO()
    call_command("first_owner", name, f"{name}@example.org", stdout=out)
    return out.getvalue().split("//")[1].partition("/")[2].strip()


def test_the_first_owner_chooses_a_password_by_the_link_and_administers(client: Client) -> None:
    page = client.get(f"/{link_for('ola')}", follow=True)
    address = page.redirect_chain[-1][0]
    chosen = {"new_password1": "a-long-enough-secret", "new_password2": "a-long-enough-secret"}
    client.post(address, chosen)
    assert client.login(username="ola", password="a-long-enough-secret")
    ola = User.objects.get(username="ola")
    assert may(person(ola), Permission.ADMINISTER, "any-product")
    assert AuditEvent.objects.filter(action="grant.given", object_id="ola").exists()


def test_the_link_can_be_asked_for_again_until_it_is_used() -> None:
    assert link_for("ola")
    assert link_for("ola")
    assert User.objects.filter(username="ola").count() == 1


def test_a_second_owner_needs_an_invitation() -> None:
    link_for("ola")
    with pytest.raises(CommandError, match="Ask them for an invitation"):
        link_for("pia")
    assert not User.objects.filter(username="pia").exists()


def test_a_person_with_a_password_is_not_given_a_link() -> None:
    User.objects.create_user("ola", "ola@example.org", "a-long-enough-secret")
    with pytest.raises(CommandError, match="has a password already"):
        link_for("ola")

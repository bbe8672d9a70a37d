"""A number of another product's thing leads nowhere, by whichever address; and nothing happens."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.invitations import invite
from accounts.models import AuditEvent, User
from accounts.roles import Role
from accounts.services import grant
from policies.models import Product
from policies.services import create_product
from tests.accounts.routes import is_page
from tests.releases.hostile.doors import TAKES_GET, TAKES_POST, Place, undone
from tests.releases.hostile.place import who_may_all
from tests.releases.releases_cast import actor
from tests.small_policy import small_document

OTHER = "orchid-small"
#: What has a number in its address. Those under `account/` are of oneself.
KNOWN = sorted({*TAKES_GET, *TAKES_POST})
NUMBERED = [route for route in KNOWN if "<int:" in route and not route.startswith("account/")]


@pytest.fixture
def stranger(place: Place, product: Product) -> Place:
    """Who may all, in another product alone, and knows every number of this one."""
    create_product(SYSTEM_ACTOR, OTHER, "Other", document=small_document())
    ben, slug = actor("ben"), product.slug
    asked, _ = invite(ben, email="new@example.org", role="sre", product_slug=slug)
    given = grant(SYSTEM_ACTOR, User.objects.get(username="ana"), Role.AUDITOR, slug)
    sound = {**place.sound, "grant": given.pk, "invitation": asked.pk}
    return Place(who_may_all("elsewhere", OTHER), place.numbers, sound)


def answered(stranger: Place, route: str, slug: str) -> Any:
    """The answer to the route's own method."""
    path, client = stranger.path(route, slug), stranger.client
    if route in TAKES_POST and is_page(route):
        return client.post(path, stranger.sound)
    if route in TAKES_POST:
        return client.post(path, stranger.sound, "application/json")
    return client.get(path)


@pytest.mark.parametrize("slug", ["orchid-demo", OTHER])
def test_a_number_of_another_product_leads_nowhere(stranger: Place, slug: str) -> None:
    acts, found = AuditEvent.objects.count(), []
    for route in NUMBERED:
        with undone():
            status = answered(stranger, route, slug).status_code
            if status not in (403, 404) or AuditEvent.objects.count() != acts:
                found.append((route, status))
    assert found == []


NOBODYS = 2_000_000_000
#: What names a row in a body, and the list of moves that do.
IDS = ("proposal", "credential", "grant", "invitation", "evaluation", "session")


@pytest.mark.parametrize("slug", ["orchid-demo", OTHER])
def test_a_number_of_another_product_is_told_as_one_that_nobody_has(
    stranger: Place, slug: str
) -> None:
    """Whether it is in the address or in the body."""
    nobodys = replace(stranger, numbers=dict.fromkeys(stranger.numbers, NOBODYS))
    nobodys.sound = {**stranger.sound, **dict.fromkeys(IDS, NOBODYS)}
    nobodys.sound["moves"] = [{**one, "proposal": NOBODYS} for one in stranger.sound["moves"]]
    differing = {}
    for route in sorted(set(NUMBERED) | set(TAKES_POST)):
        if not route.startswith("account/"):
            there, absent = told(stranger, route, slug), told(nobodys, route, slug)
            if there != absent:
                differing[route] = (there, absent)
    assert differing == {}


def told(who: Place, route: str, slug: str) -> tuple[int, str]:
    """The status and the words of an answer, without the numbers that were asked for."""
    with undone():
        answer = answered(who, route, slug)
        words = ""
        if not is_page(route) and (answer.status_code >= 400 or route.endswith("bulk")):
            words = json.dumps(answer.json())
        elif answer.context and (problem := answer.context.get("problem")):
            words = f"{problem.code} {problem.detail}"
    return answer.status_code, re.sub(r"\d+", "N", words)

"""A number of another product's thing leads nowhere, by whichever address; and nothing happens."""

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent
from policies.models import Product
from policies.services import create_product
from tests.accounts.routes import TABLE, is_page
from tests.releases.hostile.doors import TAKES_GET, TAKES_POST, Place, undone
from tests.releases.hostile.place import who_may_all
from tests.small_policy import small_document

OTHER = "orchid-small"
#: What has a number in its address. Those under `account/` are of oneself.
NUMBERED = [route for route in TABLE if "<int:" in route and not route.startswith("account/")]


@pytest.fixture
def stranger(place: Place, product: Product) -> Place:
    """Who may all, in another product alone, and knows every number of this one."""
    create_product(SYSTEM_ACTOR, OTHER, "Other", document=small_document())
    return Place(who_may_all("elsewhere", OTHER), place.numbers, place.sound)


def asked(stranger: Place, route: str, slug: str) -> int:
    """The status of the route's own method; 404 for a route of other rooms."""
    path, client = stranger.path(route, slug), stranger.client
    if route in TAKES_POST and is_page(route):
        return client.post(path, stranger.sound).status_code
    if route in TAKES_POST:
        return client.post(path, stranger.sound, "application/json").status_code
    return client.get(path).status_code if route in TAKES_GET else 404


@pytest.mark.parametrize("slug", ["orchid-demo", OTHER])
def test_a_number_of_another_product_leads_nowhere(stranger: Place, slug: str) -> None:
    acts, found = AuditEvent.objects.count(), []
    for route in NUMBERED:
        with undone():
            status = asked(stranger, route, slug)
            if status not in (403, 404) or AuditEvent.objects.count() != acts:
                found.append((route, status))
    assert found == []

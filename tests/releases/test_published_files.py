"""Machines get what is published: the signed bundle, its keys, a product's first publication."""

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from accounts.services import issue_credential
from orchid.engine.wire.bundle import verify
from policies.models import Product
from policies.services import create_product
from releases.models import Publication
from releases.services.issue import latest
from tests.releases.releases_cast import SLUG, document, published

BUNDLE, KEYS = f"/api/v1/products/{SLUG}/bundle", f"/api/v1/products/{SLUG}/keys"


@pytest.fixture
def ci(product: Product) -> Client:
    owner = User.objects.get(username="ana")
    _, token = issue_credential(SYSTEM_ACTOR, kind="ci", name="c", product_slug=SLUG, owner=owner)
    return Client(headers={"Authorization": f"Bearer {token}"})


def person(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def test_the_newest_bundle_verifies_by_the_keys_beside_it(ci: Client, product: Product) -> None:
    row = latest(product)
    assert row is not None
    token, keys = ci.get(BUNDLE).content.decode(), ci.get(KEYS).json()["keys"]
    found = verify(token, keys, product=SLUG, floor_publication=1, now=row.issued_at)
    assert found.publication == 1


def test_its_tag_is_that_of_its_bytes_and_follows_them(ci: Client, product: Product) -> None:
    first = ci.get(BUNDLE)
    tag = first.headers["ETag"]
    assert ci.get(BUNDLE, headers={"If-None-Match": tag}).status_code == 304
    published(product)
    second = ci.get(BUNDLE, headers={"If-None-Match": tag})
    assert (second.status_code, second.content != first.content) == (200, True)
    assert second.headers["ETag"] != tag


def test_who_may_not_see_the_product_finds_no_bundle(product: Product) -> None:
    User.objects.create_user("sam")
    assert person("sam").get(BUNDLE).status_code == 404


def test_a_product_is_brought_to_life_by_a_call(people: dict[str, User]) -> None:
    create_product(SYSTEM_ACTOR, SLUG, "Demo", document=document(1))
    asked = {"generation": 1, "reason": "the beginning"}
    address = f"/api/v1/products/{SLUG}/publications"
    assert person("ana").post(address, asked, "application/json").status_code == 403
    made = person("ben").post(address, asked, "application/json")
    assert (made.status_code, made.json()["number"]) == (201, 1)
    assert AuditEvent.objects.get(action="publication.bootstrap").actor == "ben"
    again = person("ben").post(address, asked, "application/json")
    assert (again.status_code, again.json()["code"]) == (409, "already_live")
    assert Publication.objects.count() == 1

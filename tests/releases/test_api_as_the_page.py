"""What a page of releases shows is told to programs too: one edge, votes, links, whole lists."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Credential
from policies.models import Product
from releases.api import edges as edges_api
from releases.models import Drill
from releases.serializers import PublicationOut
from releases.services.drill import start_drill
from releases.services.edges import retire_edge
from releases.services.issue import latest
from tests.releases.desk import OF_PRODUCT, Desk
from tests.releases.releases_cast import actor, edge, in_review, published, says


def test_one_edge_is_told_with_its_answers_and_never_with_what_it_shows(product: Product) -> None:
    one = edge(product, "edge-1")
    says(one, latest(product), "refused", "schema error")
    type(one).objects.filter(pk=one.pk).update(pinned_kids=["k1"])
    told = Desk("eve").reads(f"{OF_PRODUCT}/edges/edge-1")
    assert (told["stands"]["standing"], told["pinned_keys"]) == ("refused", ["k1"])
    (answer,) = told["answers"]
    assert (answer["publication"], answer["reason"]) == (1, "schema error")
    (shown,) = told["credentials"]
    assert {"name", "prefix", "created_at", "expires_at"} < set(shown)
    assert Credential.objects.get(name="edge-1").token_hash not in str(told)
    retire_edge(actor("ben"), one, "gone", abandon=True)
    told = Desk("eve").reads(f"{OF_PRODUCT}/edges/edge-1")
    assert (told["stands"], bool(told["retired_at"])) == (None, True)
    assert Desk("eve").client.get(f"/api/v1/{OF_PRODUCT}/edges/edge-2").status_code == 404


def test_a_publication_is_told_with_its_segments_and_the_votes_that_carried_it(
    product: Product,
) -> None:
    rollout = published(product)
    eve, path = Desk("eve"), f"{OF_PRODUCT}/publications"
    newest, first = eve.reads(path)["items"]
    assert ([one["user"] for one in newest["votes"]], first["votes"]) == (["ben", "dee"], [])
    assert {one["decision"] for one in newest["votes"]} == {"approve"}
    assert newest["by_segment"] == []
    apart = {"segment": "task=chat", "where": {"task": ["chat"]}, "fraction": 0.5, "stage": 1}
    rollout.publication.by_segment = [apart]  # the database lets nobody change a stored one
    assert PublicationOut(rollout.publication).data["by_segment"] == [apart]


def test_a_list_of_publications_asks_for_their_votes_once(product: Product) -> None:
    eve, path = Desk("eve"), f"{OF_PRODUCT}/publications"
    eve.reads(path)
    with CaptureQueriesContext(connection) as one:
        eve.reads(path)
    published(product)
    with CaptureQueriesContext(connection) as two:
        assert len(eve.reads(path)["items"]) == 2
    assert len(two) == len(one)


def test_a_proof_names_the_pages_on_which_it_is_checked(product: Product) -> None:
    card = Desk("ben").reads(f"proposals/{in_review(product).pk}/card")
    links = [link for proof in card["proofs"] for link in proof["links"]]
    assert links
    for link in links:
        assert Desk("ben").client.get(link["url"]).status_code == 200, link


def followed(path: str) -> list[Any]:
    """Every item of a list, by its cursor."""
    found, cursor = [], ""
    while True:
        page = Desk("eve").reads(f"{path}?cursor={cursor}")
        found += page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            return found


@pytest.mark.parametrize("path", ["edges", f"{OF_PRODUCT}/edges"])
def test_a_list_of_edges_is_whole_by_its_cursor(
    product: Product, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(edges_api, "EDGES", 2)
    names = [f"edge-{number}" for number in range(5)]
    for name in names:
        says(edge(product, name), latest(product))
    assert len(Desk("eve").reads(path)["items"]) == 2
    told = followed(path)
    assert [one["name"] for one in told] == names[::-1]
    assert sum(one["share"] for one in told) == pytest.approx(1.0)
    assert Desk("eve").client.get(f"/api/v1/{path}?cursor=mine").status_code == 400


def test_a_list_of_drills_is_whole_by_its_cursor(product: Product) -> None:
    says(edge(product, "edge-1"), latest(product))
    published(product)
    first, _ = start_drill(actor("dee"), product, "practice")
    copied = {field.attname: getattr(first, field.attname) for field in Drill._meta.fields}
    del copied["id"]
    Drill.objects.bulk_create(Drill(**copied) for _ in range(59))
    told = followed(f"{OF_PRODUCT}/drills")
    assert len({one["id"] for one in told}) == 60

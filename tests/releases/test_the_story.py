"""One path through the room: approved by two, published, activated, rolled back."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from gates.models import Window
from policies.models import Product
from policies.services import create_product
from releases.models import Publication
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from releases.states import ProposalState, RolloutState
from tests.releases.releases_cast import (
    SLUG,
    approve,
    approved,
    document,
    edge,
    in_review,
    judged,
    later,
    published,
    says,
)


def test_a_published_proposal_is_a_signed_publication_with_the_votes_inside(
    product: Product,
) -> None:
    rollout = published(product)
    publication = rollout.publication
    assert (publication.number, publication.kind, publication.fraction) == (2, "publish", 1.0)
    assert publication.served == (rollout.candidate_digest,)
    assert set(publication.pools.values()) == {"six", "four"}
    act = AuditEvent.objects.get(action="proposal.publish")
    assert (act.actor, act.digest_after) == ("dee", rollout.candidate_digest)
    assert act.data["publication"] == 2


def test_a_window_opens_when_the_edge_has_activated_and_closes_the_one_before(
    product: Product,
) -> None:
    gateway = edge(product, "edge-1")
    says(gateway, latest(product))
    reconcile(product.pk, timezone.now())
    rollout = published(product)
    reconcile(product.pk, timezone.now())
    assert not Window.objects.filter(publication=2).exists()
    activated = timezone.now()
    says(gateway, rollout.publication, at=activated)
    reconcile(product.pk, timezone.now())
    opened = Window.objects.get(publication=2)
    assert (opened.cohort, opened.opens_at, opened.exposure) == ("candidate", activated, 1.0)
    assert Window.objects.get(publication=1).closes_at == activated
    rollout.refresh_from_db()
    assert rollout.stage_opened_at == activated


def test_a_rollout_completes_on_a_fresh_pass_after_its_hold(product: Product) -> None:
    gateway = edge(product, "edge-1")
    rollout = published(product)
    says(gateway, rollout.publication)
    reconcile(product.pk, timezone.now())
    window = Window.objects.get(publication=2)
    judged(window, "pass", later(10))
    reconcile(product.pk, later(11))
    rollout.refresh_from_db()
    assert rollout.state == RolloutState.RUNNING
    judged(window, "pass", later(25))
    reconcile(product.pk, later(26))
    rollout.refresh_from_db()
    assert rollout.state == RolloutState.COMPLETED
    assert Publication.objects.count() == 2


def test_every_page_of_the_room_answers_a_reader(client: Client, product: Product) -> None:
    edge(product, "edge-1")
    proposal = approved(product)
    client.force_login(User.objects.get(username="eve"))
    names = ("overview", "proposals", "publications", "edges", "rollout")
    for name in names:
        assert client.get(reverse(f"releases:{name}", args=[SLUG])).status_code == 200
    page = client.get(reverse("releases:proposal", args=[SLUG, proposal.pk]))
    assert page.status_code == 200
    assert b"Compact" in page.content or b"compact" in page.content


@pytest.mark.parametrize("name", ["edges", "rollout", "overview"])
def test_htmx_gets_the_part_that_the_page_includes(
    client: Client, product: Product, name: str
) -> None:
    client.force_login(User.objects.get(username="eve"))
    url = reverse(f"releases:{name}", args=[SLUG])
    part = client.get(url, headers={"HX-Request": "true"})
    assert b"<html" not in part.content
    assert b"<html" in client.get(url).content


def test_the_browser_path_from_vote_to_rollback(client: Client, product: Product) -> None:
    proposal = in_review(product)
    page = reverse("releases:proposal", args=[SLUG, proposal.pk])
    for name in ("ben", "dee"):
        client.force_login(User.objects.get(username=name))
        form = _hidden(client.get(page).content.decode())
        answer = client.post(
            f"{page}vote", {**form, "decision": "approve", "reason": "the floors hold"}
        )
        assert answer.status_code == 302
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.APPROVED
    client.post(f"{page}publish", {"expected_version": proposal.version})
    overview = client.get(reverse("releases:overview", args=[SLUG])).content.decode()
    url = reverse("releases:rollback", args=[SLUG])
    assert f'href="{url}"' in overview
    assert client.post(url, {"reason": ""}).status_code == 400
    assert client.post(url, {"reason": "p95 rises"}).status_code == 302
    newest = latest(product)
    assert newest is not None
    assert (newest.number, newest.kind) == (3, "rollback")
    assert newest.incumbent_digest == Publication.objects.get(number=1).incumbent_digest


def _hidden(page: str) -> dict[str, str]:
    import re

    found = re.findall(
        r'type="hidden" name="(bound_digest|expected_version)" value="([^"]+)"', page
    )
    return dict(found)


def test_the_tick_approves_nothing_by_itself(product: Product) -> None:
    proposal = in_review(product)
    approve("ben", proposal)
    reconcile(product.pk, timezone.now())
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.IN_REVIEW


def test_a_product_is_brought_to_life_once_by_an_owner_with_a_reason(
    client: Client, people: dict[str, User]
) -> None:
    create_product(SYSTEM_ACTOR, SLUG, "Demo", document=document(1))
    url = reverse("releases:first-publication", args=[SLUG])
    form = {"generation": 1, "reason": "we begin"}
    client.force_login(people["ana"])
    assert client.post(url, form).status_code == 403
    client.force_login(people["ben"])
    overview = client.get(reverse("releases:overview", args=[SLUG])).content.decode()
    assert "Begin with a generation" in overview
    assert client.post(url, {"generation": 1}).status_code == 400
    assert client.post(url, form).status_code == 302
    assert client.post(url, form).status_code == 409
    assert AuditEvent.objects.get(action="publication.bootstrap").actor == "ben"
    assert Publication.objects.get().number == 1

"""Who may be an edge: registered, given a new token, shut out, retired, by page and by API."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, Credential, User
from accounts.services.rotation import rotate_credential
from controlplane.errors import Conflict, Forbidden
from policies.models import Product
from releases.models import Edge, EdgeSeen
from releases.selectors.edges import edge_facts
from releases.selectors.reconciliation import pool_facts
from releases.services.edges import register_edge, retire_edge, revoke_edge, rotate_edge
from releases.services.issue import latest
from tests.releases.releases_cast import SLUG, actor, edge, later, says

PAGE = f"/products/{SLUG}/edges/"
API = f"/api/v1/products/{SLUG}/edges"


def browser(people: dict[str, User], name: str) -> Client:
    client = Client()
    client.force_login(people[name])
    return client


def test_the_token_of_a_new_edge_is_shown_once_and_only_its_hash_is_kept(
    people: dict[str, User], product: Product
) -> None:
    shown = browser(people, "ben").post(f"{PAGE}register", {"name": "frankfurt-1"})
    credential = Credential.objects.get(name="frankfurt-1")
    text = shown.content.decode()
    token = re.search(r"orc_edge_[\w-]{30,}", text)
    assert token is not None
    assert credential.token_hash not in text
    again = browser(people, "ben").get(PAGE).content.decode()
    assert token[0] not in again
    assert "Registered and not yet seen" in again
    assert not Edge.objects.exists()


def test_an_engineer_registers_nothing(people: dict[str, User], product: Product) -> None:
    assert browser(people, "ana").post(f"{PAGE}register", {"name": "x"}).status_code == 403
    assert "Register an edge" not in browser(people, "ana").get(PAGE).content.decode()
    with pytest.raises(Forbidden):
        register_edge(actor("ana"), product, "x")


def test_a_rotation_leaves_the_old_token_good_for_the_overlap(product: Product) -> None:
    one = edge(product, "edge-1")
    older = one.credential_id
    newer, _ = rotate_edge(
        actor("ben"), one, "due", credential_id=older, overlap=timedelta(hours=1)
    )
    one.refresh_from_db()
    assert (one.credential_id, one.former_credential_id) == (newer.pk, older)
    former = Credential.objects.get(pk=older)
    assert former.revoked_at is None
    assert former.expires_at is not None
    assert timedelta(minutes=59) < former.expires_at - timezone.now() <= timedelta(hours=1)
    assert AuditEvent.objects.filter(action="credential.rotated", reason="due").exists()


def test_a_rotation_that_is_asked_twice_is_done_once(product: Product) -> None:
    one = edge(product, "edge-1")
    older = one.credential_id
    rotate_edge(actor("ben"), one, "due", credential_id=older)
    with pytest.raises(Conflict, match="newer credential"):
        rotate_edge(actor("ben"), one, "due", credential_id=older)
    assert Credential.objects.filter(name="edge-1", revoked_at=None).count() == 2


def test_a_second_rotation_ends_the_oldest_token(product: Product) -> None:
    one = edge(product, "edge-1")
    oldest = one.credential_id
    newer, _ = rotate_edge(actor("ben"), one, "due", credential_id=oldest)
    rotate_edge(actor("ben"), one, "due again", credential_id=newer.pk)
    assert Credential.objects.get(pk=oldest).revoked_at is not None
    assert Credential.objects.filter(name="edge-1", revoked_at=None).count() == 2


def test_a_credential_of_another_product_is_not_rotated(product: Product) -> None:
    one = edge(product, "edge-1")
    with pytest.raises(Exception, match="no such credential"):
        rotate_credential(SYSTEM_ACTOR, one.credential_id, "other", timedelta(0), "x")


def test_revoked_it_is_still_waited_for_and_retired_it_is_not(product: Product) -> None:
    one, two = edge(product, "edge-1"), edge(product, "edge-2")
    says(one, latest(product))
    says(two, latest(product))
    revoke_edge(actor("ben"), one, "stolen")
    assert [fact.name for fact in edge_facts(product, latest(product))] == ["edge-1", "edge-2"]
    retire_edge(actor("ben"), two, "moved away")
    assert [fact.name for fact in edge_facts(product, latest(product))] == ["edge-1"]
    assert Credential.objects.filter(revoked_at=None, kind="edge").count() == 0
    with pytest.raises(Conflict, match="retired"):
        retire_edge(actor("ben"), two, "again")


def test_machines_register_rotate_and_revoke_by_api(
    people: dict[str, User], product: Product
) -> None:
    client = APIClient()
    client.force_login(people["ben"])
    made = client.post(API, {"name": "edge-1"}, format="json")
    assert made.status_code == 201
    assert made.json()["token"].startswith("orc_edge_")
    assert client.post(API, {"name": "edge-1"}, format="json").status_code == 409
    credential = Credential.objects.get(pk=made.json()["credential"])
    Edge.objects.create(
        product=product, name="edge-1", credential=credential, registered_at=timezone.now()
    )
    body = {"credential": credential.pk, "reason": "due", "overlap_s": 60}
    for endless in (2_592_001, 10**15, 10**400):
        asked = {**body, "overlap_s": endless}
        refused = client.post(f"{API}/edge-1/rotate", asked, format="json")
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_input")
    assert client.post(f"{API}/edge-1/rotate", body, format="json").status_code == 201
    assert client.post(f"{API}/edge-1/rotate", body, format="json").status_code == 409
    weighed = client.post(f"{API}/edge-1/share", {"share": 3, "reason": "big"}, format="json")
    assert weighed.json()["declared_share"] == 3.0
    assert client.post(f"{API}/edge-1/revoke", {"reason": "lost"}, format="json").status_code == 200
    assert not Credential.objects.filter(name="edge-1", revoked_at=None).exists()
    assert client.post(f"{API}/nobody/revoke", {"reason": "x"}, format="json").status_code == 404


def test_the_page_of_an_edge_says_what_it_answered_and_by_what_it_is_known(
    people: dict[str, User], product: Product
) -> None:
    one = edge(product, "edge-1")
    says(one, latest(product), "refused", "schema_error: at /fallback/3")
    text = browser(people, "eve").get(f"{PAGE}edge-1/").content.decode()
    assert "schema_error: at /fallback/3" in text
    assert one.credential.prefix in text
    assert "Replace what it shows" not in text
    assert "Replace what it shows" in browser(people, "ben").get(f"{PAGE}edge-1/").content.decode()
    assert browser(people, "eve").get(f"{PAGE}nobody/").status_code == 404


def live_digest(product: Product) -> str:
    current = latest(product)
    assert current is not None
    return current.incumbent_digest


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("holds", "edge-1 holds 5"),
        ("never told", "edge-1 has never told what it runs"),
        ("is silent", "edge-1 is silent, and last said 0"),
        ("tells no more", "edge-1 last told its sequences 10 minutes ago, and said 0"),
    ],
)
def test_an_edge_that_may_hold_sequences_is_retired_by_saying_so(
    people: dict[str, User], product: Product, how: str, words: str
) -> None:
    one, digest = edge(product, "edge-1"), live_digest(product)
    if how == "never told":
        EdgeSeen.objects.create(edge=one, at=timezone.now())
    else:
        says(one, latest(product), open_sequences={digest: 5} if how == "holds" else {})
    if how in ("is silent", "tells no more"):
        EdgeSeen.objects.update(reported_at=later(-605))
    if how == "is silent":
        EdgeSeen.objects.update(at=later(-605))
    number = 5 if how == "holds" else None
    client = APIClient()
    client.force_login(people["ben"])
    refused = client.post(f"{API}/edge-1/retire", {"reason": "gone"}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "sequences_open")
    assert words in refused.json()["detail"]
    assert refused.json()["errors"] == [{"digest": digest, "sequences": number}]
    assert one.credential.revoked_at is None
    desk = browser(people, "ben")
    assert words in desk.get(f"{PAGE}edge-1/").content.decode()
    again = desk.post(f"{PAGE}edge-1/retire", {"reason": "gone"})
    assert (again.status_code, again.content.decode().count(words)) == (409, 2)
    asked = {"reason": "gone", "abandon": True}
    done = client.post(f"{API}/edge-1/retire", asked, format="json")
    assert (done.status_code, done.json()["abandoned"]) == (200, {digest: number})
    [row] = AuditEvent.objects.filter(action="edge.retired", reason="gone")
    assert row.data == {"abandoned": {digest: number}}
    shown = "5 under" if number else "an unknown number under"
    assert f"Abandoned with it: {shown}" in desk.get(f"{PAGE}edge-1/").content.decode()
    [fact] = pool_facts(product)
    assert [(lost.edge, lost.sequences) for lost in fact.abandoned] == [("edge-1", number)]
    pools = client.get(f"/api/v1/products/{SLUG}/reconciliation").json()["items"]
    assert [lost["sequences"] for lost in pools[0]["abandoned"]] == [number]
    page = desk.get(f"/products/{SLUG}/reconciliation/").content.decode()
    assert "Abandoned with retired edges" in page


def test_an_edge_that_told_it_holds_none_is_retired_without_a_word(
    people: dict[str, User], product: Product
) -> None:
    says(edge(product, "edge-1"), latest(product))
    desk = browser(people, "ben")
    assert "abandon" not in desk.get(f"{PAGE}edge-1/").content.decode()
    assert desk.post(f"{PAGE}edge-1/retire", {"reason": "moved"}).status_code == 302
    retired = Edge.objects.get()
    assert (retired.retired_at is not None, retired.abandoned) == (True, {})


def test_the_page_abandons_what_an_edge_holds_by_a_mark_of_its_own(
    people: dict[str, User], product: Product
) -> None:
    digest = live_digest(product)
    says(edge(product, "edge-1"), latest(product), open_sequences={digest: 5})
    desk = browser(people, "ben")
    assert desk.post(f"{PAGE}edge-1/retire", {"reason": "gone"}).status_code == 409
    sent = {"reason": "gone", "abandon": "on"}
    assert desk.post(f"{PAGE}edge-1/retire", sent).status_code == 302
    assert Edge.objects.get().abandoned == {digest: 5}


def test_a_revoked_edge_takes_nothing_out_of_the_ledger(product: Product) -> None:
    """A stolen token ends at once; what the edge holds is waited for as before."""
    one, digest = edge(product, "edge-1"), live_digest(product)
    says(one, latest(product), open_sequences={digest: 5})
    revoke_edge(actor("ben"), one, "stolen")
    [row] = AuditEvent.objects.filter(action="edge.revoked")
    assert row.data == {"left_open": {digest: 5}}
    [fact] = pool_facts(product, later(3600))
    assert [held.words for held in fact.unclear] == ["edge-1 is silent, and last said 5"]

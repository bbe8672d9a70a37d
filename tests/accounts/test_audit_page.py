import pytest
from django.db import transaction

from accounts.models import AuditEvent, Grant
from accounts.services import record, seal_audit
from tests.people import Cast

SHA = "sha256:" + "ab" * 32


@pytest.fixture
def trail(cast: Cast) -> Cast:
    with transaction.atomic():
        record(cast.actor("ana"), "generation.drafted", product="one", after=SHA)
        record(cast.actor("ben"), "proposal.vote", product="one", reason="Cheaper and as good")
        record(cast.actor("dee"), "publication.rollback", product="two")
        record(cast.actor("dee"), "credential.issued", product="two")
    seal_audit()
    return cast


def actions(cast: Cast, name: str, query: str = "") -> list[str]:
    page = cast.browser(name).get(f"/audit/?{query}")
    assert page.status_code == 200
    return [event.action for event in page.context["page"].rows]


def test_the_newest_act_comes_first(trail: Cast) -> None:
    assert actions(trail, "eve")[0] == "credential.issued"
    assert actions(trail, "eve")[-1] == "generation.drafted"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("product=one&person=ben", ["proposal.vote"]),
        ("action=proposal.", ["proposal.vote"]),
        ("text=abababab", ["generation.drafted"]),
        ("text=as+good", ["proposal.vote"]),
        ("person=nobody", []),
    ],
)
def test_a_filter_narrows_the_trail(trail: Cast, query: str, expected: list[str]) -> None:
    assert actions(trail, "eve", query) == expected


@pytest.mark.parametrize("name", ["ana", "sam"])
def test_who_has_no_role_for_it_does_not_read_the_trail(trail: Cast, name: str) -> None:
    assert trail.browser(name).get("/audit/").status_code == 403
    assert trail.browser(name).get("/api/v1/audit").status_code == 403


def test_an_auditor_of_one_product_sees_that_product_alone(trail: Cast) -> None:
    Grant.objects.filter(user=trail.eve).update(product_slug="two")
    assert actions(trail, "eve") == ["credential.issued", "publication.rollback"]
    assert actions(trail, "eve", "product=one") == []


def test_walking_the_pages_meets_every_event_once(cast: Cast) -> None:
    with transaction.atomic():
        for number in range(120):
            record(cast.actor("ana"), "test.done", product="one", obj=("n", number))
    browser, cursor, seen = cast.browser("eve"), "", []
    while True:
        page = browser.get("/api/v1/audit", {"cursor": cursor, "action": "test."}).json()
        seen += [row["object_id"] for row in page["results"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert seen == [str(number) for number in reversed(range(120))]


def test_a_made_up_cursor_is_refused_in_words(cast: Cast) -> None:
    answer = cast.browser("eve").get("/api/v1/audit?cursor=xyz")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


def test_the_chain_is_verified_over_the_api(trail: Cast) -> None:
    found = trail.browser("eve").get("/api/v1/audit/verify").json()
    assert found["intact"] is True
    assert found["sealed"] == AuditEvent.objects.count()

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


@pytest.fixture
def decided(cast: Cast) -> Cast:
    """Generation 7 of one, which moves a floor, is drafted by ana and published by dee."""
    with transaction.atomic():
        drafted = {"segments": ["risk=regulated"], "owner": "cho"}
        record(
            cast.actor("ana"),
            "generation.drafted",
            product="one",
            obj=("generation", 7),
            after=SHA,
            data=drafted,
        )
        record(cast.actor("dee"), "proposal.publish", product="one", obj=("proposal", 3), after=SHA)
        record(cast.actor("ben"), "grant.given", product="one", obj=("user", "dee"))
        record(cast.actor("ben"), "generation.drafted", product="two", obj=("generation", 7))
    return cast


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("product=one&generation=7", ["proposal.publish", "generation.drafted"]),
        ("segment=risk%3Dregulated", ["proposal.publish", "generation.drafted"]),
        ("segment=risk%3Dlow", []),
        ("person=dee", ["grant.given", "proposal.publish"]),
        ("person=cho", ["generation.drafted"]),
        ("since=2020-01-01T00:00&until=2020-01-02T00:00", []),
    ],
)
def test_a_decision_is_found_by_what_it_was_about(
    decided: Cast, query: str, expected: list[str]
) -> None:
    assert actions(decided, "eve", query) == expected
    from_api = query.replace("T00:00", "T00:00:00Z")
    answer = decided.browser("eve").get(f"/api/v1/audit?{from_api}").json()
    assert [row["action"] for row in answer["results"]] == expected


def test_what_was_done_to_one_segment_is_found_by_its_name(cast: Cast) -> None:
    """A segment held back is about one; a step of several names them all."""
    with transaction.atomic():
        for action, data in (
            ("rollout.hold_back", {"segment": "premium"}),
            ("rollout.advance", {"segments": ["premium", "standard"]}),
            ("rollout.let_go", {"segment": "standard"}),
        ):
            record(cast.actor("dee"), action, product="one", obj=("rollout", 3), data=data)
    assert actions(cast, "eve", "segment=premium") == ["rollout.advance", "rollout.hold_back"]


def test_a_time_without_its_offset_is_refused(cast: Cast) -> None:
    answer = cast.browser("eve").get("/api/v1/audit?since=2026-11-30T12:00:00")
    assert answer.status_code == 400


def test_a_filter_that_can_not_be_read_is_told_beside_its_field(cast: Cast) -> None:
    answer = cast.browser("eve").get("/audit/?generation=seven")
    assert answer.status_code == 400
    assert "A number." in answer.content.decode()


def test_the_page_says_how_far_the_chain_is_signed_and_walks_it(trail: Cast) -> None:
    page = trail.browser("eve").get("/audit/").content.decode()
    assert "Signed to link" in page
    walked = trail.browser("eve").get("/audit/verify").content.decode()
    assert "The audit trail is intact" in walked

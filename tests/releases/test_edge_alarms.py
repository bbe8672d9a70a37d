"""What is wrong with edges is named: silence, refusals, two generations that stay live; shares."""

from datetime import datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import User
from ingest.models import Source, SourceTally
from ingest.services.tallies import minute_of
from policies.models import Product
from releases.models import Activation, Alarm, Edge, EdgeSeen, Publication
from releases.selectors.edges import acknowledgement, alarms, edge_facts
from releases.selectors.fleet import PAGE, fleet
from releases.services.edge_watch import SPLIT_AFTER, step
from releases.services.issue import Serving, issue, latest
from releases.states import PublicationKind
from tests.releases.releases_cast import SLUG, edge, later, published, says


def newest(product: Product) -> Publication:
    found = latest(product)
    assert found is not None
    return found


def kinds(product: Product) -> list[str]:
    return [alarm.kind for alarm in alarms(product)]


# Case 10
def test_one_refuses_and_one_is_silent_and_both_are_named(
    people: dict[str, User], product: Product
) -> None:
    first = newest(product)
    e1, e2, e3 = (edge(product, name) for name in ("e1", "e2", "e3"))
    for one in (e1, e2, e3):
        says(one, first)
    published(product)
    wanted = newest(product)
    now = timezone.now()
    says(e1, wanted)
    says(e2, wanted, "refused", "schema error at /fallback/3")
    says_now(e3, now - timedelta(minutes=5))
    found = acknowledgement(product, wanted, 0.95, now)
    assert found.reached_at is None
    assert {fact.name for fact in found.missing} == {"e2", "e3"}
    step(product, wanted, now)
    text = {alarm.kind: alarm.text for alarm in alarms(product)}
    assert "e3" in text["silent"]
    assert "e2 says: schema error at /fallback/3" in text["refusing"]
    client = Client()
    client.force_login(people["dee"])
    page = client.get(f"/products/{SLUG}/edges/").content.decode()
    assert page.index("e2</a>") < page.index("e3</a>") < page.index("e1</a>")


def test_an_edge_that_refuses_what_it_runs_as_it_was_signed_again_is_named(
    product: Product,
) -> None:
    """It takes nothing that comes next, not even a way back; what it runs counts as before."""
    first, e1 = newest(product), edge(product, "e1")
    says(e1, first, at=later(1))
    says(e1, first, "refused", "wrong_key: signed by a key that isn't trusted here", at=later(2))
    step(product, first, later(3))
    assert "e1 says: wrong_key" in Alarm.objects.get(kind="refusing").text
    (fact,) = edge_facts(product, first, later(3))
    assert (fact.standing, fact.active) == ("refused", first.number)
    assert acknowledgement(product, first, 1.0, later(3)).reached_at == fact.activated_at
    with pytest.raises(CommandError, match="e1"):
        call_command("keys", "rotate")
    Activation.objects.filter(edge=e1, state="active").update(reported_at=later(4))
    step(product, first, later(5))
    assert kinds(product) == []


def test_two_generations_that_stay_live_open_one_alarm_until_they_dont(product: Product) -> None:
    first, one, two = newest(product), edge(product, "e1"), edge(product, "e2")
    published(product)
    wanted = newest(product)
    says(one, wanted)
    says(two, first)
    soon, late = wanted.published_at + SPLIT_AFTER, wanted.published_at + SPLIT_AFTER * 1.5
    for moment in (soon, late, late):
        says_now(one, moment)
        says_now(two, moment)
        step(product, wanted, moment)
        assert ("split_brain" in kinds(product)) == (moment > soon)
    assert "e2 on 1" in Alarm.objects.get(kind="split_brain").text
    says(two, wanted, at=late)
    step(product, wanted, late)
    assert kinds(product) == []
    assert Alarm.objects.get(kind="split_brain").until == late


def test_a_split_is_no_shorter_for_the_numbers_that_pass_meanwhile(product: Product) -> None:
    first, stuck = newest(product), edge(product, "stuck")
    says(stuck, first)
    published(product)
    wanted = newest(product)
    serving = Serving(wanted.incumbent_digest, wanted.candidate_digest, wanted.fraction)
    for passed in range(1, 5):
        moment = wanted.published_at + SPLIT_AFTER * 0.6 * passed
        kind = PublicationKind.PAUSE if passed % 2 else PublicationKind.RESUME
        issue(product, kind, serving, actor="dee", reason="to and fro", now=moment)
        says_now(stuck, moment)
        step(product, newest(product), moment)
        assert ("split_brain" in kinds(product)) == (passed > 1)
    assert Alarm.objects.filter(kind="split_brain").count() == 1


def test_an_edge_on_an_earlier_stage_of_the_same_generations_is_no_split(product: Product) -> None:
    one = edge(product, "e1")
    published(product, stages=[{"canary": 0.1, "hold": "10s"}, {"canary": 1.0, "hold": "10s"}])
    tenth = newest(product)
    says(one, tenth, at=later(90))
    step(product, tenth, later(90))
    assert "split_brain" not in kinds(product)


def test_shares_follow_the_records_where_there_are_any(product: Product) -> None:
    busy, idle, quiet = (edge(product, name) for name in ("busy", "idle", "quiet"))
    now = timezone.now()
    counted(product, "busy", 900, now)
    counted(product, "idle", 100, now)
    for one in (busy, idle, quiet):
        says(one, newest(product), at=now)
    facts = {fact.name: fact for fact in edge_facts(product, newest(product), now)}
    assert facts["busy"].share_is_measured
    assert not facts["quiet"].share_is_measured  # it sends nothing, so it keeps what is declared
    assert round(facts["busy"].share / facts["idle"].share) == 9
    assert abs(sum(fact.share for fact in facts.values()) - 1.0) < 1e-9


def test_falling_silent_makes_an_edge_count_for_no_less(product: Product) -> None:
    busy, gone = edge(product, "busy"), edge(product, "gone")
    now = timezone.now()
    counted(product, "busy", 990, now)
    counted(product, "gone", 10, now)
    says(busy, newest(product), at=now)
    says(gone, newest(product), at=now - timedelta(minutes=2))
    found = acknowledgement(product, newest(product), 0.95, now)
    assert found.reached_at is None
    assert [fact.name for fact in found.missing] == ["gone"]


def test_too_few_requests_say_nothing_about_shares(product: Product) -> None:
    edge(product, "e1")
    edge(product, "e2")
    now = timezone.now()
    counted(product, "e1", 99, now)
    assert [fact.share for fact in edge_facts(product, newest(product), now)] == [0.5, 0.5]


def test_a_large_fleet_is_shown_by_pages_with_sums_over_all(product: Product) -> None:
    for number in range(PAGE + 1):
        says(edge(product, f"e{number:03}"), newest(product))
    silent = edge(product, "z-silent")
    silent.registered_at = timezone.now() - timedelta(hours=1)
    silent.save()
    found = fleet(product, newest(product))
    assert (found.total, len(found.page), found.page.paginator.num_pages) == (PAGE + 2, PAGE, 2)
    assert found.page[0].name == "z-silent"
    only = fleet(product, newest(product), "silent")
    assert [fact.name for fact in only.page] == ["z-silent"]


def says_now(one: Edge, at: datetime) -> None:
    """The edge is heard, and says nothing new."""
    EdgeSeen.objects.filter(edge=one).update(at=at)


def counted(product: Product, sender: str, requests: int, now: datetime) -> None:
    """Records of an edge that were stored in this minute."""
    source = Source.objects.create(product=product, kind="edge", name=sender)
    SourceTally.objects.create(source=source, recent={str(minute_of(now)): requests})

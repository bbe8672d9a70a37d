"""What still runs where, and that a pool is let go by an act and by nothing else."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from controlplane.errors import Conflict
from gates.models import Window
from ingest.models import Source
from ingest.states import SourceKind
from policies.models import Product
from policies.services import draft_generation
from releases import edge_reports
from releases.models import Edge, EdgeSeen, PoolRelease, Publication, Reconciliation
from releases.selectors.reconciliation import pool_facts
from releases.services import reconciliation
from releases.services.issue import Serving, issue, latest
from releases.services.pools import refuse_overlap
from releases.services.release_pool import release_pool
from releases.services.rollback import roll_back
from releases.states import PoolRole, PublicationKind
from tests.releases.releases_cast import SLUG, actor, document, edge, later, published, says

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
AT = f"/api/v1/products/{SLUG}"


class Left:
    """A candidate that was taken back: its pool is what this is about."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.gateway = edge(product, "edge-1")
        says(self.gateway, latest(product))
        self.digest = published(product, stages=STAGES).candidate_digest
        says(self.gateway, latest(product))
        roll_back(actor("dee"), product, "users complain")
        self.counted(later(600))

    def runs(self, sequences: int = 0, manifests: dict[str, int] | None = None) -> None:
        """The edge activates what is wanted, and tells what it holds of the candidate."""
        open_now = {self.digest: sequences} if sequences else {}
        says(self.gateway, latest(self.product), open_sequences=open_now)
        held = {self.digest: manifests or {}}
        EdgeSeen.objects.filter(edge=self.gateway).update(open_manifests=held)

    def counted(self, to: datetime) -> None:
        source, _ = Source.objects.get_or_create(
            product=self.product, kind=SourceKind.EDGE, name="edge-1"
        )
        Source.objects.filter(pk=source.pk).update(watermark=to, last_seen_at=timezone.now())

    def tick(self, now: datetime | None = None) -> None:
        current = latest(self.product)
        assert current is not None
        reconciliation.step(self.product, current, now or timezone.now())

    def refused(self) -> list[str]:
        with pytest.raises(Conflict) as found:
            release_pool(actor("dee"), self.product, self.digest, "it costs")
        return [error["code"] for error in found.value.extra["errors"]]


@pytest.fixture
def left(product: Product) -> Left:
    return Left(product)


def test_a_pool_stays_until_nothing_runs_and_costs_are_counted(left: Left) -> None:
    left.tick()
    assert left.refused() == ["sequences_open", "accounting_open"]  # the edge still decides by it
    left.runs(sequences=3)
    left.tick()
    assert left.refused() == ["sequences_open", "accounting_open"]
    left.gateway.activations.all().delete()
    left.runs()
    left.tick()
    left.counted(later(-600))
    assert left.refused() == ["accounting_open"]
    left.counted(later(600))
    row, made = release_pool(actor("dee"), left.product, left.digest, "it costs")
    assert (row.pool, made) == ("four", True)
    again, twice = release_pool(actor("dee"), left.product, left.digest, "it costs")
    assert (again.pk, twice) == (row.pk, False)
    [act] = AuditEvent.objects.filter(action="pool.release")
    assert (act.actor, act.digest_before, act.reason) == ("dee", left.digest, "it costs")


def test_a_window_that_is_open_keeps_the_books_open(left: Left) -> None:
    left.runs()
    left.tick()
    Window.objects.create(
        product=left.product,
        digest=left.digest,
        publication=2,
        cohort="candidate",
        opens_at=timezone.now(),
        exposure=0.1,
    )
    assert left.refused() == ["accounting_open"]


def test_an_edge_that_only_fetches_may_hold_anything(left: Left) -> None:
    """It is heard, but has never told what it runs: its reports may not come through."""
    left.runs()
    EdgeSeen.objects.create(edge=edge(left.product, "edge-2"), at=timezone.now())
    left.tick()
    assert left.refused() == ["sequences_open", "accounting_open"]
    [fact] = [one for one in pool_facts(left.product) if one.digest == left.digest]
    assert [one.words for one in fact.unclear] == ["edge-2 has never told what it runs"]


def test_an_edge_that_is_heard_and_tells_nothing_may_hold_anything(
    client: Client, left: Left
) -> None:
    """Its polls come through and its reports fail: an old count is no evidence."""
    left.runs()
    left.tick()
    EdgeSeen.objects.update(reported_at=later(-725))
    left.tick()
    assert left.refused() == ["sequences_open", "accounting_open"]
    words = "edge-1 last told its sequences 12 minutes ago, and said 0"
    client.force_login(User.objects.get(username="dee"))
    page = client.get(reverse("releases:reconciliation", args=[SLUG])).content.decode()
    assert words in page
    assert "not told of late" in page
    [row] = [p for p in pools_by_api(client) if p["digest"] == left.digest]
    assert (row["edges"][0]["silent"], row["edges"][0]["stale"]) == (False, True)
    assert words in row["blockers"][0]["text"]
    [heard] = client.get(f"{AT}/edges").json()["items"]
    assert (heard["standing"], heard["told"]) == ("active", False)
    assert "too long ago to count" in client.get(f"/products/{SLUG}/edges/edge-1/").content.decode()
    assert "told <time" in client.get(f"/products/{SLUG}/edges/").content.decode()
    EdgeSeen.objects.update(reported_at=timezone.now())
    left.tick()
    assert release_pool(actor("dee"), left.product, left.digest, "it told at last")[1]


@pytest.mark.parametrize("told_ago_s", [60, 100, 200])
def test_the_more_edges_there_are_the_older_a_word_may_be(
    left: Left, monkeypatch: pytest.MonkeyPatch, told_ago_s: float
) -> None:
    """A fleet that is asked to tell each 40 seconds isn't waited for after 45."""
    left.runs()
    EdgeSeen.objects.update(reported_at=later(-told_ago_s))
    [fact] = [one for one in pool_facts(left.product) if one.digest == left.digest]
    assert [one.stale for one in fact.holdings] == [True]
    monkeypatch.setattr(edge_reports, "REPORTS_PER_S", 1 / 40)  # as 8,000 edges would have it
    assert edge_reports.report_every_s(1) == 40
    [fact] = [one for one in pool_facts(left.product) if one.digest == left.digest]
    assert [one.stale for one in fact.holdings] == [told_ago_s > 150]


def test_a_silent_edge_may_hold_anything(left: Left) -> None:
    left.runs()
    EdgeSeen.objects.update(at=later(-600))
    left.tick()
    assert left.refused() == ["sequences_open", "accounting_open"]
    left.counted(later(600))
    Edge.objects.update(retired_at=timezone.now())
    left.tick()
    assert release_pool(actor("dee"), left.product, left.digest, "that edge is gone")[1]


def test_what_was_settled_is_open_again_when_an_edge_says_so(left: Left) -> None:
    left.runs()
    left.tick()
    assert Reconciliation.objects.get(digest=left.digest).settled_at is not None
    EdgeSeen.objects.update(open_sequences={left.digest: 1})
    left.tick()
    assert Reconciliation.objects.get(digest=left.digest).settled_at is None


def test_what_serves_is_not_released_and_no_rollout_loses_its_way_back(product: Product) -> None:
    gateway = edge(product, "edge-1")
    first = latest(product)
    assert first is not None
    says(gateway, first)
    published(product, stages=[{"canary": 1.0, "hold": "20s"}])
    says(gateway, latest(product))
    codes = {}
    for digest in (first.incumbent_digest, latest_candidate(product)):
        with pytest.raises(Conflict) as refused:
            release_pool(actor("dee"), product, digest, "it costs")
        codes[digest] = refused.value.code
    assert list(codes.values()) == ["rollout_open", "pool_serves"]


def latest_candidate(product: Product) -> str:
    current = latest(product)
    assert current is not None
    assert current.candidate_digest is not None
    return current.candidate_digest


def test_a_released_pool_leaves_the_next_bundle_and_one_that_waits_stays_in_all(
    left: Left,
) -> None:
    def next_pools() -> dict[str, str]:
        made = issue(
            left.product,
            PublicationKind.PRICE_CHANGE,
            Serving(Publication.objects.get(number=1).incumbent_digest),
            actor="orchid",
            reason="prices",
            now=timezone.now(),
        )
        return dict(made.pools)

    for _ in range(3):
        assert next_pools()[left.digest] == "four"
    left.runs()
    left.tick()
    release_pool(actor("dee"), left.product, left.digest, "it costs")
    fact = next(fact for fact in pool_facts(left.product) if fact.digest == left.digest)
    assert fact.role == PoolRole.RELEASED
    assert left.digest not in next_pools()


def test_a_generation_that_is_published_again_needs_its_pool_again(left: Left) -> None:
    left.runs()
    left.tick()
    release_pool(actor("dee"), left.product, left.digest, "it costs")
    first = Publication.objects.get(number=1).incumbent_digest
    for serving in (Serving(first, left.digest, 0.1), Serving(first)):
        made = issue(
            left.product,
            PublicationKind.PUBLISH,
            serving,
            actor="orchid",
            reason="once more",
            now=timezone.now(),
        )
        assert made.pools[left.digest] == "four"


def test_what_holds_nothing_of_its_own_leaves_by_itself(product: Product) -> None:
    """Generations that differ in a limit alone share a pool and every manifest."""
    first = latest(product)
    assert first is not None
    digests = [first.incumbent_digest]
    for number in range(3):
        given = document(1)
        given["admission"]["max_queued_teu"] = 7000 + number
        digests.append(draft_generation(SYSTEM_ACTOR, product, given, f"Limit {number}").digest)
    named: list[int] = []
    for digest in digests[1:]:
        made = issue(
            product,
            PublicationKind.EMERGENCY,
            Serving(digest),
            actor="dee",
            reason="a limit",
            now=timezone.now(),
        )
        named.append(len(made.pools))
    assert named == [2, 2, 2]  # itself, and the one until now


def test_what_an_edge_doesnt_tell_keeps_even_what_holds_nothing_of_its_own(
    product: Product,
) -> None:
    """Its last word, of before, knew nothing of the generation that has just left."""
    gateway = edge(product, "edge-1")
    says(gateway, latest(product))

    def serve(number: int) -> set[str]:
        given = document(1)
        given["admission"]["max_queued_teu"] = 7000 + number
        digest = draft_generation(SYSTEM_ACTOR, product, given, f"Limit {number}").digest
        now = timezone.now()
        issue(product, PublicationKind.EMERGENCY, Serving(digest), actor="dee", reason="", now=now)
        current = latest(product)
        assert current is not None
        return set(current.pools)

    first = serve(0)
    assert len(first) == 2
    says(gateway, latest(product))
    EdgeSeen.objects.update(reported_at=later(-600))
    assert serve(1) > first
    assert serve(2) > first
    EdgeSeen.objects.update(reported_at=timezone.now())
    assert len(serve(3)) == 2


def test_the_page_and_the_api_show_each_manifest_at_each_edge(client: Client, left: Left) -> None:
    client.force_login(User.objects.get(username="dee"))
    pinned = next(f for f in pool_facts(left.product) if f.digest == left.digest).manifests
    left.runs(sequences=5, manifests={pinned[0].digest: 4, pinned[1].digest: 1})
    [row] = [p for p in pools_by_api(client) if p["digest"] == left.digest]
    assert (row["role"], row["open_sequences"]) == ("draining", 5)
    assert row["edges"][0]["manifests"] == {pinned[0].digest: 4, pinned[1].digest: 1}
    page = client.get(reverse("releases:reconciliation", args=[SLUG])).content.decode()
    assert "Open sequences: edge-1 holds 5." in page
    body = {"digest": left.digest, "reason": "it costs"}
    refused = client.post(f"{AT}/pool-releases", body, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "sequences_open")


def pools_by_api(client: Client) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"{AT}/reconciliation").json()["items"]
    return items


def test_two_clicks_let_a_pool_go_and_a_reader_has_none(client: Client, left: Left) -> None:
    left.runs()
    left.tick()
    client.force_login(User.objects.get(username="dee"))
    page = client.get(reverse("releases:reconciliation", args=[SLUG])).content.decode()
    url = reverse("releases:release-pool", args=[SLUG])
    assert f"{url}?digest={left.digest.replace(':', '%3A')}" in page
    form = client.get(url, {"digest": left.digest})
    assert "Release four" in form.content.decode()
    done = client.post(url, {"digest": left.digest, "reason": "it costs"}, follow=True)
    assert "four is released" in done.content.decode()
    client.force_login(User.objects.get(username="eve"))
    assert client.get(url, {"digest": left.digest}).status_code == 403
    assert client.get(reverse("releases:reconciliation", args=[SLUG])).status_code == 200


def test_a_release_and_a_drill_stay_as_they_were_told(left: Left) -> None:
    left.runs()
    left.tick()
    release_pool(actor("dee"), left.product, left.digest, "it costs")
    told = PoolRelease.objects.all()
    with pytest.raises(IntegrityError), transaction.atomic():
        told.update(reason="another")
    with pytest.raises(IntegrityError), transaction.atomic():
        told.delete()


def test_an_in_place_overlap_that_does_not_fit_is_refused_in_words(product: Product) -> None:
    def generation(weights: str, pool: str | None, device_gib: str = "80") -> str:
        given = document(2)
        given["fleet"] |= {
            "device_gib": device_gib,
            "residency_gib": {"weights": "26.08", "kv_pool": "34", "runtime": "19.92"},
        }
        if pool:
            given["fleet"]["pool"] = pool
        given["models"]["full"] |= {"weights": weights, "weights_gib": "26.08"}
        return str(draft_generation(SYSTEM_ACTOR, product, given, weights).digest)

    held = generation("full-1", "four")
    issue(
        product,
        PublicationKind.EMERGENCY,
        Serving(held),
        actor="dee",
        reason="it serves",
        now=timezone.now(),
    )
    with pytest.raises(Conflict) as refused:
        refuse_overlap(product, generation("full-2", "four"), latest(product))
    assert refused.value.code == "no_room_in_pool"
    assert "full-1 (26.08 GiB)" in refused.value.detail
    assert "106.08 GiB, and a device has 80 GiB" in refused.value.detail
    refuse_overlap(product, generation("full-2", "five"), latest(product))
    refuse_overlap(product, held, latest(product))


def test_a_step_is_taken_back_with_what_came_back(left: Left) -> None:
    left.tick()
    issue(
        left.product,
        PublicationKind.PUBLISH,
        Serving(Publication.objects.get(number=1).incumbent_digest, left.digest, 0.1),
        actor="orchid",
        reason="once more",
        now=timezone.now() + timedelta(seconds=1),
    )
    left.tick()
    assert not Reconciliation.objects.exists()

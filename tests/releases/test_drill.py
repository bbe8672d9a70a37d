"""A rehearsal of the rollback: over the edges' own door, measured, and nothing is published."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, User
from controlplane.errors import Conflict
from orchid.engine.wire.bundle import BundleRefused, verify
from orchid.engine.wire.drill import verify_drill
from policies.models import Product
from releases.keys import public_keys
from releases.models import Drill, DrillAnswer, EdgeSeen, Publication
from releases.selectors.drill import last_drill
from releases.services.drill import start_drill
from releases.services.issue import latest
from releases.services.rollback import roll_back
from releases.states import DrillState
from tests.releases.releases_cast import SLUG, actor, edge, published, says
from tests.releases.test_edge_entry import BASE, Entry, entry, shared

__all__ = ["entry", "shared"]  # fixtures of the edges' door

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]


@pytest.fixture
def rolling(product: Product) -> Product:
    """Something to go back to, and one edge that is heard."""
    gateway = edge(product, "edge-1")
    says(gateway, latest(product))
    published(product, stages=STAGES)
    return product


def answered(drill: Drill, state: str = "ready", after_ms: float = 80, **more: Any) -> DrillAnswer:
    heard = EdgeSeen.objects.get(edge__name=more.pop("edge", "edge-1")).edge
    at = drill.started_at + timedelta(milliseconds=after_ms)
    return DrillAnswer.objects.create(drill=drill, edge=heard, state=state, at=at, **more)


def test_a_drill_publishes_nothing_and_is_audited(rolling: Product) -> None:
    before = latest(rolling)
    drill, made = start_drill(actor("dee"), rolling, "before the peak")
    assert made
    assert latest(rolling) == before
    assert drill.asked == ["edge-1"]
    [act] = AuditEvent.objects.filter(action="rollback.drill")
    assert (act.actor, act.reason, act.digest_after) == ("dee", "before the peak", drill.digest)


def test_it_is_measured_to_the_last_edge_that_could(rolling: Product) -> None:
    second = edge(rolling, "edge-2")
    says(second, Publication.objects.get(number=1))
    drill, _ = start_drill(actor("dee"), rolling)
    answered(drill, after_ms=80)
    running = last_drill(rolling, drill.started_at)
    assert running is not None
    assert (running.state, running.took_ms) == (DrillState.RUNNING, None)
    answered(drill, after_ms=140, edge="edge-2")
    passed = last_drill(rolling, drill.started_at)
    assert passed is not None
    assert passed.passed
    assert passed.took_ms == pytest.approx(140)


@pytest.mark.parametrize(
    ("state", "seconds", "stands"),
    [("refused", 1, DrillState.FAILED), (None, 60, DrillState.INCOMPLETE)],
)
def test_an_edge_that_refuses_or_says_nothing_proves_nothing(
    rolling: Product, state: str | None, seconds: int, stands: DrillState
) -> None:
    drill, _ = start_drill(actor("dee"), rolling)
    if state:
        answered(drill, state, reason="no_replica: no replica of pool six is ready here")
    fact = last_drill(rolling, drill.started_at + timedelta(seconds=seconds))
    assert fact is not None
    assert (fact.state, fact.passed, fact.took_ms) == (stands, False, None)


def test_a_silent_edge_is_named_and_not_asked(rolling: Product) -> None:
    edge(rolling, "edge-9")
    drill, _ = start_drill(actor("dee"), rolling)
    assert (drill.asked, drill.silent) == (["edge-1"], ["edge-9"])


def test_the_one_that_runs_is_joined_and_there_has_to_be_something_to_rehearse(
    rolling: Product,
) -> None:
    first, _ = start_drill(actor("dee"), rolling)
    again, made = start_drill(actor("ben"), rolling)
    assert (again.pk, made) == (first.pk, False)
    roll_back(actor("dee"), rolling, "users complain")
    with pytest.raises(Conflict) as refused:
        start_drill(actor("dee"), rolling, now=first.deadline_at)
    assert refused.value.code == "nothing_to_restore"


def test_without_an_edge_there_is_nobody_to_rehearse_with(rolling: Product) -> None:
    EdgeSeen.objects.update(at=timezone.now() - timedelta(minutes=5))
    with pytest.raises(Conflict) as refused:
        start_drill(actor("dee"), rolling)
    assert refused.value.code == "no_edge_heard"


def test_a_rehearsal_never_passes_for_a_bundle_nor_a_bundle_for_a_rehearsal(
    rolling: Product,
) -> None:
    drill, _ = start_drill(actor("dee"), rolling)
    keys, now = public_keys(), timezone.now()
    bundle = verify_drill(drill.token, keys, product=SLUG, now=now)
    assert bundle.generations.incumbent.digest == drill.digest
    with pytest.raises(BundleRefused):
        verify(drill.token, keys, product=SLUG, floor_publication=0, now=now)
    published_now = latest(rolling)
    assert published_now is not None
    with pytest.raises(BundleRefused):
        verify_drill(published_now.token, keys, product=SLUG, now=now)
    with pytest.raises(BundleRefused) as other:
        verify_drill(drill.token, keys, product="another", now=now)
    assert other.value.code == "other_product"


@pytest.mark.parametrize("asked", [{}, {"reason": ""}, {"reason": "before the weekend"}])
def test_a_rehearsal_needs_no_reason(
    client: Client, rolling: Product, asked: dict[str, str]
) -> None:
    client.force_login(User.objects.get(username="dee"))
    path = f"/api/v1/products/{SLUG}/drills"
    assert client.post(path, asked, content_type="application/json").status_code == 201


def test_the_page_and_the_api_tell_how_long_it_took(client: Client, rolling: Product) -> None:
    client.force_login(User.objects.get(username="dee"))
    begun = client.post(f"/api/v1/products/{SLUG}/drills", {}, content_type="application/json")
    assert begun.status_code == 201
    drill = Drill.objects.get()
    answered(drill, after_ms=123, fetch_ms=4.5, prepare_ms=6.5, replicas=2)
    told = client.get(f"/api/v1/drills/{drill.pk}").json()
    assert (told["state"], told["took_ms"]) == ("passed", pytest.approx(123))
    assert told["answers"][0]["replicas"] == 2
    ready = client.get(f"/api/v1/products/{SLUG}/rollback-readiness").json()
    checks = {check["name"]: check["state"] for check in ready["checks"]}
    assert (checks["drill"], ready["restores"]) == ("ready", drill.digest)
    page = client.get(reverse("releases:rollback", args=[SLUG])).content.decode()
    assert "123 ms" in page
    client.force_login(User.objects.get(username="eve"))
    assert client.post(reverse("releases:drill", args=[SLUG])).status_code == 403


@pytest.mark.django_db(transaction=True)
async def test_a_held_poll_is_told_of_it_and_its_answer_is_kept(entry: Entry) -> None:
    await entry.client.get(f"{BASE}/keys")
    first = await entry.bundle()
    await entry.says(1)
    await sync_to_async(published)(entry.product)
    second = await entry.bundle(first.headers["ETag"], wait=5)
    assert second.status_code == 200
    waiting = asyncio.create_task(entry.bundle(second.headers["ETag"], wait=20))
    await asyncio.wait_for(entry.app.state.hub.listening.wait(), 30)
    drill, _ = await sync_to_async(lambda: start_drill(actor("dee"), entry.product))()
    told = await asyncio.wait_for(waiting, 30)
    assert (told.status_code, told.headers["Orchid-Drill"]) == (304, str(drill.pk))
    path = f"{BASE}/drills/{drill.pk}"
    assert (await entry.client.get(path)).text == drill.token
    for _ in range(2):
        said = await entry.client.post(path, json={"state": "ready", "fetch_ms": 3.0})
        assert said.status_code == 200
    [kept] = [row async for row in DrillAnswer.objects.all()]
    assert (kept.state, kept.fetch_ms) == ("ready", 3.0)
    assert (await entry.client.post(path, json={"state": "fine"})).status_code == 400
    assert (await entry.client.get(f"{BASE}/drills/999")).status_code == 404
    newest = await entry.bundle(second.headers["ETag"])
    assert newest.status_code == 304  # and nothing was published

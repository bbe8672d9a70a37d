"""What an edge runs is told when it changes, and by many edges not all at one moment."""

import asyncio
import time
from datetime import timedelta

from msgspec.structs import replace

from tests.edge.control_plane import ControlPlane, bundle, new_key
from tests.edge.edge_site import Running, Site

WITHIN_S = 0.8


async def told_after_s(plane: ControlPlane, running: Running, number: int) -> tuple[float, float]:
    """Seconds until an edge has said what it is on: since it was published, and since an edge that
    is asked again and again is on it."""
    published = time.monotonic()
    plane.publish(bundle(number, contract__deadline_ms=900 + number))
    # An edge says so by its status alone.
    while (await running.status())["publication"] != number:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    active = time.monotonic()
    await plane.until(lambda: plane.activated(number))
    now = time.monotonic()
    return now - published, now - active


async def test_news_is_spread_where_many_edges_have_some(site: Site, plane: ControlPlane) -> None:
    plane.asks = {"news_within_s": WITHIN_S}
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        told_s = [await told_after_s(plane, running, number) for number in range(2, 7)]
    assert min(since_published for since_published, _ in told_s) > 0.2 * WITHIN_S
    waited_s = [since_active for _, since_active in told_s]
    assert max(waited_s) - min(waited_s) > 0.02 * WITHIN_S


async def test_news_is_told_at_once_where_nobody_asks_for_more(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        told_s = [await told_after_s(plane, running, number) for number in (2, 3, 4)]
    assert min(since_active for _, since_active in told_s) < WITHIN_S / 4


async def test_a_signature_that_is_refused_is_told_until_one_is_taken(
    site: Site, plane: ControlPlane
) -> None:
    first = bundle(1)
    again = replace(first, issued_at=first.issued_at + timedelta(seconds=1))
    plane.publish(first)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        plane.publish(again, key=new_key(), kid="k9")
        await plane.until(lambda: len(plane.refusals()) > 1)
        assert (plane.activations[-1]["publication"], plane.activations[-1]["state"]) == (
            1,
            "refused",
        )
        plane.publish(again)
        await plane.until(lambda: plane.activations[-1]["state"] == "active")
        assert (await running.status())["refused"] is None


async def test_an_earlier_signature_of_what_runs_is_neither_taken_nor_told_of(
    site: Site, plane: ControlPlane
) -> None:
    first = bundle(1)
    again = replace(first, issued_at=first.issued_at + timedelta(seconds=1))
    plane.publish(again)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        asked = len(plane.tags)
        plane.publish(first)
        await plane.until(lambda: len(plane.tags) > asked + 1)
        assert await running.edge.reporter.report_once()
        assert running.edge.sync.active is not None
        assert running.edge.sync.active.bundle.issued_at == again.issued_at
        assert plane.refusals() == []

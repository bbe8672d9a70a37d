"""What an edge does with a bundle that nobody signed again in time."""

from datetime import timedelta
from typing import Any

from orchid.edge.ask import to_ms
from orchid.edge.expiry import follow_expiry
from orchid.engine.document.load import load_document
from orchid.engine.wire.bundle import Bundle, Exposure, Generation, Generations
from tests.edge.control_plane import PRODUCT, ControlPlane, bundle
from tests.edge.edge_site import Running, Site
from tests.small_policy import small_document

FLOOR = {"rollout__on_expiry": "safe_floor"}


def with_candidate(**changes: Any) -> Bundle:
    """Publication 1 with a candidate for everybody."""
    plain = bundle(1, **changes)
    loaded = load_document(small_document(contract__deadline_ms=900))
    return Bundle(
        product=PRODUCT,
        publication=1,
        kind="publish",
        issued_at=plain.issued_at,
        not_before=plain.not_before,
        expires_at=plain.expires_at,
        generations=Generations(
            plain.generations.incumbent, Generation(loaded.digest, loaded.given)
        ),
        pools={**plain.pools, loaded.digest: "one"},
        exposure=Exposure(0, 1.0, "salt"),
    )


def expired(running: Running, offered: Bundle) -> None:
    follow_expiry(running.edge.service, to_ms(offered.expires_at + timedelta(seconds=1)))


async def cohort(running: Running, request_id: str) -> str:
    answer = await running.admit(request_id)
    assert answer.status_code == 200, answer.text
    record = running.edge.service.requests.granted[request_id].record
    return str(record.cohort)


async def test_by_itself_an_expired_bundle_stays_in_force_as_it_is(
    site: Site, plane: ControlPlane
) -> None:
    offered = with_candidate()
    plane.publish(offered)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        expired(running, offered)
        assert await cohort(running, "r1") == "candidate"
        assert (await running.status())["at_safe_floor"] is False


async def test_at_the_safe_floor_the_incumbent_serves_and_replicas_hold_little(
    site: Site, plane: ControlPlane
) -> None:
    offered = with_candidate(**FLOOR)
    plane.publish(offered)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        expired(running, offered)
        assert (await running.status())["at_safe_floor"] is True
        assert await cohort(running, "r1") == "incumbent"
        replica = running.edge.service.state.pools["one"].replicas["one"]
        assert replica.limiter is not None
        assert replica.limiter.limit == 1


async def test_what_runs_when_it_expires_ends_as_it_was_promised(
    site: Site, plane: ControlPlane
) -> None:
    offered = with_candidate(**FLOOR)
    plane.publish(offered)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        granted = (await running.admit("r1")).json()
        expired(running, offered)
        settled = await running.settle(granted["attempt_id"])
        assert settled.status_code == 200
        await plane.until(lambda: len(plane.records) == 1)
        assert plane.records[0].cohort == "candidate"


async def test_the_next_bundle_lifts_the_floor(site: Site, plane: ControlPlane) -> None:
    offered = with_candidate(**FLOOR)
    plane.publish(offered)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        expired(running, offered)
        plane.publish(bundle(2, **FLOOR))
        await plane.until(lambda: plane.activated(2))
        assert (await running.status())["at_safe_floor"] is False

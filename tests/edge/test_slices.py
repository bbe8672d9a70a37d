"""An edge enforces its slice of what holds for the whole fleet, as the newest signature has it."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from orchid.engine.wire.bundle import Bundle
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import Running, Site

BUDGET = {"tenant": "acme", "window": "1d", "max_output_tokens": 400}


def shared(**slices: float) -> Bundle:
    return replace(bundle(1, budgets=[BUDGET]), slices=slices)


async def admitted(running: Running, count: int) -> int:
    """How many of so many requests of 100 output tokens get through; each is settled at once."""
    done = 0
    for number in range(count):
        answer = await running.admit(f"r{number}", tenant="acme", max_output_tokens=100)
        if answer.status_code == 200:
            done += 1
            await running.settle(answer.json()["attempt_id"], output_tokens=100)
    return done


async def test_the_edges_of_a_fleet_together_spend_a_budget_once(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(shared(e1=1.0, e2=3.0))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        assert await admitted(running, 5) == 1


async def test_one_edge_alone_has_the_whole(site: Site, plane: ControlPlane) -> None:
    plane.publish(shared())
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        assert await admitted(running, 5) == 4


async def test_a_new_signature_of_the_same_number_brings_a_new_slice(
    site: Site, plane: ControlPlane
) -> None:
    first = shared(e1=1.0, e2=1.0)
    plane.publish(first)
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        later = first.issued_at + timedelta(seconds=1)
        plane.publish(replace(first, slices={"e1 e2 e3 e4": 3.0}, issued_at=later))
        await plane.until(lambda: len(plane.activations) > 1 and _part(running) == 0.25)
        assert running.edge.sync.active is not None
        assert running.edge.sync.active.bundle.publication == 1


async def test_a_new_signature_with_other_content_is_refused(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(shared())
    async with site.edge():
        await plane.until(lambda: plane.activated(1))
        other = bundle(1, contract__deadline_ms=700)
        plane.publish(replace(other, issued_at=datetime.now(UTC) + timedelta(seconds=1)))
        await plane.until(lambda: any(said.startswith("conflict") for said in plane.refusals()))


def _part(running: Running) -> float:
    active = running.edge.service.active
    assert active is not None
    caps = active.incumbent.caps["acme"][0]
    return (caps.output_tokens or 0) / 400

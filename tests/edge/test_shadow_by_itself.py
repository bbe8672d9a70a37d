"""What an edge decides twice it reads and sends without anybody asking for it."""

from tests.edge.control_plane import ControlPlane
from tests.edge.edge_site import Site
from tests.edge.shadow_site import TIGHT, early


async def test_an_edge_reads_and_sends_by_itself(site: Site, plane: ControlPlane) -> None:
    plane.publish(early("shadow", **TIGHT))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        await running.admit("r1")
        await plane.until(lambda: bool(plane.shadows))
        status = await running.status()
        text = (await running.client.get("/metrics")).text
    assert status["decided_twice"] == {"mode": "shadow", "noted": 0, "lines_waiting": 0}
    assert 'orchid_edge_decided_twice_total{difference="refuses",mode="shadow"} 1.0' in text

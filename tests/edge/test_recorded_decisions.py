"""What an edge recorded, decided once more: by its own generation, and by the next one."""

from orchid.engine.decision_diff import decision_diff, recorded
from orchid.engine.document.load import load_document
from orchid.engine.wire.records import encode_record
from tests.edge.control_plane import ControlPlane, bundle
from tests.edge.edge_site import Site
from tests.small_policy import small_document

PREFER = [{"from": "full", "to": "compact", "prefer": True, "where": {"tenant_class": "standard"}}]


async def test_records_of_an_edge_show_what_the_next_generation_would_change(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(3))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(3))
        for number in range(4):
            tenant_class = "standard" if number % 2 else "premium"
            answer = await running.admit(f"r{number}", tenant="acme", tenant_class=tenant_class)
            await running.settle(answer.json()["attempt_id"])
        await running.admit("r4", deadline_ms=1)
        await plane.until(lambda: len(plane.records) == 5)
    lines = [encode_record(record) for record in plane.records]
    before = load_document(small_document()).document
    after = load_document(small_document(fallback=PREFER)).document
    diff = decision_diff(before, after, recorded(lines))
    assert (diff.n, diff.changed, diff.unreadable.n) == (5, 2, 0)
    # The first document decides as the edge did under it.
    assert diff.before.by_action == {"admit": 4, "reject": 1}
    assert diff.before.refused_by_reason == {"deadline_infeasible": 1}
    assert {one.request_id for one in diff.examples} == {"r1", "r3"}
    assert [part.name for part in diff.segments if part.changed] == [
        "task=chat|tenant_class=standard"
    ]

"""The demo's two generations and its evidence fit together."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.load import LoadedDocument
from orchid.engine.economics import hourly_ledger_usd, steady_cost_per_success_usd
from orchid.engine.pricing import offered_requests_per_s
from orchid.engine.segments import floor_for

Demo = tuple[LoadedDocument, LoadedDocument]
FILE = Path(__file__).parents[2] / "examples/orchid-demo/evidence.json"
CELLS: list[dict[str, Any]] = json.loads(FILE.read_text())["evidence"]


def single(where: dict[str, Any]) -> dict[str, str]:
    return {name: value for name, value in where.items() if isinstance(value, str)}


def test_only_the_smaller_fleet_can_meet_the_cost_bound(demo: Demo) -> None:
    first, second = (loaded.document for loaded in demo)
    bound = first.gates.cost_per_success_usd.max
    assert bound == second.gates.cost_per_success_usd.max
    assert hourly_ledger_usd(first) == Decimal("30.60")
    assert hourly_ledger_usd(second) == Decimal("21.00")
    costs = [steady_cost_per_success_usd(d, offered_requests_per_s(d)) for d in (first, second)]
    assert None not in costs
    assert costs[0] > bound > costs[1]  # type: ignore[operator]  # neither is None


def test_the_evidence_is_of_the_manifests_that_serve(demo: Demo) -> None:
    for loaded in demo:
        for cell in CELLS:
            assert cell["manifest"] == manifest_digest(loaded.document.models[cell["route"]])


def test_full_and_compact_are_covered_in_every_gated_segment(demo: Demo) -> None:
    segments = demo[1].document.gates.segments
    assert len(CELLS) == 2 * len(segments)
    for segment in segments:
        given = [
            cell["route"] for cell in CELLS if single(cell["where"]) == single(dict(segment.where))
        ]
        assert sorted(given) == ["compact", "full"]


def test_every_cell_clears_its_floor_beyond_its_error(demo: Demo) -> None:
    for cell in CELLS:
        floor = floor_for(demo[1].document, single(cell["where"]))
        error = cell["spread"] / cell["n"] ** 0.5
        assert floor is not None
        assert cell["mean"] - 2.5 * error > floor
        assert cell["violations"] == 0

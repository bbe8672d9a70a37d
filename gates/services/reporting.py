"""The figures of a judgement as JSON: what pages show and proposals quote."""

from dataclasses import asdict
from typing import Any

from gates.services.inputs import Inputs
from orchid.engine.document.quality import Floor
from orchid.engine.document.values import decimal_text
from orchid.engine.economics import hourly_ledger_usd, ledger_usd_between
from orchid.engine.histogram import percentile_ms
from orchid.engine.segments import where_key
from orchid.engine.verdict import utility
from orchid.engine.verdict.gates import Judged, least_utility, levels_of, scopes
from orchid.engine.verdict.traffic import Totals

HOURS_PER_MONTH = 730


def figures_of(inputs: Inputs, judged: Judged) -> dict[str, Any]:
    """Every figure that the results rest on; unknown is null."""
    return {
        "from": inputs.start.isoformat(),
        "to": inputs.end.isoformat(),
        "whole": _scope_figures(judged.totals[""]),
        "segments": [
            {
                "name": scope.name,
                "key": where_key(scope.where),
                "least_utility": least_utility(inputs.document, scope),
                **_scope_figures(judged.totals[scope.name]),
            }
            for scope in scopes(inputs.document)[1:]
        ],
        "floors": [_floor(inputs, judged, floor) for floor in inputs.document.segments.floors],
        "cost": _cost(inputs, judged),
    }


def _scope_figures(totals: Totals) -> dict[str, Any]:
    eligible = totals.of("eligible")
    return {
        "populations": totals.counters,
        "successes": totals.successes,
        "attainment": totals.successes / eligible if eligible else None,
        "utility": utility.index_of(totals.cells),
        "p50_ms": _finite(percentile_ms(totals.histogram, 0.5)),
        "p95_ms": _finite(percentile_ms(totals.histogram, 0.95)),
        "teu": decimal_text(totals.teu),
        "mix": [
            {"cell": cell.name, "responses": cell.responses, "scores": _scores(cell)}
            for cell in totals.cells
        ],
    }


def _scores(cell: utility.Cell) -> dict[str, Any] | None:
    return asdict(cell.scores) if cell.scores else None


def _floor(inputs: Inputs, judged: Judged, floor: Floor) -> dict[str, Any]:
    """A floor on evidence over the observed mix; it blocks only where its segment is gated."""
    cells = judged.coverage.floor_cells(floor)
    result = utility.judge("", cells, floor.min_utility, 1, levels_of(inputs.document))
    return {
        "key": where_key(floor.where),
        "where": floor.model_dump(mode="json")["where"],
        "floor": floor.min_utility,
        "utility": utility.index_of(cells),
        "low": result.low,
        "high": result.high,
        "n": result.n,
        "verdict": result.verdict,
        "message": result.message,
    }


def _cost(inputs: Inputs, judged: Judged) -> dict[str, Any]:
    totals, seconds = judged.cost_totals, inputs.observed.cost_seconds
    hourly = hourly_ledger_usd(inputs.document)
    return {
        "from": inputs.cost_start.isoformat(),
        "to": inputs.cost_end.isoformat(),
        "seconds": decimal_text(seconds),
        "usd": decimal_text(ledger_usd_between(inputs.document, seconds) + totals.cost_usd),
        "attempts_usd": decimal_text(totals.cost_usd),
        "successes": totals.successes,
        "requests": totals.of("eligible"),
        "ledger_usd_per_h": decimal_text(hourly),
        "ledger_usd_per_month": decimal_text(hourly * HOURS_PER_MONTH),
    }


def _finite(ms: float | None) -> float | None:
    """JSON has no infinity: a percentile that never completed has no number."""
    return None if ms is None or ms == float("inf") else ms

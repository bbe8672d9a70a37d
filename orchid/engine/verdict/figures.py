"""The figures of a judgement: what pages show and proposals quote. Unknown is null."""

from typing import Any

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import Floor
from orchid.engine.document.values import decimal_text
from orchid.engine.economics import HOURS_PER_MONTH, hourly_ledger_usd, ledger_usd_between
from orchid.engine.segments import where_key
from orchid.engine.verdict import utility
from orchid.engine.verdict.case import Case
from orchid.engine.verdict.gates import Judged, least_utility, levels_of, scopes
from orchid.engine.verdict.traffic import Totals


def figures_of(case: Case, judged: Judged) -> dict[str, Any]:
    """Every figure that the results rest on."""
    document = case.document
    return {
        "from": case.part_of("").start.isoformat(),
        "to": case.end.isoformat(),
        "whole": _scope_figures(judged.totals[""]),
        "segments": [
            {
                "name": scope.name,
                "key": where_key(scope.where),
                "from": case.part_of(scope.name).start.isoformat(),
                "least_utility": least_utility(document, scope),
                **_scope_figures(judged.totals[scope.name]),
            }
            for scope in scopes(document)[1:]
        ],
        "floors": [_floor(document, judged, floor) for floor in document.segments.floors],
        "cost": _cost(case, judged.cost_totals),
    }


def _scope_figures(totals: Totals) -> dict[str, Any]:
    eligible = totals.of("eligible")
    return {
        "populations": totals.counters,
        "successes": totals.successes,
        "attainment": totals.successes / eligible if eligible else None,
        "utility": utility.index_of(totals.cells),
        "p50_ms": _finite(totals.percentile_ms(0.5)),
        "p95_ms": _finite(totals.percentile_ms(0.95)),
        "teu": decimal_text(totals.teu),
        "mix": [
            {"cell": cell.name, "responses": cell.responses, "scores": _scores(cell)}
            for cell in totals.cells
        ],
    }


def _scores(cell: utility.Cell) -> dict[str, Any] | None:
    """Field by field, for `asdict` copies each of them, and there are hundreds."""
    scores = cell.scores
    names = ("n", "mean", "spread", "variation")
    return {name: getattr(scores, name) for name in names} if scores else None


def _floor(document: PolicyDocument, judged: Judged, floor: Floor) -> dict[str, Any]:
    """A floor on evidence over the observed mix; it blocks only where its segment is gated."""
    cells = judged.coverage.floor_cells(floor)
    result = utility.judge("", cells, floor.min_utility, 1, levels_of(document))
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


def _cost(case: Case, totals: Totals) -> dict[str, Any]:
    document, seconds = case.document, case.costs.seconds
    hourly = hourly_ledger_usd(document)
    return {
        "from": case.costs.start.isoformat(),
        "to": case.costs.end.isoformat(),
        "seconds": decimal_text(seconds),
        "usd": decimal_text(ledger_usd_between(document, seconds) + totals.cost_usd),
        "attempts_usd": decimal_text(totals.cost_usd),
        "successes": totals.successes,
        "requests": totals.of("eligible"),
        "ledger_usd_per_h": decimal_text(hourly),
        "ledger_usd_per_month": decimal_text(hourly * HOURS_PER_MONTH),
    }


def _finite(ms: float | None) -> float | None:
    """JSON has no infinity: a percentile that never completed has no number."""
    return None if ms is None or ms == float("inf") else ms

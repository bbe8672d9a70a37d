"""What the approvers of a proposal sign becomes the bounds of its own rollout.

A signed figure is a prediction with an uncertainty. Its bound is the unfavourable side of that: a
part of the room to its gate, by the policy in force, or as far as the same method was off on the
live generation where that is more. It never lies beyond the gate.
"""

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from gates.wording import MORE_IS_BETTER
from orchid.engine.document.values import decimal_text
from orchid.engine.histogram import bucket_of, upper_edge_ms
from orchid.engine.verdict.accepted import METRICS
from releases.models import Publication, Rollout

Bounds = dict[str, dict[str, dict[str, str]]]

#: Digits of a bound; it is rounded to its unfavourable side.
_PLACES = Decimal("1e-10")


def accepted_bounds(trade: Mapping[str, Any], room: float) -> Bounds:
    """The bounds of a trade by metric and gated segment; a figure with no room to its gate has
    none, for there the gate itself is the bound."""
    bounds: Bounds = {}
    for metric, segment, figure in _figures(trade):
        bound = _bound(metric, figure, Decimal(str(room)))
        if bound is not None:
            bounds.setdefault(metric, {})[segment] = {
                "bound": decimal_text(bound),
                "accepted": figure["after"],
                "side": "min" if metric in MORE_IS_BETTER else "max",
            }
    return bounds


def bounds_for(rollout: Rollout, publication: Publication) -> Bounds:
    """What the candidate's window under a publication is held to, in the form `Window.accepted`.

    The cost was accepted for a fleet that serves everyone, so it binds where it does.
    """
    signed: Bounds = rollout.proposal.trade.get("accepted", {})
    whole = publication.fraction >= 1.0
    return {
        metric: scopes
        for metric, scopes in signed.items()
        if whole or metric != "cost_per_success_usd"
    }


def _figures(trade: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every signed figure that is known: its metric, its segment, and what its bound rests on."""
    for row in trade["figures"]:
        if row["metric"] in METRICS and row["after"] is not None:
            off = _off(row["metric"], row["before"], row.get("of_live"))
            yield row["metric"], "", {"after": row["after"], "gate": row["bound"], "off": off}
    for row in trade["segments"]:
        if row["after"] is not None:
            after, floor = f"{row['after']:.6f}", f"{row['floor']}"
            yield "utility", row["name"], {"after": after, "gate": floor, "off": "0"}


def _off(metric: str, measured: str | None, told: str | None) -> str:
    """By how much the truth was worse than what the method told of the live generation."""
    if measured is None or told is None:
        return "0"
    worse = Decimal(measured) - Decimal(told)
    return decimal_text(max(Decimal(0), -worse if metric in MORE_IS_BETTER else worse))


def _bound(metric: str, figure: Mapping[str, str], room: Decimal) -> Decimal | None:
    after, gate = Decimal(figure["after"]), Decimal(figure["gate"])
    more = metric in MORE_IS_BETTER
    slack = after - gate if more else gate - after
    allowed = max(room * slack, Decimal(figure["off"]))
    if slack <= 0 or allowed >= slack:
        return None
    bound = after - allowed if more else after + allowed
    rounded = bound.quantize(_PLACES, ROUND_FLOOR if more else ROUND_CEILING)
    return _counted(rounded, gate) if metric == "completion_p95_ms" else rounded


def _counted(bound_ms: Decimal, gate_ms: Decimal) -> Decimal | None:
    """The next edge of the histogram's grid, where the share within is exact."""
    edge = Decimal(str(upper_edge_ms(bucket_of(float(bound_ms)))))
    return edge if edge < gate_ms else None

"""What two decisions about one request come to: how they differ, and what they are near to."""

from collections.abc import Iterator
from typing import Literal, get_args

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import INPUT_BUCKET
from orchid.engine.wire.shadow import ShadowRecord, Side

Difference = Literal["same", "refuses", "defers", "serves", "route", "bounds", "reason"]
#: From the incumbent to the candidate, the worst for who asks first.
DIFFERENCES: tuple[Difference, ...] = get_args(Difference)

Near = Literal["deadline", "long_context", "budget"]
NEAR: tuple[Near, ...] = get_args(Near)
#: This part of a deadline, a budget or a context window is used: what is left is little.
NEARLY_ALL = 0.8

_OF_DEADLINE = frozenset({"deadline_infeasible", "bounded_by_deadline"})
_OF_CONTEXT = frozenset({"context_window", "shape_over_limit"})
_OF_BUDGET = frozenset({"budget_exhausted", "retry_budget"})


def difference(incumbent: Side, candidate: Side) -> Difference:
    """What the candidate does that the incumbent doesn't.

    A longer or dearer answer by the same route is no difference: what it costs is for gates.
    """
    if candidate.action == "reject":
        return "refuses" if incumbent.action != "reject" else _by_reason(incumbent, candidate)
    if candidate.action == "defer":
        return "defers" if incumbent.action != "defer" else _by_reason(incumbent, candidate)
    if incumbent.action in ("reject", "defer"):
        return "serves"
    if incumbent.route != candidate.route:
        return "route"
    if "bound" in (incumbent.action, candidate.action) and _bound(incumbent) != _bound(candidate):
        return "bounds"
    return _by_reason(incumbent, candidate)


def _bound(side: Side) -> tuple[str, int | None]:
    return side.action, side.output_tokens


def _by_reason(incumbent: Side, candidate: Side) -> Difference:
    return "same" if incumbent.reason == candidate.reason else "reason"


def near(record: ShadowRecord, document: PolicyDocument) -> frozenset[Near]:
    """What the request was close to under either decision; `document` is the candidate's."""
    return frozenset(_near(record, document))


def _near(record: ShadowRecord, document: PolicyDocument) -> Iterator[Near]:
    sides = record.incumbent, record.candidate
    if any(_near_deadline(side, record.deadline_ms, document) for side in sides):
        yield "deadline"
    if is_long(record.input_tokens, sides, document):
        yield "long_context"
    if any(_near_budget(side) for side in sides):
        yield "budget"


def _near_deadline(side: Side, deadline_ms: float | None, document: PolicyDocument) -> bool:
    """Predicted to end, with the reserve after the model, in the last fifth of its time."""
    if _says(side, _OF_DEADLINE):
        return True
    if side.completion_ms is None or not deadline_ms:
        return False
    reserve_ms = document.contract.post_model_reserve_ms
    return side.completion_ms + reserve_ms >= NEARLY_ALL * deadline_ms


def is_long(input_tokens: int | None, sides: tuple[Side, ...], document: PolicyDocument) -> bool:
    """In the last of the input buckets, or over most of a route's window where there are none."""
    if any(_says(side, _OF_CONTEXT) for side in sides):
        return True
    if input_tokens is None:
        return False
    edges = document.segments.buckets.get(INPUT_BUCKET)
    if edges:
        return input_tokens > edges[-1]
    return any(_fills_window(side, input_tokens, document) for side in sides)


def _fills_window(side: Side, input_tokens: int, document: PolicyDocument) -> bool:
    model = document.models.get(side.route or "")
    window = model.context_tokens if model is not None else None
    return window is not None and input_tokens >= NEARLY_ALL * window


def _near_budget(side: Side) -> bool:
    return _says(side, _OF_BUDGET) or (side.budget_used or 0.0) >= NEARLY_ALL


def _says(side: Side, reasons: frozenset[str]) -> bool:
    return side.reason in reasons or not reasons.isdisjoint(side.fell_out.values())

"""The state machine of items that reopen a decision: a table, and the one landing of every move.

open ---------- acknowledge --> acknowledged
open, acknowledged -- resolve --> resolved      by a person, with a reason
open, acknowledged -- recover --> resolved      by the tick: the condition holds again
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import F

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict, NotFound
from gates.models import RevisitItem
from gates.states import RevisitState as S


class Move(StrEnum):
    """Everything that can be done to an item."""

    ACKNOWLEDGE = "acknowledge"
    RESOLVE = "resolve"
    RECOVER = "recover"


@dataclass(frozen=True)
class Rule:
    """Where a move leads, the permission that it needs, and whether it asks for a reason."""

    to: S
    needs: Permission
    asks_reason: bool = False


#: To resolve is a judgement, so it needs what machines and the tick never have; PUBLISH stands for
#: the tick itself, which may recover and nothing more.
MOVES: Mapping[tuple[S, Move], Rule] = {
    (S.OPEN, Move.ACKNOWLEDGE): Rule(S.ACKNOWLEDGED, Permission.PROPOSE),
    (S.OPEN, Move.RESOLVE): Rule(S.RESOLVED, Permission.APPROVE, asks_reason=True),
    (S.ACKNOWLEDGED, Move.RESOLVE): Rule(S.RESOLVED, Permission.APPROVE, asks_reason=True),
    (S.OPEN, Move.RECOVER): Rule(S.RESOLVED, Permission.PUBLISH),
    (S.ACKNOWLEDGED, Move.RECOVER): Rule(S.RESOLVED, Permission.PUBLISH),
}


def land(
    pk: int,
    move: Move,
    actor: Actor,
    now: datetime,
    *,
    reason: str = "",
    expected_version: int | None = None,
    columns: Mapping[str, Any] | None = None,
) -> RevisitItem:
    """Perform one move: lock, re-check, update, audit.

    Raises NotFound, Forbidden, BadInput (no reason) or Conflict (moved on, no such move).
    """
    with transaction.atomic():
        row = _locked(pk)
        rule = _rule(row, move, expected_version)
        require(actor, rule.needs, row.product.slug)
        if rule.asks_reason and not reason.strip():
            raise BadInput("reason_missing", "Say why this needs no other decision.")
        _update(row, rule, _columns(move, actor, now, reason) | dict(columns or {}))
        record(
            actor,
            f"revisit.{move}",
            product=row.product.slug,
            obj=("revisit", str(row.pk)),
            reason=reason,
            data={"from": row.state, "to": str(rule.to), "trigger": row.trigger},
        )
        row.refresh_from_db()
        return row


def allowed(row: RevisitItem, move: Move) -> bool:
    """Whether the table has this move for the item's state (for drawing buttons)."""
    return (row.status, move) in MOVES


def _locked(pk: int) -> RevisitItem:
    found = RevisitItem.objects.select_for_update(of=("self",)).select_related("product")
    row = found.filter(pk=pk).first()
    if row is None:
        raise NotFound("not_found", f"There is no revisit item {pk}.")
    return row


def _rule(row: RevisitItem, move: Move, expected_version: int | None) -> Rule:
    if expected_version is not None and row.version != expected_version:
        raise Conflict(
            "version_changed",
            f"The item is at version {row.version}, you acted on version {expected_version}. "
            "Look at it again before you repeat the move.",
        )
    rule = MOVES.get((row.status, move))
    if rule is None:
        raise Conflict(
            "move_not_allowed", f"An item that is {row.status.label.lower()} can't {move} any more."
        )
    return rule


def _columns(move: Move, actor: Actor, now: datetime, reason: str) -> dict[str, Any]:
    if move is Move.ACKNOWLEDGE:
        return {"acknowledged_by": actor.name}
    return {"resolved_by": actor.name, "resolved_at": now, "reason": reason.strip()}


def _update(row: RevisitItem, rule: Rule, columns: Mapping[str, Any]) -> None:
    """Write conditionally on what was checked; under the lock this can only lose by a fault."""
    seen = RevisitItem.objects.filter(pk=row.pk, version=row.version, state=row.state)
    if seen.update(state=rule.to, version=F("version") + 1, **columns) != 1:
        raise Conflict("version_changed", "The item changed under the lock.")

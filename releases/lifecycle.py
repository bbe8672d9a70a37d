"""The state machines of the room, each a table, and the one landing of every move."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from django.db import models, transaction

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import Conflict, NotFound
from policies.models import Product
from releases.models import Override, Proposal, Rollout, SecondLook
from releases.states import OverrideState as V
from releases.states import ProposalState as P
from releases.states import RolloutState as R
from releases.states import SecondLookState as S

Row = TypeVar("Row", Proposal, Rollout, SecondLook, Override)
AnyRow = Proposal | Rollout | SecondLook | Override


class Move(StrEnum):
    """Everything that can be done to a proposal, a rollout, a second look or an override."""

    SUBMIT = "submit"
    VOTE = "vote"
    ACCEPT = "accept"
    REJECT = "reject"
    REOPEN = "reopen"
    WITHDRAW = "withdraw"
    PUBLISH = "publish"
    SUPERSEDE = "supersede"
    RESCHEDULE = "reschedule"
    REBASE = "rebase"
    EXPIRE = "expire"
    EMERGENCY = "emergency"
    OPEN_STAGE = "open_stage"
    ADVANCE = "advance"
    APPROVE_STAGE = "approve_stage"
    HOLD_BACK = "hold_back"
    LET_GO = "let_go"
    COMPLETE = "complete"
    PAUSE = "pause"
    RESUME = "resume"
    ROLL_BACK = "rollback"
    CONFIRM = "confirm"
    REVERT = "revert"
    LAPSE = "lapse"


@dataclass(frozen=True)
class Rule:
    """Where a move leads and the permission it needs."""

    to: P | R | S | V
    needs: Permission


PROPOSAL_MOVES: dict[tuple[P, Move], Rule] = {
    (P.DRAFT, Move.SUBMIT): Rule(P.IN_REVIEW, Permission.PROPOSE),
    (P.IN_REVIEW, Move.VOTE): Rule(P.IN_REVIEW, Permission.APPROVE),
    (P.IN_REVIEW, Move.ACCEPT): Rule(P.APPROVED, Permission.APPROVE),
    (P.IN_REVIEW, Move.REJECT): Rule(P.REJECTED, Permission.APPROVE),
    (P.IN_REVIEW, Move.REOPEN): Rule(P.DRAFT, Permission.VIEW),
    (P.APPROVED, Move.REOPEN): Rule(P.DRAFT, Permission.VIEW),
    (P.DRAFT, Move.WITHDRAW): Rule(P.WITHDRAWN, Permission.PROPOSE),
    (P.IN_REVIEW, Move.WITHDRAW): Rule(P.WITHDRAWN, Permission.PROPOSE),
    (P.APPROVED, Move.WITHDRAW): Rule(P.WITHDRAWN, Permission.PROPOSE),
    (P.APPROVED, Move.PUBLISH): Rule(P.PUBLISHED, Permission.PUBLISH),
    (P.PUBLISHED, Move.SUPERSEDE): Rule(P.SUPERSEDED, Permission.PUBLISH),
    (P.DRAFT, Move.RESCHEDULE): Rule(P.DRAFT, Permission.PROPOSE),
    (P.IN_REVIEW, Move.RESCHEDULE): Rule(P.IN_REVIEW, Permission.PROPOSE),
    (P.APPROVED, Move.RESCHEDULE): Rule(P.IN_REVIEW, Permission.PROPOSE),
    (P.DRAFT, Move.REBASE): Rule(P.DRAFT, Permission.PROPOSE),
    (P.IN_REVIEW, Move.REBASE): Rule(P.DRAFT, Permission.PROPOSE),
    (P.APPROVED, Move.REBASE): Rule(P.DRAFT, Permission.PROPOSE),
    (P.IN_REVIEW, Move.EXPIRE): Rule(P.DRAFT, Permission.VIEW),
    (P.APPROVED, Move.EXPIRE): Rule(P.DRAFT, Permission.VIEW),
    (P.DRAFT, Move.EMERGENCY): Rule(P.PUBLISHED, Permission.EMERGENCY),
    (P.IN_REVIEW, Move.EMERGENCY): Rule(P.PUBLISHED, Permission.EMERGENCY),
    (P.APPROVED, Move.EMERGENCY): Rule(P.PUBLISHED, Permission.EMERGENCY),
}

ROLLOUT_MOVES: dict[tuple[R, Move], Rule] = {
    (R.RUNNING, Move.OPEN_STAGE): Rule(R.RUNNING, Permission.PUBLISH),
    (R.RUNNING, Move.APPROVE_STAGE): Rule(R.RUNNING, Permission.APPROVE),
    (R.RUNNING, Move.ADVANCE): Rule(R.RUNNING, Permission.PUBLISH),
    (R.RUNNING, Move.HOLD_BACK): Rule(R.RUNNING, Permission.ROLLBACK),
    (R.RUNNING, Move.LET_GO): Rule(R.RUNNING, Permission.PUBLISH),
    (R.RUNNING, Move.COMPLETE): Rule(R.COMPLETED, Permission.PUBLISH),
    (R.RUNNING, Move.PAUSE): Rule(R.PAUSED, Permission.ROLLBACK),
    (R.PAUSED, Move.RESUME): Rule(R.RUNNING, Permission.PUBLISH),
    (R.RUNNING, Move.ROLL_BACK): Rule(R.ROLLED_BACK, Permission.ROLLBACK),
    (R.PAUSED, Move.ROLL_BACK): Rule(R.ROLLED_BACK, Permission.ROLLBACK),
    (R.COMPLETED, Move.ROLL_BACK): Rule(R.ROLLED_BACK, Permission.ROLLBACK),
}

SECOND_LOOK_MOVES: dict[tuple[S, Move], Rule] = {
    (S.OPEN, Move.CONFIRM): Rule(S.CONFIRMED, Permission.APPROVE),
    (S.OPEN, Move.REVERT): Rule(S.REVERTED, Permission.APPROVE),
    (S.OPEN, Move.LAPSE): Rule(S.OVERDUE, Permission.VIEW),
    (S.OVERDUE, Move.CONFIRM): Rule(S.CONFIRMED, Permission.APPROVE),
    (S.OVERDUE, Move.REVERT): Rule(S.REVERTED, Permission.APPROVE),
}

OVERRIDE_MOVES: dict[tuple[V, Move], Rule] = {
    (V.ASKED, Move.CONFIRM): Rule(V.CONFIRMED, Permission.OVERRIDE),
}

MOVES: dict[type[AnyRow], dict[tuple[Any, Move], Rule]] = {
    Proposal: PROPOSAL_MOVES,
    Rollout: ROLLOUT_MOVES,
    SecondLook: SECOND_LOOK_MOVES,
    Override: OVERRIDE_MOVES,
}


@dataclass
class Change:
    """What a move writes besides the state: columns, the audit row's words, effects on commit."""

    columns: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    before: str = ""
    after: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    on_commit: list[Callable[[], None]] = field(default_factory=list)


def lock_product(product_id: int) -> Product:
    """Take the one lock that orders every decision of a product.

    Always taken first, before any row of the product, so that two moves can't wait for each other.
    It is the weak form: rows that merely refer to the product (ingest) never wait for a decision.
    """
    return Product.objects.select_for_update(no_key=True).get(pk=product_id)


def land(
    row: Row,
    move: Move,
    actor: Actor,
    decide: Callable[[Row], Change],
    *,
    expected_version: int | None = None,
) -> Row:
    """Perform one move: lock, re-check everything, update, audit, and leave effects for the commit.

    `decide` runs under the lock with the row as it is now. It checks what the move asks (base,
    digest, votes), writes rows that belong to the move, and raises a problem to refuse it.
    """
    with transaction.atomic():
        found = locked(type(row), lock_product(row.product_id), pk=row.pk)
        if not found:
            raise NotFound("not_found", f"There is no {type(row)._meta.verbose_name} {row.pk}.")
        _require(found[0], move, actor)  # before anything is said of the row
        _check_version(found[0], expected_version)
        _land(found[0], move, actor, decide)
    return found[0]


def locked(kind: type[Row], product: Product, **which: Any) -> list[Row]:
    """Rows as they are now, held until the transaction ends; it has the product's lock already."""
    rows: models.QuerySet[Row] = kind.objects.select_for_update(no_key=True, of=("self",))
    found = list(rows.filter(product=product, **which))
    for row in found:
        row.product = product
    return found


def land_locked(row: Row, move: Move, actor: Actor, decide: Callable[[Row], Change]) -> None:
    """`land` for a move that another one brings with it, on a row that `locked` gave.

    All is checked as ever. A refusal is one of the whole decision: nobody may go on after it.
    """
    _require(row, move, actor)
    _land(row, move, actor, decide)


def _require(row: AnyRow, move: Move, actor: Actor) -> None:
    for needed in needs_of(type(row), move):
        require(actor, needed, row.product.slug)


def _land(row: Row, move: Move, actor: Actor, decide: Callable[[Row], Change]) -> None:
    kind, name, before = type(row), name_of(type(row)), row.state
    rule = _rule(kind, row, move)
    change = decide(row)
    _update(kind, row, rule, change)
    record(
        actor,
        f"{name}.{move}",
        product=row.product.slug,
        obj=(name, str(row.pk)),
        before=change.before,
        after=change.after,
        reason=change.reason,
        data={"from": before, "to": str(rule.to), **change.data},
    )
    for effect in change.on_commit:
        # What is decided stands, whatever follows.
        transaction.on_commit(_by_name(effect), robust=True)


def _by_name(effect: Callable[[], None]) -> Callable[[], None]:
    """Django logs the name of an effect that failed, and fails itself where there is none."""

    def effect_of_a_move() -> None:
        effect()

    return effect_of_a_move


def name_of(kind: type[AnyRow]) -> str:
    """How the audit trail calls a kind of row: proposal, rollout, second_look."""
    return str(kind._meta.verbose_name).replace(" ", "_")


def needs_of(kind: type[AnyRow], move: Move) -> set[Permission]:
    """What a move asks for in any state; nothing for a move that such rows never make."""
    return {rule.needs for (_, one), rule in MOVES[kind].items() if one == move}


def allowed(row: AnyRow, move: Move) -> bool:
    """Say whether the table has this move for the row's state (for drawing buttons)."""
    return (row.status, move) in MOVES[type(row)]


def _check_version(row: AnyRow, expected: int | None) -> None:
    if expected is not None and row.version != expected:
        raise Conflict(
            "version_changed",
            f"The {type(row)._meta.verbose_name} is at version {row.version}, you acted on version "
            f"{expected}. Look at it again before you repeat the move.",
        )


def _rule(kind: type[AnyRow], row: AnyRow, move: Move) -> Rule:
    rule = MOVES[kind].get((row.status, move))
    if rule is None:
        label = row.status.label.lower()
        raise Conflict(
            "move_not_allowed",
            f"A {kind._meta.verbose_name} that is {label} has no move “{move.replace('_', ' ')}”.",
        )
    return rule


def _update(kind: type[AnyRow], row: AnyRow, rule: Rule, change: Change) -> None:
    """Write conditionally on what was checked; under the lock this can only lose by a fault."""
    columns = {"state": rule.to.value, "version": row.version + 1, **change.columns}
    seen = kind.objects.filter(pk=row.pk, version=row.version, state=row.state)
    if seen.update(**columns) != 1:
        raise Conflict("version_changed", "The row changed under the lock.")
    for name, value in columns.items():
        setattr(row, name, value)

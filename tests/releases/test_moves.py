"""Every pair of state and move that the tables don't have is refused, and by every door."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import TextChoices

from accounts.guard import SYSTEM_ACTOR, Permission
from accounts.models import AuditEvent, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant
from controlplane.errors import Conflict, Forbidden
from gates.models import Window
from policies.models import Product
from releases.lifecycle import MOVES, AnyRow, Change, Move, land, name_of, needs_of
from releases.models import Override, Proposal, Publication, Rollout, SecondLook
from releases.services import override
from releases.services.binding import bound_digest
from releases.services.reconcile import reconcile
from releases.services.second_look import open_second_look
from releases.states import (
    OverrideState,
    ProposalState,
    RolloutState,
    SecondLookKind,
    SecondLookState,
)
from tests.releases.desk import Desk
from tests.releases.releases_cast import actor, approved, edge, judged, later, published, says


def a_rollout(product: Product) -> Rollout:
    return published(product)


def a_look(product: Product) -> SecondLook:
    return open_second_look(
        actor("dee"),
        product,
        SecondLookKind.EMERGENCY_CAP,
        Publication.objects.get(),
        "one tenant takes it all",
        later(0),
        asked_of=["sre"],
    )


def an_override(product: Product) -> Override:
    """Asked for on a judgement of a rollout's first stage."""
    gateway = edge(product, "edge-1")
    rollout = published(product)
    says(gateway, rollout.publication)
    reconcile(product.pk, later(0))
    window = Window.objects.get(publication=rollout.publication.number)
    evaluation = judged(window, "inconclusive", later(5))
    return override.ask(actor("ben"), rollout, evaluation.pk, "the night is quiet")


#: How to come by a row of each machine, and what the database wants beside a later state.
MADE: dict[type[AnyRow], Callable[[Product], AnyRow]] = {
    Proposal: approved,
    Rollout: a_rollout,
    SecondLook: a_look,
    Override: an_override,
}
BESIDE: dict[type[AnyRow], Callable[[], dict[str, Any]]] = {
    SecondLook: lambda: {"looked_by": "cho", "looked_at": later(1), "words": "seen"},
    Override: lambda: {"confirmed_by": User.objects.get(username="dee"), "at": later(1)},
}
STATES: dict[type[AnyRow], type[TextChoices]] = {
    Proposal: ProposalState,
    Rollout: RolloutState,
    SecondLook: SecondLookState,
    Override: OverrideState,
}
MISSING = [
    (kind, state, [move for move in Move if (state, move) not in table])
    for kind, table in MOVES.items()
    for state in STATES[kind]
]


def in_state(row: AnyRow, state: str) -> AnyRow:
    """The row as if it had come there."""
    kind = type(row)
    if row.state != state:
        kind.objects.filter(pk=row.pk).update(state=state, **BESIDE.get(kind, dict)())
    row.refresh_from_db()
    return row


@pytest.mark.parametrize(
    ("kind", "state", "moves"),
    [pytest.param(*one, id=f"{name_of(one[0])} {one[1]}") for one in MISSING],
)
def test_every_machine_refuses_every_move_that_its_table_lacks(
    product: Product, kind: type[AnyRow], state: str, moves: list[Move]
) -> None:
    row = in_state(MADE[kind](product), state)
    grant(SYSTEM_ACTOR, User.objects.get(username="dee"), Role.PRODUCT_OWNER)  # may everything
    before = row.version
    for move in moves:
        _refused(row, move)
    row.refresh_from_db()
    assert (row.state, row.version) == (state, before)


@pytest.mark.parametrize(
    ("kind", "state"),
    [pytest.param(*one[:2], id=f"{name_of(one[0])} {one[1]}") for one in MISSING],
)
def test_who_may_not_is_told_so_and_nothing_of_the_state(
    product: Product, kind: type[AnyRow], state: str
) -> None:
    """In every state, and whatever version they name: 403 comes before any 409."""
    row: Any = in_state(MADE[kind](product), state)
    for move in Move:
        if not needs_of(kind, move) - {Permission.VIEW}:
            continue
        with pytest.raises(Forbidden) as refused:
            land(row, move, actor("eve"), _never, expected_version=999)
        assert refused.value.code == "forbidden"


def _never(fresh: AnyRow) -> Change:
    raise AssertionError("a move that is not in the table reached its decision")


def test_a_move_asks_for_one_permission_whatever_the_state() -> None:
    asked = {(kind, move): needs_of(kind, move) for kind in MOVES for move in Move}
    assert [one for one, needs in asked.items() if len(needs) > 1] == []


def test_every_move_and_every_state_is_of_some_table() -> None:
    """A move that no table has, or a state that none leads to, would be tried by nobody."""
    pairs = [pair for table in MOVES.values() for pair in table]
    assert {move for _, move in pairs} == set(Move)
    for kind, table in MOVES.items():
        reached = {rule.to for rule in table.values()} | {state for state, _ in table}
        assert reached == set(STATES[kind])


#: Where a machine does each move, and what it sends beside a reason.
DOORS: dict[tuple[type[AnyRow], Move], str] = {
    (Proposal, Move.SUBMIT): "proposals/{}/submit",
    (Proposal, Move.VOTE): "proposals/{}/vote",
    (Proposal, Move.WITHDRAW): "proposals/{}/withdraw",
    (Proposal, Move.PUBLISH): "proposals/{}/publish",
    (Proposal, Move.RESCHEDULE): "proposals/{}/schedule",
    (Proposal, Move.REBASE): "proposals/{}/rebase",
    (Proposal, Move.EMERGENCY): "proposals/{}/emergency",
    (Rollout, Move.ADVANCE): "rollouts/{}/advance",
    (Rollout, Move.APPROVE_STAGE): "rollouts/{}/approve",
    (Rollout, Move.HOLD_BACK): "rollouts/{}/hold-back",
    (Rollout, Move.LET_GO): "rollouts/{}/let-go",
    (Rollout, Move.PAUSE): "rollouts/{}/pause",
    (Rollout, Move.RESUME): "rollouts/{}/resume",
    (SecondLook, Move.CONFIRM): "second-looks/{}/confirm",
    (SecondLook, Move.REVERT): "second-looks/{}/revert",
    (Override, Move.CONFIRM): "overrides/{}/confirm",
}
SENT = {
    "reason": "because",
    "decision": "approve",
    "local": "2031-03-04T09:00",
    "zone": "Europe/Berlin",
    "segment": "assistant-premium",
    "digest": "sha256:" + "0" * 64,
}


@pytest.mark.parametrize(
    ("kind", "state", "moves"),
    [pytest.param(*one, id=f"{name_of(one[0])} {one[1]}") for one in MISSING],
)
def test_no_door_does_what_the_table_lacks(
    product: Product, kind: type[AnyRow], state: str, moves: list[Move]
) -> None:
    row = in_state(MADE[kind](product), state)
    version, desk = row.version, Desk("cho")
    grant(SYSTEM_ACTOR, User.objects.get(username="cho"), Role.SRE, EVERY_PRODUCT)
    grant(SYSTEM_ACTOR, User.objects.get(username="cho"), Role.ENGINEER, EVERY_PRODUCT)
    acts = AuditEvent.objects.count()
    bound = {"bound_digest": bound_digest(row)} if isinstance(row, Proposal) else {}
    for move in moves:
        if (kind, move) in DOORS:
            address = DOORS[kind, move].format(row.pk)
            status, told = desk.asks(address, **SENT, **bound, expected_version=version)
            assert status == 409, (move, told)
    row.refresh_from_db()
    assert (row.state, row.version, AuditEvent.objects.count()) == (state, version, acts)


@pytest.mark.parametrize(
    ("kind", "move"), [pytest.param(*one, id="-".join((name_of(one[0]), one[1]))) for one in DOORS]
)
def test_each_move_by_a_machine_says_which_state_it_rests_on(
    product: Product, kind: type[AnyRow], move: Move
) -> None:
    """By its version; a vote by the digest of all that was read (ADR 0042)."""
    row, acts = MADE[kind](product), AuditEvent.objects.count()
    sent = {name: value for name, value in SENT.items() if name != "digest"}
    status, told = Desk("ben").asks(DOORS[kind, move].format(row.pk), **sent)
    named = "bound_digest" if move is Move.VOTE else "expected_version"
    assert (status, named in json.dumps(told)) == (400, True), told
    assert AuditEvent.objects.count() == acts


def _refused(row: Any, move: Move) -> None:
    before = AuditEvent.objects.count()

    with pytest.raises(Conflict) as refused:
        land(row, move, actor("dee"), _never)
    assert refused.value.code == "move_not_allowed"
    assert AuditEvent.objects.count() == before

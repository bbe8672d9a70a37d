"""Several moves in one call: each lands or is refused by itself, through the same services."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts.guard import Actor, Permission, products_with
from accounts.roles import EVERY_PRODUCT
from controlplane.errors import Problem
from policies.models import Product
from releases.models import Proposal
from releases.selectors.seen import seen
from releases.services.propose import submit, withdraw
from releases.services.publish import publish
from releases.services.review import vote
from releases.states import Choice

MOST_AT_ONCE = 100


@dataclass(frozen=True)
class Outcome:
    """What became of one move: the proposal as it is now, or the problem that refused it."""

    proposal_id: int
    move: str
    proposal: Proposal | None = None
    problem: Problem | None = None


def move_each(actor: Actor, moves: list[Mapping[str, Any]]) -> list[Outcome]:
    """Take the moves in their order. One that is refused leaves the others as they are."""
    if transaction.get_connection().in_atomic_block:
        _lock_products(actor, [asked["proposal"] for asked in moves])
    return [_moved(actor, asked) for asked in moves]


def _lock_products(actor: Actor, proposals: list[int]) -> None:
    """All at once and in one order, where one transaction holds them to its end.

    Else two calls with the same products the other way round would wait for each other.
    """
    seen = products_with(actor, Permission.VIEW)
    named = Proposal.objects.filter(pk__in=proposals)
    if EVERY_PRODUCT not in seen:
        named = named.filter(product__slug__in=seen)
    mine = Product.objects.filter(pk__in=named.values("product"))
    list(mine.select_for_update(no_key=True).order_by("pk").values_list("pk"))


def _moved(actor: Actor, asked: Mapping[str, Any]) -> Outcome:
    pk, name = asked["proposal"], asked["move"]
    try:
        with transaction.atomic():
            row = seen(actor, Proposal.objects.select_related("product", "generation"), pk)
            return Outcome(pk, name, MOVES[name](actor, row, asked))
    except Problem as refused:
        return Outcome(pk, name, problem=refused)


def _submit(actor: Actor, row: Proposal, asked: Mapping[str, Any]) -> Proposal:
    return submit(actor, row, expected_version=asked["expected_version"])


def _withdraw(actor: Actor, row: Proposal, asked: Mapping[str, Any]) -> Proposal:
    return withdraw(actor, row, asked["reason"], expected_version=asked["expected_version"])


def _publish(actor: Actor, row: Proposal, asked: Mapping[str, Any]) -> Proposal:
    return publish(actor, row, expected_version=asked["expected_version"])


def _vote(choice: Choice) -> Callable[[Actor, Proposal, Mapping[str, Any]], Proposal]:
    def cast(actor: Actor, row: Proposal, asked: Mapping[str, Any]) -> Proposal:
        bound, version = asked["bound_digest"], asked["expected_version"]
        return vote(actor, row, choice, asked["reason"], bound, expected_version=version)

    return cast


MOVES: dict[str, Callable[[Actor, Proposal, Mapping[str, Any]], Proposal]] = {
    "submit": _submit,
    "withdraw": _withdraw,
    "publish": _publish,
    "approve": _vote(Choice.APPROVE),
    "reject": _vote(Choice.REJECT),
}
#: Those that rest on what was seen by its digest, and not on a version.
VOTES = ("approve", "reject")

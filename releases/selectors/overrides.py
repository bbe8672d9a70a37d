"""Overrides as later pages show them: who let which stage go on without a pass, and why."""

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Q, QuerySet

from accounts.guard import Actor, Permission, may
from gates.models import Evaluation
from policies.models import Product
from releases.models import Contributor, Override, Rollout
from releases.services.issue import latest
from releases.services.override import gone, judged_now, speaks_of, why_not
from releases.states import OPEN_ROLLOUTS, OverrideState, RolloutState


class Standing(StrEnum):
    """How an override stands now; only the first lets anything go on."""

    IN_FORCE = "in force"
    WAITS = "waits for a second person"
    WENT_ON = "the stage went on by it"
    LAPSED = "lapsed: the gates say something else"
    ALONE = "lapsed: who stood behind it may override no more"

    @property
    def badge(self) -> str:
        """The class of the badge that shows it."""
        return _BADGES[self]


_BADGES = {
    Standing.IN_FORCE: "badge badge--inconclusive",
    Standing.WAITS: "badge badge--accent",
    Standing.WENT_ON: "badge badge--inconclusive",
    Standing.LAPSED: "badge badge--no-data",
    Standing.ALONE: "badge badge--no-data",
}


@dataclass(frozen=True)
class OverrideFact:
    """One override and how it stands."""

    override: Override
    standing: Standing

    @property
    def stage(self) -> int:
        """Counted from 1, as pages do."""
        return self.override.stage_index + 1


@dataclass(frozen=True)
class OverrideMoves:
    """What one reader may do about the present judgement of a rollout."""

    evaluation: Evaluation | None
    may_ask: bool
    waiting: OverrideFact | None
    may_confirm: bool
    why_not_confirm: str


def overrides(product: Product) -> QuerySet[Override]:
    """All of a product, newest first, to be paged."""
    found = Override.objects.filter(product=product)
    return found.select_related(
        "asked_by", "confirmed_by", "evaluation", "rollout__proposal__generation", "product"
    )


def behind_what_is_live(product: Product) -> list[OverrideFact]:
    """Those of the open rollout, and of the one that brought what is live."""
    current = latest(product)
    if current is None:
        return []
    rollouts = Q(rollout__state__in=OPEN_ROLLOUTS) | Q(
        rollout__state=RolloutState.COMPLETED, rollout__candidate_digest=current.target_digest
    )
    return [override_fact(row) for row in overrides(product).filter(rollouts)]


def of_publication(product: Product, number: int) -> list[OverrideFact]:
    """Those of the stage that a publication began."""
    return [override_fact(row) for row in overrides(product).filter(publication=number)]


def of_proposal(proposal_id: int, product: Product) -> list[OverrideFact]:
    """Those of a proposal's rollout."""
    rows = overrides(product).filter(rollout__proposal=proposal_id)
    return [override_fact(row) for row in rows]


def override_fact(row: Override) -> OverrideFact:
    """An override with how it stands, by where its rollout and its judgement are now."""
    rollout = row.rollout
    if _went_on(row, rollout):
        return OverrideFact(row, Standing.WENT_ON)
    holds = judged_now(rollout) if rollout.state in OPEN_ROLLOUTS else None
    here = rollout.publication.number == row.publication
    if not here or holds is None or why_not(rollout, holds) or not speaks_of(row, holds):
        return OverrideFact(row, Standing.LAPSED)
    if gone(row):
        return OverrideFact(row, Standing.ALONE)
    confirmed = row.state == OverrideState.CONFIRMED
    return OverrideFact(row, Standing.IN_FORCE if confirmed else Standing.WAITS)


def moves_for(actor: Actor, rollout: Rollout) -> OverrideMoves:
    """What to draw: the same rules as the service asks again."""
    holds = judged_now(rollout)
    allowed = may(actor, Permission.OVERRIDE, rollout.product.slug) and actor.user is not None
    rows = overrides(rollout.product).filter(rollout=rollout)
    facts = [override_fact(row) for row in rows]
    waiting = next((fact for fact in facts if fact.standing is Standing.WAITS), None)
    in_force = any(fact.standing is Standing.IN_FORCE for fact in facts)
    open_ = not why_not(rollout, holds) and waiting is None and not in_force
    why = _why_not_confirm(actor, waiting) if waiting else ""
    return OverrideMoves(holds, allowed and open_, waiting, allowed and not why, why)


def _why_not_confirm(actor: Actor, fact: OverrideFact) -> str:
    row = fact.override
    if actor.user is None or row.asked_by_id == actor.user.pk:
        return "You asked for it; a second person has to confirm it."
    hands = Contributor.objects.filter(proposal=row.rollout.proposal_id, user=actor.user)
    return "You had a hand in this proposal; somebody else has to confirm it." * hands.exists()


def _went_on(row: Override, rollout: Rollout) -> bool:
    """Confirmed, and the next thing that its rollout did was to leave the stage behind."""
    if row.state != OverrideState.CONFIRMED:
        return False
    completed = rollout.state == RolloutState.COMPLETED
    return rollout.stage_index > row.stage_index or (
        completed and rollout.publication.number == row.publication
    )

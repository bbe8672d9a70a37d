"""Which moves on a rollout are drawn for whom: asked of the same guards that refuse them."""

from dataclasses import dataclass

from accounts.guard import Actor, Permission, may, roles_of
from controlplane.errors import Conflict
from policies.selectors import document_of
from releases.lifecycle import Move, allowed
from releases.models import Rollout
from releases.selectors.live import RolloutFact
from releases.selectors.progress import Lane, refuse_apart
from releases.services.quorum import why_not_vote
from releases.services.stage import asked_role


@dataclass(frozen=True)
class Moves:
    """Buttons, and the segments that a move on segments could name."""

    advance: bool = False
    pause: bool = False
    resume: bool = False
    approve: bool = False
    approve_of: tuple[Lane, ...] = ()
    why_not_approve: str = ""
    hold_back: tuple[str, ...] = ()
    let_go: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        acts = (self.advance, self.pause, self.resume, self.approve, self.hold_back, self.let_go)
        return bool(self.why_not_approve) or any(acts)


def moves_of(actor: Actor, fact: RolloutFact | None) -> Moves:
    """What this actor may do with the rollout that is open."""
    if fact is None or fact.progress is None:
        return Moves()
    row, found = fact.rollout, fact.progress
    slug = row.product.slug
    publishes, stops = may(actor, Permission.PUBLISH, slug), may(actor, Permission.ROLLBACK, slug)
    role = asked_role(found)
    mine = bool(role) and role in roles_of(actor, slug)
    why = why_not_vote(actor, row.proposal) if mine else ""
    apart = tuple(_may_stand_apart(row)) if allowed(row, Move.HOLD_BACK) else ()
    held = {lane.place.segment for lane in found.lanes if lane.place.held}
    moving = {lane.place.segment for lane in found.lanes} - held
    return Moves(
        advance=publishes and bool(found.ready) and allowed(row, Move.ADVANCE),
        pause=stops and allowed(row, Move.PAUSE),
        resume=publishes and not found.kept_by and allowed(row, Move.RESUME),
        approve=mine and not why,
        approve_of=found.lacks_a_yes if found.is_apart else (),
        why_not_approve=why,
        hold_back=tuple(name for name in apart if name not in held) if stops else (),
        let_go=tuple(name for name in apart if name not in moving) if publishes else (),
    )


def _may_stand_apart(row: Rollout) -> list[str]:
    """Gated segments that nothing keeps from having a stage of their own."""
    found = []
    for segment in document_of(row.candidate_digest).gates.segments:
        try:
            refuse_apart(row, segment.name)
        except Conflict:
            continue
        found.append(segment.name)
    return found

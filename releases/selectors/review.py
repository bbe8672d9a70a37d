"""Everything the proposal page shows: what changes, what it trades, who decides, and who may."""

from dataclasses import dataclass

from accounts.guard import Actor, Permission, may
from accounts.roles import Role
from accounts.selectors import grants_in
from gates.models import Evidence
from gates.selectors.evidence import standings
from orchid.engine.document.difference import Change
from policies.models import Revision
from policies.selectors import difference
from releases.lifecycle import Move, allowed
from releases.models import Contributor, Proposal, Vote
from releases.selectors.evidence import evidence_for
from releases.selectors.live import generation_of
from releases.services.binding import bound_digest, current_revision, moved
from releases.services.issue import latest
from releases.services.propose import blocking_findings
from releases.services.quorum import approvals, slot_for, who_could_fill, why_not_vote
from releases.states import WAITING_PROPOSALS, ProposalState


@dataclass(frozen=True)
class Slot:
    """One required approval: its role, who gave it, or who could."""

    role: str
    vote: Vote | None
    open_to: list[str]


@dataclass(frozen=True)
class Review:
    """A proposal as one reader sees it."""

    proposal: Proposal
    revision: Revision | None
    base: Revision | None
    changes: list[Change]
    findings: list[dict[str, str]]
    evidence: list[Evidence]
    superseded: list[tuple[Evidence, str]]
    slots: list[Slot]
    votes: list[Vote]
    contributors: list[Contributor]
    bound_digest: str
    moved: str
    why_not_vote: str
    role: str
    moves: frozenset[str]

    @property
    def may_vote(self) -> bool:
        return "vote" in self.moves and not self.why_not_vote

    @property
    def categories(self) -> list[tuple[str, list[Change]]]:
        return by_category(self.changes)


def by_category(changes: list[Change]) -> list[tuple[str, list[Change]]]:
    """The changes by what they touch, in the order a reviewer asks."""
    order = ("quality", "cost", "capacity", "none")
    found = [(name, [c for c in changes if c.category == name]) for name in order]
    return [(name, some) for name, some in found if some]


def review(actor: Actor, proposal: Proposal) -> Review:
    """Read a proposal for one reader."""
    drafted = proposal.state == ProposalState.DRAFT
    in_force, superseded = _evidence(proposal)
    return Review(
        proposal=proposal,
        revision=generation_of(proposal.product_id, proposal.revision_digest),
        base=generation_of(proposal.product_id, proposal.base_digest),
        changes=_changes(proposal),
        findings=_findings(proposal) if drafted else [],
        evidence=in_force,
        superseded=superseded,
        slots=_slots(proposal),
        votes=list(proposal.votes.select_related("user").order_by("round", "at")),
        contributors=list(proposal.contributors.select_related("user").order_by("id")),
        bound_digest=bound_digest(proposal),
        moved=moved(proposal) if proposal.state in WAITING_PROPOSALS else "",
        why_not_vote=_why_not_vote(actor, proposal),
        role=slot_for(actor, proposal),
        moves=_moves(actor, proposal),
    )


def _findings(proposal: Proposal) -> list[dict[str, str]]:
    live = latest(proposal.product)
    newest = current_revision(proposal.generation).digest
    return blocking_findings(proposal.product, newest, live.target_digest if live else "")


def _evidence(proposal: Proposal) -> tuple[list[Evidence], list[tuple[Evidence, str]]]:
    """What is in force on the models that the proposal pins, and the rest with what replaced it."""
    rows = list(evidence_for(proposal.product_id, proposal.revision_digest))
    replaced = standings(proposal.product, rows)
    in_force = [row for row in rows if row.pk not in replaced]
    return in_force, [(row, replaced[row.pk]) for row in rows if row.pk in replaced]


def _changes(proposal: Proposal) -> list[Change]:
    if not proposal.base_digest:
        return []
    return difference(proposal.base_digest, proposal.revision_digest)


def _slots(proposal: Proposal) -> list[Slot]:
    approved = approvals(proposal)
    given = {role: [v for v in approved if v.role == role] for role in Role.values}
    slots = []
    for role, count in sorted(proposal.required.items()):
        votes: list[Vote | None] = [*given.get(role, [])]
        padded = votes + [None] * max(0, count - len(votes))
        could = _could_vote(proposal, role) if None in padded else []
        slots += [Slot(Role(role).label, vote, [] if vote else could) for vote in padded]
    return slots


def _could_vote(proposal: Proposal, role: str) -> list[str]:
    """People whose approval would fill it, had no hand in the proposal and have not voted."""
    taken = set(proposal.contributors.values_list("user_id", flat=True))
    taken |= set(
        proposal.votes.filter(round=proposal.round, void=False).values_list("user_id", flat=True)
    )
    holders = grants_in(proposal.product.slug).filter(role__in=proposal.required)
    grants = holders.exclude(user_id__in=taken).order_by("user__username")
    people = list(dict.fromkeys(grant.user for grant in grants))
    return [user.name for user in who_could_fill(role, proposal, people)]


def _why_not_vote(actor: Actor, proposal: Proposal) -> str:
    """The first reason that holds, in words for the reader."""
    if proposal.state != ProposalState.IN_REVIEW:
        return ""
    why = why_not_vote(actor, proposal)
    if why:
        return why
    if not slot_for(actor, proposal):
        asked = " and ".join(Role(role).label for role in sorted(proposal.required))
        return f"It asks for {asked}; you hold none of these roles here."
    mine = proposal.votes.filter(user=actor.user, round=proposal.round).first()
    if mine:
        return f"You have voted in this round: {mine.get_decision_display().lower()}."
    return ""


def _moves(actor: Actor, proposal: Proposal) -> frozenset[str]:
    """The moves to draw buttons for, by the same table and guard that decide later."""
    needs = {
        Move.SUBMIT: Permission.PROPOSE,
        Move.VOTE: Permission.APPROVE,
        Move.WITHDRAW: Permission.PROPOSE,
        Move.PUBLISH: Permission.PUBLISH,
    }
    slug = proposal.product.slug
    return frozenset(
        str(move)
        for move, permission in needs.items()
        if allowed(proposal, move) and may(actor, permission, slug)
    )

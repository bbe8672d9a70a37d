"""Bring a proposal onto what became live since it was begun."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from accounts.guard import Actor
from controlplane.errors import Conflict
from orchid.engine.document.merge import Merged, Side, merge
from policies.models import Revision
from policies.selectors import given_of
from policies.services import revise
from releases.lifecycle import Change, Move, land
from releases.models import Proposal, Publication
from releases.services.binding import current_revision, void_votes
from releases.services.issue import latest
from releases.services.recorded_diff import compare_with_live
from releases.states import ProposalState


@dataclass(frozen=True)
class Rebase:
    """A proposal's text, what it came from and what is live, merged."""

    base: str
    mine: Revision
    live: Publication
    merged: Merged

    @property
    def theirs(self) -> str:
        return self.live.target_digest

    @property
    def is_due(self) -> bool:
        """Whether something else became live since the text was begun."""
        return self.base != self.theirs


def rebased(proposal: Proposal, choices: Mapping[str, Side] | None = None) -> Rebase:
    """What a rebase would make of the newest text; stores nothing. 409 while nothing is live."""
    live = latest(proposal.product)
    if live is None:
        raise Conflict("not_live", "Nothing is live yet that it could be based on.")
    mine = current_revision(proposal.generation)
    base = base_of(proposal, mine, live) or live.target_digest
    theirs = given_of(live.target_digest)
    return Rebase(base, mine, live, merge(given_of(base), mine.document, theirs, choices))


def base_of(proposal: Proposal, revision: Revision, live: Publication) -> str:
    """The content that a text rests on; empty when unknown.

    It is what the text was last submitted against or rebased on, else the nearest that it
    descends from and that was live: a draft of a draft takes nothing back that only the first said.
    """
    return proposal.base_digest or next(_live_before(revision, live), "")


def _live_before(revision: Revision, live: Publication) -> Iterator[str]:
    """Contents that a text came from and that were live, the nearest first.

    An earlier text of a generation counts where it is live, or where nothing else is known: one
    that was taken back and is mended under its own number shall bring itself again.
    """
    began: Revision | None = revision
    own: list[str] = []
    while began is not None:
        earlier = began.generation.revisions.filter(number__lt=began.number)
        own += earlier.order_by("-number").values_list("digest", flat=True)
        if live.target_digest in own:
            yield live.target_digest
        if began.base and _was_live(began.base.digest, live):
            yield began.base.digest
        began = began.base
    yield from (digest for digest in own if _was_live(digest, live))


def is_behind(proposal: Proposal, revision: Revision, live: Publication | None) -> bool:
    """Whether a text rests on something else than what is live, which it would take back unseen."""
    if live is None:
        return False
    return base_of(proposal, revision, live) not in ("", live.target_digest)


def refuse_behind(proposal: Proposal, revision: Revision, live: Publication | None) -> None:
    """Raise 409 `base_changed`: what is live would become the base of a text that never held it."""
    if is_behind(proposal, revision, live):
        raise Conflict(
            "base_changed",
            "Something else became live since this was begun, and this would take it back unseen. "
            f"Rebase it first, on its page or with `orchid proposal rebase {proposal.pk}`.",
        )


def _was_live(digest: str, live: Publication) -> bool:
    """A candidate that was stopped on its way was not."""
    if digest == live.target_digest:
        return True
    rows = Publication.objects.filter(product=live.product_id, incumbent_digest=digest)
    return rows.exists()


def rebase(
    actor: Actor,
    proposal: Proposal,
    choices: Mapping[str, Side] | None = None,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Proposal:
    """Store the merged text as the next revision; votes are void and a new round is needed.

    409 `rebase_collisions` names the places where both sides changed and nobody chose,
    `already_on_live` where nothing else became live, `nothing_changes` where nothing is left of it.
    """
    at = now or timezone.now()
    return land(
        proposal,
        Move.REBASE,
        actor,
        lambda row: _rebased(row, actor, choices or {}, at),
        expected_version=expected_version,
    )


def _rebased(row: Proposal, actor: Actor, choices: Mapping[str, Side], now: datetime) -> Change:
    found = rebased(row, choices)
    _check(found)
    revision = revise(actor, row.generation, found.merged.document, found.mine.number)
    if revision.digest == found.theirs:
        raise Conflict("nothing_changes", "All that it changes is live already; withdraw it.")
    why = f"It was rebased on publication {found.live.number}"
    voided = void_votes(row, why)
    compare_with_live(actor, row.product, revision.digest)
    began = row.state != ProposalState.DRAFT
    return Change(
        columns={
            "revision_digest": revision.digest,
            "base_publication": found.live.number,
            "base_digest": found.theirs,
            "round": row.round + began,
            "returned_why": why,
        },
        reason=why,
        before=found.mine.digest,
        after=revision.digest,
        data={"from": found.base, "onto": found.theirs, "voided_votes": voided, "at": str(now)},
    )


def _check(found: Rebase) -> None:
    if not found.is_due:
        raise Conflict("already_on_live", "Nothing else became live since it was begun.")
    left = found.merged.open
    if left:
        raise Conflict(
            "rebase_collisions",
            f"Both sides changed {', '.join(one.pointer for one in left)}. Choose mine or theirs "
            "for each.",
            collisions=[
                {"pointer": one.pointer, "base": one.base, "mine": one.mine, "theirs": one.theirs}
                for one in left
            ],
        )

"""Which two documents a proposal is about, for the decision diff on recorded requests."""

from dataclasses import dataclass

from gates.selectors import decision_diff_for
from gates.selectors.recorded_diff import Shown, shown
from releases.models import Proposal
from releases.services.binding import current_revision
from releases.services.issue import latest
from releases.states import ProposalState


@dataclass(frozen=True)
class Recorded:
    """The pair, empty where nothing is live to compare with, and its diff if one was asked."""

    base_digest: str
    digest: str
    diff: Shown | None

    @property
    def may_be_asked(self) -> bool:
        """A comparison that failed, found nothing or was never asked for can be had (again)."""
        if not self.base_digest or self.base_digest == self.digest:
            return False
        row = self.diff.row if self.diff else None
        return row is None or not (row.is_open or (row.is_done and row.requests))


def pair_of(proposal: Proposal) -> tuple[str, str]:
    """Base and proposed digest: a draft follows what is live and its newest text."""
    if proposal.state != ProposalState.DRAFT:
        return proposal.base_digest, proposal.revision_digest
    live = latest(proposal.product)
    return live.target_digest if live else "", current_revision(proposal.generation).digest


def recorded(proposal: Proposal) -> Recorded:
    base, digest = pair_of(proposal)
    row = decision_diff_for(proposal.product, base, digest) if base else None
    return Recorded(base, digest, shown(row) if row else None)

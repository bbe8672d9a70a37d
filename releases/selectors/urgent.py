"""What an emergency would change: a proposal's newest text against what is live, as a review shows
it."""

from dataclasses import dataclass
from functools import cached_property

from gates.selectors import decision_diff_for
from gates.selectors.recorded_diff import shown
from orchid.engine.document.difference import Change
from policies.models import Revision
from policies.selectors import difference
from releases.models import Proposal, Publication
from releases.selectors.live import generation_of
from releases.selectors.recorded_diff import Recorded
from releases.selectors.review import by_category
from releases.services.binding import current_revision
from releases.services.in_force import settled_digest
from releases.services.propose import blocking_findings


@dataclass(frozen=True)
class Urgent:
    """The text that would go to everyone, and the content that it would take the place of."""

    proposal: Proposal
    digest: str
    base_digest: str

    @cached_property
    def base(self) -> Revision | None:
        return generation_of(self.proposal.product_id, self.base_digest)

    @cached_property
    def changes(self) -> list[Change]:
        return difference(self.base_digest, self.digest)

    @property
    def categories(self) -> list[tuple[str, list[Change]]]:
        return by_category(self.changes)

    @cached_property
    def findings(self) -> list[dict[str, str]]:
        return blocking_findings(self.proposal.product, self.digest, self.base_digest)

    @property
    def recorded(self) -> Recorded:
        diff = decision_diff_for(self.proposal.product, self.base_digest, self.digest)
        return Recorded(self.base_digest, self.digest, shown(diff) if diff else None)


def urgent(proposal: Proposal, live: Publication) -> Urgent:
    """Read it as of now; the digests are what the act then has to name."""
    digest = current_revision(proposal.generation).digest
    return Urgent(proposal, digest, settled_digest(proposal.product, live))

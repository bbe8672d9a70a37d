"""The votes that carried what was published."""

from collections.abc import Sequence

from releases.models import Publication, Vote
from releases.states import DECIDED_PROPOSALS, Choice


def votes_behind(publications: Sequence[Publication]) -> dict[int, list[Vote]]:
    """By publication, the approvals of what it leads to, as long as they count."""
    found = Vote.objects.filter(
        proposal__product__in={one.product_id for one in publications},
        proposal__state__in=DECIDED_PROPOSALS,
        content_digest__in={one.target_digest for one in publications},
        decision=Choice.APPROVE,
        void=False,
    )
    votes = list(found.select_related("user", "proposal"))
    return {one.pk: [vote for vote in votes if _carried(vote, one)] for one in publications}


def _carried(vote: Vote, publication: Publication) -> bool:
    return (
        vote.proposal.product_id == publication.product_id
        and vote.content_digest == publication.target_digest
        and vote.at <= publication.published_at
    )

"""The rules that are in force: those of what is live, never those of what asks to be."""

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Approvals, Rollout
from policies.selectors import document_of
from releases.models import Proposal, Publication
from releases.services.issue import latest


def rollout_rules(proposal: Proposal) -> Rollout:
    """When and how something is published here."""
    return ruling(proposal).rollout


def approval_rules(proposal: Proposal) -> Approvals:
    """Who decides here, and for how long."""
    return ruling(proposal).approvals


def ruling(proposal: Proposal) -> PolicyDocument:
    """The document whose rules a proposal is under."""
    return ruling_of(latest(proposal.product), proposal)


def ruling_of(live: Publication | None, proposal: Proposal) -> PolicyDocument:
    """The same, for whoever has read what is live already."""
    return document_of(live.target_digest if live else proposal.revision_digest)

"""The rules that are in force: those of what is live, never those of what asks to be."""

from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Approvals, Rollout
from policies.selectors import document_of
from releases.models import Proposal
from releases.services.issue import latest


def rollout_rules(proposal: Proposal) -> Rollout:
    """When and how something is published here."""
    return _document(proposal).rollout


def approval_rules(proposal: Proposal) -> Approvals:
    """Who decides here, and for how long."""
    return _document(proposal).approvals


def _document(proposal: Proposal) -> PolicyDocument:
    live = latest(proposal.product)
    return document_of(live.target_digest if live else proposal.revision_digest)

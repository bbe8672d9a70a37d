"""The rules that are in force: those of what is live, never those of what asks to be."""

from dataclasses import dataclass
from datetime import datetime

from controlplane.errors import Conflict
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Approvals, Rollout
from orchid.engine.freezes import free_from, frozen_at
from orchid.engine.wall_clock import wall_at
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


@dataclass(frozen=True)
class Freeze:
    """That nothing is published now, in words, and from when on it is again."""

    said: str
    until: datetime


def freeze_of(rules: Rollout, now: datetime) -> Freeze | None:
    """The freeze that holds by these rules, those that meet taken together."""
    found = frozen_at(rules.freezes, now)
    if found is None:
        return None
    until, zone = free_from(rules.freezes, now), found.freeze.zone
    ends = f"{wall_at(until, zone):%Y-%m-%d %H:%M} {zone}"
    return Freeze(f"The freeze “{found.freeze.name}” keeps it until {ends}.", until)


def refuse_frozen(rules: Rollout, now: datetime) -> None:
    """Raise 409 `frozen` while a freeze holds; rollbacks and emergencies never ask."""
    freeze = freeze_of(rules, now)
    if freeze is not None:
        raise Conflict("frozen", freeze.said)

"""The rules that are in force: those of what is live, never those of what asks to be.

A candidate that is on its way asks to be: until its rollout is complete it rules nothing.
"""

from dataclasses import dataclass
from datetime import datetime

from controlplane.errors import Conflict
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Approvals, Rollout
from orchid.engine.freezes import free_from, frozen_at
from orchid.engine.wall_clock import wall_at
from policies.models import Product
from policies.selectors import document_of
from releases.models import Proposal, Publication
from releases.models import Rollout as RolloutRow
from releases.services.issue import latest
from releases.states import OPEN_ROLLOUTS


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
    if live is None:
        return document_of(proposal.revision_digest)
    return document_of(settled_digest(proposal.product, live))


def settled_digest(product: Product, live: Publication) -> str:
    """What is live apart from a candidate that is still on its way."""
    if live.candidate_digest is None:
        return live.incumbent_digest
    is_on_its_way = RolloutRow.objects.filter(product=product, state__in=OPEN_ROLLOUTS).exists()
    return live.incumbent_digest if is_on_its_way else live.candidate_digest


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

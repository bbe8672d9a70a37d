"""The part of the tick that looks after what waits: for votes, for its time, for a second look."""

import logging
from datetime import datetime, timedelta

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Problem
from policies.models import Product
from releases.models import Proposal, SecondLook
from releases.services.binding import reopen_if_moved
from releases.services.expiry import expire_if_due
from releases.services.hindrances import is_kept
from releases.services.in_force import rollout_rules
from releases.services.publish import publish
from releases.services.quorum import reopen_if_lapsed
from releases.services.second_look import lapse
from releases.states import WAITING_PROPOSALS, ProposalState, SecondLookState

logger = logging.getLogger(__name__)


def step(product: Product, now: datetime) -> None:
    """Void what moved, end what lasted too long, publish what is due, name what nobody looked at.

    The caller holds the product's lock.
    """
    waiting = Proposal.objects.filter(product=product, state__in=WAITING_PROPOSALS)
    for proposal in waiting.order_by("publish_at", "id"):
        if not _is_over(proposal, now):
            publish_if_due(proposal, now)
    due = SecondLook.objects.filter(product=product, state=SecondLookState.OPEN, due_at__lte=now)
    for look in due:
        lapse(look, now)


def is_missed(proposal: Proposal, now: datetime) -> bool:
    """Whether its time is so long gone that only a person publishes it, or sets another."""
    if proposal.publish_at is None:
        return False
    grace = timedelta(milliseconds=rollout_rules(proposal).schedule_grace)
    return proposal.publish_at + grace < now


def goes_by_itself(proposal: Proposal) -> bool:
    """Whether nobody has to publish it: it has a time, or the rules in force publish at once."""
    return proposal.publish_at is not None or rollout_rules(proposal).publish == "automatic"


def publish_if_due(proposal: Proposal, now: datetime) -> Proposal:
    """Publish what goes out by itself; what keeps it from that is asked again at every tick."""
    if _is_due(proposal, now) and not is_kept(proposal, now):
        try:
            return publish(SYSTEM_ACTOR, proposal, now=now)
        except Problem as refused:
            logger.info("proposal %s was kept from going out: %s", proposal.pk, refused.detail)
    return proposal


def _is_due(proposal: Proposal, now: datetime) -> bool:
    """Whether it is its time; a time that was missed is not, for that takes a person."""
    if proposal.state != ProposalState.APPROVED or not goes_by_itself(proposal):
        return False
    comes_later = proposal.publish_at is not None and now < proposal.publish_at
    return not comes_later and not is_missed(proposal, now)


def _is_over(proposal: Proposal, now: datetime) -> bool:
    """Whether its round ended just now, for whatever reason."""
    return reopen_if_moved(proposal) or reopen_if_lapsed(proposal) or expire_if_due(proposal, now)

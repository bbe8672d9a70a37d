"""The part of the tick that looks after what waits: for votes, for its time, for a second look."""

import logging
from datetime import datetime, timedelta

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Problem
from policies.models import Product
from releases.models import Proposal, SecondLook
from releases.services.binding import reopen_if_moved
from releases.services.expiry import expire_if_due
from releases.services.in_force import rollout_rules
from releases.services.publish import publish
from releases.services.second_look import lapse
from releases.states import WAITING_PROPOSALS, ProposalState, SecondLookState

logger = logging.getLogger(__name__)


def step(product: Product, now: datetime) -> None:
    """Void what moved, end what lasted too long, publish what is due, name what nobody looked at.

    The caller holds the product's lock.
    """
    waiting = Proposal.objects.filter(product=product, state__in=WAITING_PROPOSALS)
    for proposal in waiting.order_by("publish_at", "id"):
        if not reopen_if_moved(proposal) and not expire_if_due(proposal, now):
            _publish_if_due(proposal, now)
    due = SecondLook.objects.filter(product=product, state=SecondLookState.OPEN, due_at__lte=now)
    for look in due:
        lapse(look, now)


def is_missed(proposal: Proposal, now: datetime) -> bool:
    """Whether its time is so long gone that only a person publishes it, or sets another."""
    if proposal.publish_at is None:
        return False
    grace = timedelta(milliseconds=rollout_rules(proposal).schedule_grace)
    return proposal.publish_at + grace < now


def _publish_if_due(proposal: Proposal, now: datetime) -> None:
    """Publish at its time; what keeps it from that is asked again at every tick."""
    at = proposal.publish_at
    if proposal.state != ProposalState.APPROVED or at is None or now < at:
        return
    if is_missed(proposal, now):
        return
    try:
        publish(SYSTEM_ACTOR, proposal, now=now)
    except Problem as refused:
        logger.info("proposal %s waits beyond its time: %s", proposal.pk, refused.detail)

"""What an edge goes by once its bundle has expired: its policy says whether all, or the floor.

Expiry never closes an edge. It means that nobody has confirmed the bundle for as long as it may be
accepted: a candidate that nobody watches serves no one any more, and replicas are used as one that
nothing is known of.
"""

import logging

from orchid.edge.ask import to_ms
from orchid.edge.service import Service

log = logging.getLogger(__name__)


def follow_expiry(service: Service, now_ms: float) -> None:
    """Go down to the safe floor where the active bundle has expired and its policy asks for it.

    The next bundle, or the same one signed again, lifts it by being activated.
    """
    active = service.active
    if active is None or active.at_floor or now_ms < to_ms(active.bundle.expires_at):
        return
    if active.incumbent.document.rollout.on_expiry != "safe_floor":
        return
    number, expired = active.bundle.publication, active.bundle.expires_at.isoformat()
    log.warning("publication %s expired at %s: the safe floor holds", number, expired)
    service.activate(active.at_safe_floor())

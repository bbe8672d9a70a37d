"""Ask for the decision diff of a proposal before a reviewer wants to see it."""

from accounts.guard import Actor
from gates.services import ask_decision_diff
from policies.models import Product
from releases.services.issue import latest


def compare_with_live(actor: Actor, product: Product, digest: str) -> None:
    """Have a worker decide the recorded requests by what is live and by this document."""
    live = latest(product)
    if live is not None and live.target_digest != digest:
        ask_decision_diff(actor, product, live.target_digest, digest)

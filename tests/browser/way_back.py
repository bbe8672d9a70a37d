"""A rehearsed rollback and sequences that still run, for the pages that show them."""

from datetime import timedelta

from django.utils import timezone

from accounts.guard import person
from accounts.models import User
from policies.models import Product
from releases.models import Delivery, DrillAnswer, Edge, EdgeSeen, Publication
from releases.selectors.reconciliation import pool_facts
from releases.services.drill import start_drill
from releases.services.issue import latest
from releases.services.notices import gather
from releases.services.webhooks import create_webhook
from releases.states import DeliveryState, NoticeKind


def rehearsed(product: Product) -> None:
    """A drill that failed, one that passed, and what the edge still holds."""
    dee = person(User.objects.get(username="dee"))
    reason = "no_replica: no replica of pool six is ready here"
    for ago, state, why, after_ms in ((9, "refused", reason, 74), (3, "ready", "", 96)):
        now = timezone.now()
        EdgeSeen.objects.filter(edge__product=product).update(at=now)
        drill, _ = start_drill(dee, product, now=now - timedelta(minutes=ago))
        DrillAnswer.objects.create(
            drill=drill,
            edge=Edge.objects.get(product=product, name="edge-1"),
            state=state,
            reason=why,
            at=drill.started_at + timedelta(milliseconds=after_ms),
            fetch_ms=3.4,
            prepare_ms=21.8,
            replicas=2 if state == "ready" else 0,
        )
    fact = next(one for one in pool_facts(product) if one.digest == drained(product))
    EdgeSeen.objects.filter(edge__product=product).update(
        open_sequences={fact.digest: 5},
        open_manifests={fact.digest: {fact.manifests[0].digest: 5}},
    )


def told(product: Product) -> None:
    """What waits and failed, with an address that is told and one delivery that was given up."""
    ben = person(User.objects.get(username="ben"))
    User.objects.filter(username="dee").update(email="dee@example.com")
    create_webhook(ben, product, "https://hooks.example.com/orchid", NoticeKind.values)
    gather(product, timezone.now())
    Delivery.objects.filter(webhook__isnull=False).update(
        state=DeliveryState.GIVEN_UP, tries=10, status=503, words="Answered 503."
    )


def drained(product: Product) -> str:
    """The digest whose pool waits to be let go."""
    current = latest(product)
    assert isinstance(current, Publication)
    return current.incumbent_digest

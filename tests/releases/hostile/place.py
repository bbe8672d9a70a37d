"""A product with one of everything, and somebody who may do all of it."""

from django.test import Client
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Grant, User
from accounts.roles import PEOPLE
from accounts.services import grant
from gates.models import Window
from policies.models import Product
from releases.models import Delivery, Notice, SecondLook
from releases.services import override
from releases.services.binding import bound_digest
from releases.services.cap import cap_tenant
from releases.services.drill import start_drill
from releases.services.issue import latest
from releases.services.notices import gather
from releases.services.reconcile import reconcile
from releases.services.webhooks import create_webhook
from tests.people import PASSWORD
from tests.releases.hostile.doors import Place
from tests.releases.releases_cast import (
    SLUG,
    actor,
    edge,
    in_review,
    judged,
    later,
    published,
    says,
)

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]


def whole_place(product: Product) -> Place:
    """A second look, a rollout with an override, an edge, a drill, a webhook, a round of review."""
    webhook, _ = create_webhook(actor("ben"), product, "https://example.org/hook", ["breach"])
    cap_tenant(actor("dee"), product, "acme", "10s", {"max_teu": 400}, "acme takes it all")
    gateway = edge(product, "edge-1")
    says(gateway, latest(product))
    proposal = in_review(product, publish="manual")
    rollout = published(product, stages=STAGES)
    says(gateway, rollout.publication)
    reconcile(product.pk, timezone.now())
    window = Window.objects.get(publication=rollout.publication.number, cohort="candidate")
    judgement = judged(window, "inconclusive", later(25))
    asked = override.ask(actor("cho"), rollout, judgement.pk, "the night is quiet")
    drill, _ = start_drill(actor("dee"), product)
    gather(product, timezone.now())
    notice = Notice.objects.latest("pk")
    delivery = Delivery.objects.create(notice=notice, webhook=webhook, due_at=timezone.now())
    return Place(
        who_may_all("all"),
        {
            "proposals": proposal.pk,
            "rollouts": rollout.pk,
            "rollout": rollout.pk,
            "overrides": asked.pk,
            "second-looks": SecondLook.objects.latest("pk").pk,
            "drills": drill.pk,
            "webhooks": webhook.pk,
            "deliveries": delivery.pk,
        },
        {
            "slug": "mine",
            "name": "edge-2",
            "title": "A title",
            "reason": "so",
            "generation": proposal.generation.number,
            "product": SLUG,
            "expected_version": 1,
            "expected_revision": 0,
            "proposal": proposal.pk,
            "decision": "approve",
            "bound_digest": bound_digest(proposal),
            "digest": proposal.base_digest,
            "tenant": "acme",
            "window": "10s",
            "limit": "max_teu",
            "amount": 100,
            "max_teu": 100,
            "text": "A word",
            "sections": {"decision": "Because."},
            "credential": gateway.credential_id,
            "overlap_s": 3600,
            "overlap": 1,
            "kind": "ci",
            "lifetime": 30,
            "segment": "assistant-standard",
            "evaluation": judgement.pk,
            "local": f"{later(86_400):%Y-%m-%dT%H:%M}",
            "zone": "Europe/Berlin",
            "url": "https://example.org/another",
            "kinds": ["breach"],
            "email": "new@example.org",
            "role": "engineer",
            "username": "ana",
            "password": PASSWORD,
            "grant": Grant.objects.filter(user__username="ana").values_list("pk", flat=True)[0],
            "share": 2.0,
            "moves": [{"proposal": proposal.pk, "move": "withdraw"}],
        },
    )


def who_may_all(name: str, *slugs: str) -> Client:
    """Signed in, with every role; none alone may everything."""
    user = User.objects.create_user(name, f"{name}@example.org", PASSWORD)
    for role in PEOPLE:
        for slug in slugs or ("*",):
            grant(SYSTEM_ACTOR, user, role, slug)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client

"""The cast and the factories: ana writes, ben and cho review, dee is on call, eve reads."""

import copy
import pickle
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR, Actor, person
from accounts.models import Credential, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant, issue_credential
from gates.models import Evaluation, Watch, Window
from orchid.engine.document.parse import parse
from orchid.engine.verdict.action import decide
from orchid.engine.verdict.case import Subject
from orchid.engine.verdict.result import Verdict
from policies.models import Product, Revision
from policies.selectors import document_of
from policies.services import create_product, draft_generation
from releases.models import Activation, Edge, EdgeSeen, Proposal, Publication, Rollout
from releases.services.binding import bound_digest, current_revision
from releases.services.emergency import Seen, publish_in_emergency
from releases.services.propose import propose, submit
from releases.services.publish import bootstrap, publish
from releases.services.review import vote
from releases.states import Choice

EXAMPLES = Path(__file__).parents[2] / "examples" / "orchid-demo"
SLUG = "orchid-demo"
ROLES = {
    "ana": Role.ENGINEER,
    "ben": Role.PRODUCT_OWNER,
    "cho": Role.PRODUCT_OWNER,
    "dee": Role.SRE,
    "eve": Role.AUDITOR,
}


def cast() -> dict[str, User]:
    """Everyone, each with one role everywhere."""
    users = {}
    for name, role in ROLES.items():
        users[name] = User.objects.create_user(name)
        grant(SYSTEM_ACTOR, users[name], role, EVERY_PRODUCT)
    return users


def actor(name: str) -> Actor:
    return person(User.objects.get(username=name))


def document(number: int, **changes: Any) -> dict[str, Any]:
    """A shipped document; `stages=[...]` and other keys of `rollout` replace what it says.

    It asks for no evidence before a vote, which most tests have none of.
    """
    given: dict[str, Any] = pickle.loads(_shipped(number))
    given["rollout"].update(changes)
    given["approvals"]["evidence_required"] = []
    return given


@cache
def _shipped(number: int) -> bytes:
    """Read once, and a copy to each who asks: most tests ask several times."""
    return pickle.dumps(parse((EXAMPLES / f"generation-{number}.yaml").read_bytes(), "yaml"))


def live_product() -> Product:
    """A product whose generation 1 is publication 1."""
    product = create_product(SYSTEM_ACTOR, SLUG, "Demo", document=document(1))
    first = Revision.objects.get(generation__product=product)
    bootstrap(SYSTEM_ACTOR, product, first, "the beginning")
    return product


def live_with(**sections: dict[str, Any]) -> Product:
    """The same, where sections of its document say something more."""
    given = document(1)
    for name, changes in sections.items():
        given[name].update(changes)
    product = create_product(SYSTEM_ACTOR, SLUG, "Demo", document=given)
    bootstrap(SYSTEM_ACTOR, product, Revision.objects.get(), "the beginning")
    return product


def drafted(product: Product, author: str = "ana", **changes: Any) -> Proposal:
    """A draft for the content of generation 2, under the product's next number."""
    revision = draft_generation(actor(author), product, document(2, **changes), "Compact fallback")
    return propose(actor(author), product, revision.generation.number, "Serve cheaper", "it pays")


def in_review(product: Product, author: str = "ana", **changes: Any) -> Proposal:
    return submit(actor(author), drafted(product, author, **changes))


def approve(name: str, proposal: Proposal) -> Proposal:
    proposal.refresh_from_db()
    return vote(actor(name), proposal, Choice.APPROVE, "measured", bound_digest(proposal))


def approved(product: Product, **changes: Any) -> Proposal:
    """Ben for quality, dee for capacity."""
    proposal = in_review(product, **changes)
    approve("ben", proposal)
    return approve("dee", proposal)


def published(product: Product, **changes: Any) -> Rollout:
    publish(actor("dee"), approved(product, **changes))
    return Rollout.objects.latest("id")


def at_once(name: str, proposal: Proposal, reason: str = "now") -> Proposal:
    """Somebody on call publishes what the proposal says now."""
    seen = Seen(current_revision(proposal.generation).digest)
    return publish_in_emergency(actor(name), proposal, reason, seen)


def revised(proposal: Proposal, **changes: Any) -> Revision:
    """The author edits the generation after submitting it."""
    from policies.services import revise

    latest = current_revision(proposal.generation)
    given = {**copy.deepcopy(latest.document), **changes}
    return revise(actor("ana"), proposal.generation, given, latest.number)


def edge_token(name: str) -> tuple[Credential, str]:
    owner = User.objects.get(username="dee")
    return issue_credential(SYSTEM_ACTOR, kind="edge", name=name, product_slug=SLUG, owner=owner)


def edge(product: Product, name: str, share: float = 1.0) -> Edge:
    credential, _token = edge_token(name)
    return Edge.objects.create(
        product=product,
        name=name,
        credential=credential,
        share=share,
        registered_at=timezone.now(),
    )


def says(
    edge: Edge,
    publication: Publication | None,
    state: str = "active",
    reason: str = "",
    at: datetime | None = None,
    open_sequences: dict[str, int] | None = None,
) -> None:
    """What the edge answers to a publication, as the slim entry stores it."""
    assert publication is not None
    at = at or timezone.now()
    Activation.objects.create(
        edge=edge, publication=publication, state=state, reason=reason, at=at, reported_at=at
    )
    seen: dict[str, Any] = {"at": at, "reported_at": at, "open_sequences": open_sequences or {}}
    if state == "active":
        seen["active_publication"] = publication.number
    EdgeSeen.objects.update_or_create(edge=edge, defaults=seen)


def judged(window: Window, verdict: str, at: datetime) -> Evaluation:
    """An evaluation of a window that covers everything up to `at`, with the policy's action."""
    subject = Subject(
        window.product.slug,
        window.digest,
        window.publication,
        window.cohort,
        window.exposure,
        window.opens_at,
        window.closes_at,
        window.live_from,
        window.hold_until,
    )
    on_breach = document_of(window.digest).rollout.on_breach
    decided = decide(subject, at, Verdict(verdict), [], on_breach)
    evaluation = Evaluation.objects.create(
        window=window,
        watermark=at,
        inputs_digest=f"sha256:{at.isoformat()}{verdict}",
        evidence_digest="",
        evaluated_at=at,
        validity={"state": "ok", "checks": []},
        verdict=verdict,
        action=decided.action,
        why=decided.why,
        figures={},
    )
    Watch.objects.update_or_create(
        window=window, defaults={"evaluation": evaluation, "looked_at": at, "judged_to": at}
    )
    return evaluation


def later(seconds: float) -> datetime:
    return timezone.now() + timedelta(seconds=seconds)

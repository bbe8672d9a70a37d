"""The first page: how each product stands, and what waits for whoever is looking."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.guard import Actor, Permission, actor_of, may, products_with, roles_of
from accounts.roles import EVERY_PRODUCT
from controlplane.web import HtmxRequest, render_page
from gates.selectors import GatesNow, gates_now
from gates.selectors.revisit import waiting
from gates.states import VerdictState
from policies import selectors as policies
from policies.models import Product
from releases.models import Proposal
from releases.selectors.edges import Standing
from releases.selectors.live import Live, live
from releases.selectors.review import review
from releases.selectors.waiting import open_looks
from releases.services.second_look import why_not_look
from releases.states import ProposalState

NEEDS_A_LOOK = {Standing.REFUSED, Standing.SILENT}


@dataclass(frozen=True)
class Waiting:
    """Something that this person can move on: what, why, and where."""

    product: Product
    title: str
    reason: str
    url: str
    urgent: bool = False


@dataclass(frozen=True)
class Standings:
    """One product at a glance."""

    product: Product
    live: Live
    gates: GatesNow


@require_safe
@login_required
def dashboard(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    slugs = products_with(actor, Permission.VIEW)
    standings = [standing(product) for product in policies.products(slugs)]
    mine = [item for found in standings for item in waits_for(actor, found)]
    context = {
        "standings": standings,
        "waiting": sorted(mine, key=lambda item: not item.urgent),
        "may_create": may(actor, Permission.ADMINISTER, EVERY_PRODUCT),
        "ways_back": ways_back(actor, standings),
    }
    return render_page(request, "controlplane/dashboard.html", "controlplane/_now.html", context)


def ways_back(actor: Actor, standings: list[Standings]) -> set[str]:
    """The products, by slug, that this person may roll back from here."""
    here = products_with(actor, Permission.ROLLBACK)
    slugs = {
        found.product.slug
        for found in standings
        if found.live.current and found.live.current.publication.number > 1
    }
    return slugs if EVERY_PRODUCT in here else slugs & here


def waiting_for(actor: Actor) -> list[Waiting]:
    """All that this person, or the owner of this token, may move on; what is urgent first."""
    slugs = products_with(actor, Permission.VIEW)
    found = (standing(product) for product in policies.products(slugs))
    mine = [item for one in found for item in waits_for(actor, one)]
    return sorted(mine, key=lambda item: not item.urgent)


def standing(product: Product) -> Standings:
    return Standings(product, live(product), gates_now(product))


def waits_for(actor: Actor, found: Standings) -> Iterator[Waiting]:
    """What the actor may decide or mend in one product; harm comes before decisions."""
    if may(actor, Permission.ROLLBACK, found.product.slug):
        yield from _breaches(found)
        yield from _edges(found)
    yield from _revisits(actor, found)
    yield from _second_looks(actor, found)
    for proposal in found.live.waiting:
        if reason := _asked_of(actor, proposal):
            url = reverse("releases:proposal", args=[found.product.slug, proposal.pk])
            yield Waiting(found.product, proposal.title, reason, url)


def _breaches(found: Standings) -> Iterator[Waiting]:
    failed = [gate for gate in found.gates.gates if gate.worst.verdict == VerdictState.FAIL]
    if failed:
        names = ", ".join(gate.metric.label for gate in failed)
        url = reverse("gates:now", args=[found.product.slug])
        yield Waiting(
            found.product, f"{names} out of bounds", "See where and since when", url, True
        )


def _edges(found: Standings) -> Iterator[Waiting]:
    for edge in found.live.edges:
        if edge.standing in NEEDS_A_LOOK:
            url = reverse("releases:edges", args=[found.product.slug])
            title = f"Edge {edge.name} is {edge.standing}"
            yield Waiting(found.product, title, edge.reason or "It does not follow", url, True)


def _revisits(actor: Actor, found: Standings) -> Iterator[Waiting]:
    """What reopened a decision and waits for a role that the actor has here."""
    slug = found.product.slug
    for owner, count in waiting(found.product).by_owner.items():
        if owner in roles_of(actor, slug):
            url = f"{reverse('gates:revisits', args=[slug])}?state=waiting"
            title = f"{count} to look at again"
            yield Waiting(found.product, title, "A condition reopened the decision", url)


def _second_looks(actor: Actor, found: Standings) -> Iterator[Waiting]:
    """What somebody did alone and this person is to look at."""
    for look in open_looks(found.product):
        if not why_not_look(actor, look):
            url = reverse("releases:second-looks", args=[found.product.slug])
            title = look.get_kind_display()
            yield Waiting(found.product, title, "A second look is asked of you", url, True)


def _asked_of(actor: Actor, proposal: Proposal) -> str:
    """Why a proposal waits for this person; empty when it doesn't."""
    seen = review(actor, proposal)
    if seen.may_vote:
        return "Your approval is asked"
    if proposal.state == ProposalState.APPROVED and "publish" in seen.moves:
        return "Approved; waits to be published"
    if proposal.state == ProposalState.DRAFT and actor.owner == proposal.author_user:
        return "Your draft; waits to be sent for review"
    return ""

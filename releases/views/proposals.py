"""Pages on which a generation is proposed, reviewed and published."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.guard import Permission, may, page
from controlplane.errors import NotFound
from controlplane.web import paged
from gates.charts import frontier_plot
from gates.selectors import bounds, frontier
from policies.models import Generation
from policies.selectors import document_of
from policies.selectors import product as product_by_slug
from releases.forms import MoveForm, ProposeForm, VoteForm
from releases.models import Proposal
from releases.selectors.card import review_card
from releases.selectors.recorded_diff import recorded
from releases.selectors.review import review
from releases.selectors.trade import read_trade
from releases.selectors.waiting import in_state, waiting, zones
from releases.services import propose, publish
from releases.services.review import vote
from releases.states import OPEN_PROPOSALS, Choice, ProposalState
from releases.views.checks import checked


def found(slug: str, pk: int) -> Proposal:
    """The proposal, which must belong to the product of the address."""
    rows = Proposal.objects.select_related("product", "generation")
    proposal = rows.filter(pk=pk, product__slug=slug).first()
    if proposal is None:
        raise NotFound("not_found", f"{slug} has no proposal {pk}.")
    return proposal


@page(Permission.VIEW)
@require_safe
def proposals(request: HttpRequest, slug: str) -> HttpResponse:
    """Every proposal of a product, newest first, and the form that opens one."""
    product = product_by_slug(slug)
    state = request.GET.get("state", "")
    rows = in_state(Proposal.objects.filter(product=product), state).select_related("generation")
    context = {
        "product": product,
        "page": paged(rows, request.GET.get("cursor", "")),
        "states": ProposalState,
        "state": state,
        "generations": Generation.objects.filter(product=product).order_by("-number")[:50],
        "may_propose": may(request.actor, Permission.PROPOSE, slug),  # type: ignore[attr-defined]
    }
    return render(request, "releases/proposals.html", context)


@page(Permission.VIEW)
@require_safe
def proposal(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The whole case for and against one generation, and the vote."""
    row = found(slug, pk)
    may_propose = may(request.actor, Permission.PROPOSE, slug)  # type: ignore[attr-defined]
    context = {
        "product": row.product,
        "proposal": row,
        "review": review(request.actor, row),  # type: ignore[attr-defined]
        "trade": read_trade(row.trade),
        "card": review_card(row, timezone.now()),
        "recorded": recorded(row),
        "may_propose": may_propose,
        "may_declare": may_propose and row.state in OPEN_PROPOSALS,
        "waiting": waiting(request.actor, row, timezone.now()),  # type: ignore[attr-defined]
        "zones": zones(),
        "frontier": frontier_plot(
            frontier(row.product, row.trade), bounds(document_of(row.revision_digest))
        ),
    }
    return render(request, "releases/proposal.html", context)


@page(Permission.PROPOSE)
@require_POST
def open_proposal(request: HttpRequest, slug: str) -> HttpResponse:
    data = checked(ProposeForm(request.POST))
    row = propose.propose(
        request.actor,  # type: ignore[attr-defined]
        product_by_slug(slug),
        data["generation"],
        data["title"],
        data["rationale"],
    )
    return redirect("releases:proposal", slug=slug, pk=row.pk)


@page(Permission.PROPOSE)
@require_POST
def submit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(MoveForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    propose.submit(actor, found(slug, pk), expected_version=data["expected_version"])
    return _back(request, slug, pk, "Submitted for review.")


@page(Permission.PROPOSE)
@require_POST
def withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(MoveForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    version = data["expected_version"]
    propose.withdraw(actor, found(slug, pk), data["reason"], expected_version=version)
    return _back(request, slug, pk, "Withdrawn.")


@page(Permission.APPROVE)
@require_POST
def cast_vote(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(VoteForm(request.POST))
    row = vote(
        request.actor,  # type: ignore[attr-defined]
        found(slug, pk),
        Choice(data["decision"]),
        data["reason"],
        data["bound_digest"],
    )
    return _back(
        request, slug, pk, f"Your vote counts. The proposal is {row.status.label.lower()}."
    )


@page(Permission.PUBLISH)
@require_POST
def publish_proposal(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(MoveForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    publish.publish(actor, found(slug, pk), expected_version=data["expected_version"])
    messages.success(request, "Published. The edges are being told.")
    return redirect("releases:overview", slug=slug)


def _back(request: HttpRequest, slug: str, pk: int, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("releases:proposal", slug=slug, pk=pk)

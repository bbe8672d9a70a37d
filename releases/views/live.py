"""Pages on what is live: overview, publications, edges, rollout, rollback."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.guard import Permission, may, page
from controlplane.errors import NotFound
from controlplane.web import paged, render_page
from gates.selectors import gates_now
from ingest.selectors import engines
from policies.models import Generation, Product
from policies.selectors import product as product_by_slug
from releases.forms import FirstForm, MoveForm, ReasonForm
from releases.models import Publication, Rollout
from releases.selectors.edges import edge_facts
from releases.selectors.live import (
    closed_rollouts,
    live,
    open_rollout,
    pool_facts,
    publication_fact,
)
from releases.selectors.restore import restorable
from releases.services import rollout as moves
from releases.services.binding import current_revision
from releases.services.issue import latest
from releases.services.publish import bootstrap
from releases.services.rollback import roll_back
from releases.views.checks import checked


@page(Permission.VIEW)
@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """A product at a glance: what is live, is it good enough, what waits."""
    product = product_by_slug(slug)
    actor = request.actor  # type: ignore[attr-defined]
    context = {
        "product": product,
        "live": live(product),
        "gates_now": gates_now(product),
        "engines": engines(product),
        "may_roll_back": may(actor, Permission.ROLLBACK, slug),
        "may_publish": may(actor, Permission.PUBLISH, slug),
        "generations": Generation.objects.filter(product=product).order_by("number")[:50],
    }
    return render_page(request, "releases/overview.html", "releases/_overview.html", context)


@page(Permission.PUBLISH)
@require_POST
def first_publication(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring a product to life with its first generation."""
    product = product_by_slug(slug)
    data = checked(FirstForm(request.POST))
    generation = Generation.objects.filter(product=product, number=data["generation"]).first()
    if generation is None:
        raise NotFound("not_found", f"{slug} has no generation {data['generation']}.")
    actor = request.actor  # type: ignore[attr-defined]
    bootstrap(actor, product, current_revision(generation), data["reason"])
    messages.success(request, "Published. The product is live once an edge activates it.")
    return redirect("releases:overview", slug=slug)


@page(Permission.VIEW)
@require_safe
def publications(request: HttpRequest, slug: str) -> HttpResponse:
    """Every admission generation, newest first, and what each serves."""
    product = product_by_slug(slug)
    rows = Publication.objects.filter(product=product)
    page_of = paged(rows, request.GET.get("cursor", ""), field="issued_at")
    facts = [publication_fact(row) for row in page_of.rows]
    context = {"product": product, "facts": facts, "page": page_of}
    return render(request, "releases/publications.html", context)


@page(Permission.VIEW)
@require_safe
def edges(request: HttpRequest, slug: str) -> HttpResponse:
    """Wanted against active for every edge, and what still runs on which pool."""
    product = product_by_slug(slug)
    current = latest(product)
    context = {
        "product": product,
        "current": current,
        "edges": edge_facts(product, current),
        "pools": pool_facts(product),
    }
    return render_page(request, "releases/edges.html", "releases/_edges.html", context)


@page(Permission.VIEW)
@require_safe
def rollout(request: HttpRequest, slug: str) -> HttpResponse:
    """The rollout under way: stage, hold, gates, and what keeps it; and the ended ones."""
    product = product_by_slug(slug)
    actor = request.actor  # type: ignore[attr-defined]
    context = {
        "product": product,
        "fact": open_rollout(product, timezone.now()),
        "closed": closed_rollouts(product),
        "may_publish": may(actor, Permission.PUBLISH, slug),
        "may_roll_back": may(actor, Permission.ROLLBACK, slug),
    }
    return render_page(request, "releases/rollout.html", "releases/_rollout.html", context)


@page(Permission.ROLLBACK)
@require_POST
def pause(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(MoveForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    version = data["expected_version"]
    moves.pause(actor, _rollout(slug, pk), data["reason"], expected_version=version)
    return redirect("releases:rollout", slug=slug)


@page(Permission.PUBLISH)
@require_POST
def resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(MoveForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    version = data["expected_version"]
    moves.resume(actor, _rollout(slug, pk), data["reason"], expected_version=version)
    return redirect("releases:rollout", slug=slug)


@page(Permission.PUBLISH)
@require_POST
def advance(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(MoveForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    moves.advance(actor, _rollout(slug, pk), expected_version=data["expected_version"])
    return redirect("releases:rollout", slug=slug)


@page(Permission.ROLLBACK)
@require_http_methods(["GET", "HEAD", "POST"])
def rollback(request: HttpRequest, slug: str) -> HttpResponse:
    """What would be restored and whether it is ready; the second click does it."""
    product = product_by_slug(slug)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _rolled_back(request, product, form.cleaned_data["reason"])
    facts, why_not = restorable(product)
    context = {"product": product, "facts": facts, "why_not": why_not, "form": form}
    status = 400 if request.method == "POST" else 200
    return render(request, "releases/rollback.html", context, status=status)


def _rolled_back(request: HttpRequest, product: Product, reason: str) -> HttpResponse:
    actor = request.actor  # type: ignore[attr-defined]
    publication, made = roll_back(actor, product, reason)
    done = f"Publication {publication.number} restores the last good content."
    words = done if made else f"Publication {publication.number} had rolled back already."
    messages.success(request, words)
    return redirect("releases:edges", slug=product.slug)


def _rollout(slug: str, pk: int) -> Rollout:
    row = (
        Rollout.objects.select_related("product", "publication")
        .filter(pk=pk, product__slug=slug)
        .first()
    )
    if row is None:
        raise NotFound("not_found", f"{slug} has no rollout {pk}.")
    return row

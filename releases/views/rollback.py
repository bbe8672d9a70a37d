"""The way back: what it restores, whether it is ready, and a rehearsal of it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.guard import Permission, page
from controlplane.web import render_page
from policies.models import Product
from policies.selectors import product as product_by_slug
from releases.forms import RollbackForm
from releases.selectors.drill import recent_drills
from releases.selectors.restore import restorable
from releases.services.drill import start_drill
from releases.services.issue import latest
from releases.services.rollback import roll_back
from releases.states import DrillState


@page(Permission.ROLLBACK)
@require_http_methods(["GET", "HEAD", "POST"])
def rollback(request: HttpRequest, slug: str) -> HttpResponse:
    """What would be restored and whether it is ready; the second click does it."""
    product = product_by_slug(slug)
    form = RollbackForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        return _rolled_back(request, product, form)
    now = timezone.now()
    facts, why_not = restorable(product, now)
    if facts and not form.is_bound:
        form = RollbackForm(initial={"leaves": facts.current.target_digest})
    drills = recent_drills(product, now)
    context = {
        "product": product,
        "facts": facts,
        "why_not": why_not,
        "is_live": facts is not None or latest(product) is not None,
        "form": form,
        "drills": drills,
        "is_drilling": bool(drills) and drills[0].state == DrillState.RUNNING,
    }
    status = 400 if request.method == "POST" else 200
    page, partial = "releases/rollback.html", "releases/_readiness.html"
    return render_page(request, page, partial, context, status=status)


@page(Permission.ROLLBACK)
@require_POST
def drill(request: HttpRequest, slug: str) -> HttpResponse:
    """Rehearse it with every edge that is heard; nothing is published."""
    actor = request.actor  # type: ignore[attr-defined]
    row, made = start_drill(actor, product_by_slug(slug))
    words = (
        f"Drill {row.pk} asks {len(row.asked)} of the edges." if made else "A drill runs already."
    )
    messages.success(request, words)
    return redirect("releases:rollback", slug=slug)


def _rolled_back(request: HttpRequest, product: Product, form: RollbackForm) -> HttpResponse:
    actor = request.actor  # type: ignore[attr-defined]
    data = form.cleaned_data
    publication, made = roll_back(actor, product, data["reason"], leaves=data["leaves"] or None)
    done = f"Publication {publication.number} restores the last good content."
    words = done if made else f"Publication {publication.number} had rolled back already."
    messages.success(request, words)
    return redirect("releases:edges", slug=product.slug)

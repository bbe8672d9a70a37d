"""The way back: what it restores, whether it is ready, and a rehearsal of it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.guard import Permission, page
from controlplane.errors import BadInput
from controlplane.web import render_page, whole_number
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
    """What would be restored and whether it is ready; the second click does it.

    `?to=N` goes back to what publication N stood for, and else to the last good content.
    """
    product = product_by_slug(slug)
    form = RollbackForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        return _rolled_back(request, product, form)
    now, to = timezone.now(), _named(request)
    facts, why_not = restorable(product, now, to)
    if facts and not form.is_bound:
        form = RollbackForm(initial={"leaves": facts.current.target_digest, "to": to})
    drills = recent_drills(product, now)
    context = {
        "product": product,
        "facts": facts,
        "to": to,
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
    to, leaves = data["to"], data["leaves"] or None
    publication, made = roll_back(actor, product, data["reason"], to=to, leaves=leaves)
    what = "the last good content" if to is None else f"what publication {to} stood for"
    done = f"Publication {publication.number} restores {what}."
    words = done if made else f"Publication {publication.number} had rolled back already."
    messages.success(request, words)
    return redirect("releases:edges", slug=product.slug)


def _named(request: HttpRequest) -> int | None:
    """The publication that an address, or a form that comes back, names to go back to."""
    given = (request.POST if request.method == "POST" else request.GET).get("to", "")
    number = whole_number(given)
    if given and number is None and request.method != "POST":
        raise BadInput("bad_publication", "A publication is named by its number.")
    return number

"""The page of a rollout, and the moves on it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.guard import Permission, may, page
from controlplane.errors import NotFound
from controlplane.web import render_page
from policies.selectors import product as product_by_slug
from releases.forms import MoveForm, SegmentForm
from releases.models import Rollout
from releases.selectors.exposure import exposure, exposure_table
from releases.selectors.live import closed_rollouts, open_rollout
from releases.selectors.rollout_moves import moves_of
from releases.services import rollout as moves
from releases.services import stage
from releases.views.checks import checked


@page(Permission.VIEW)
@require_safe
def rollout(request: HttpRequest, slug: str) -> HttpResponse:
    """The rollout under way: stage, hold, gates, and what keeps it; and the ended ones."""
    product, now = product_by_slug(slug), timezone.now()
    actor = request.actor  # type: ignore[attr-defined]
    fact = open_rollout(product, now)
    context = {
        "product": product,
        "fact": fact,
        "exposure": exposure_table(exposure(fact.rollout.publication, now)) if fact else None,
        "closed": closed_rollouts(product),
        "may_publish": may(actor, Permission.PUBLISH, slug),
        "may_roll_back": may(actor, Permission.ROLLBACK, slug),
        "moves": moves_of(actor, fact),
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


@page(Permission.APPROVE)
@require_POST
def approve_stage(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(MoveForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    stage.approve_stage(
        actor,
        _rollout(slug, pk),
        data["reason"],
        of=request.POST.getlist("segments"),
        expected_version=data["expected_version"],
    )
    return redirect("releases:rollout", slug=slug)


@page(Permission.ROLLBACK)
@require_POST
def hold_back(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(SegmentForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    version, segment = data["expected_version"], data["segment"]
    row = _rollout(slug, pk)
    stage.hold_back(actor, row, segment, data["reason"], expected_version=version)
    return redirect("releases:rollout", slug=slug)


@page(Permission.PUBLISH)
@require_POST
def let_go(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(SegmentForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    version, segment = data["expected_version"], data["segment"]
    row = _rollout(slug, pk)
    stage.let_go(actor, row, segment, data["reason"], expected_version=version)
    return redirect("releases:rollout", slug=slug)


def _rollout(slug: str, pk: int) -> Rollout:
    row = (
        Rollout.objects.select_related("product", "publication")
        .filter(pk=pk, product__slug=slug)
        .first()
    )
    if row is None:
        raise NotFound("not_found", f"{slug} has no rollout {pk}.")
    return row

"""Pages around the votes: the time of a publication, what is said, and a rebase."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest
from policies.selectors import difference
from releases.forms import CommentForm, MoveForm, TimeForm
from releases.services import comments, rebase, schedule
from releases.views.checks import checked
from releases.views.proposals import found


@page(Permission.PROPOSE)
@require_POST
def set_time(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(TimeForm(request.POST))
    row = schedule.reschedule(
        request.actor,
        found(slug, pk),
        data["local"],
        data["zone"],
        data["which"],
        expected_version=data["expected_version"],
    )
    words = "Its time is set." if row.publish_at else "Its time is lifted."
    return _back(request, slug, pk, words)


@page(Permission.PROPOSE)
@require_POST
def say(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(CommentForm(request.POST))
    comments.comment(request.actor, found(slug, pk), data["text"])
    return _back(request, slug, pk, "Said.")


@require_http_methods(["GET", "HEAD", "POST"])
@page(Permission.PROPOSE)
def rebase_proposal(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """Three sides of a proposal: what it changes, what became live, and where they collide."""
    row = found(slug, pk)
    if request.method == "POST":
        version = checked(MoveForm(request.POST))["expected_version"]
        rebase.rebase(request.actor, row, _choices(request), expected_version=version)
        return _back(request, slug, pk, "Rebased on what is live. It needs a new round.")
    return render(request, "releases/rebase.html", _three_sides(row))


def _three_sides(row: Any) -> dict[str, Any]:
    view = rebase.rebased(row)
    return {
        "product": row.product,
        "proposal": row,
        "rebase": view,
        "theirs": difference(view.base, view.theirs),
        "mine": difference(view.base, view.mine.digest),
    }


def _choices(request: HttpRequest) -> dict[str, Any]:
    """The side of each collision, from fields that are named by its pointer."""
    prefix = "side:"
    return {
        name.removeprefix(prefix): value
        for name, value in request.POST.items()
        if name.startswith(prefix) and value in ("mine", "theirs")
    }


def _back(request: HttpRequest, slug: str, pk: int, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("releases:proposal", slug=slug, pk=pk)

"""The decision record of a proposal: read, edited, exported."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.guard import Permission, may, page, require
from releases.forms import RecordForm
from releases.selectors.record import record_of
from releases.services import decision_record
from releases.views.checks import checked
from releases.views.proposals import found


@page(Permission.VIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def record(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The record with its history; a POST stores the next revision."""
    row = found(slug, pk)
    actor = request.actor  # type: ignore[attr-defined]
    if request.method == "POST":
        require(actor, Permission.PROPOSE, slug)
        data = checked(RecordForm(request.POST))
        number = data.pop("expected_revision")
        decision_record.edit(actor, row, data, expected_revision=number)
        messages.success(request, "Stored as the next revision of the record.")
        return redirect("releases:record", slug=slug, pk=pk)
    written = record_of(row)
    context = {
        "product": row.product,
        "proposal": row,
        "record": written,
        "may_edit": written.may_be_edited and may(actor, Permission.PROPOSE, slug),
    }
    return render(request, "releases/record.html", context)


@page(Permission.VIEW)
@require_safe
def record_markdown(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    text = record_of(found(slug, pk)).as_markdown()
    return _file(HttpResponse(text, content_type="text/markdown; charset=utf-8"), pk, "md")


@page(Permission.VIEW)
@require_safe
def record_json(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    body = record_of(found(slug, pk)).as_json()
    return _file(JsonResponse(body, json_dumps_params={"indent": 2}), pk, "json")


def _file(response: HttpResponse, pk: int, kind: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="decision-record-{pk}.{kind}"'
    return response

"""Pages: the evidence behind the gates, what it covers, and pushing more."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.guard import Permission, may, page
from controlplane.errors import BadInput
from controlplane.web import HtmxRequest, paged, render_page, whole_number
from gates.forms import EvidenceFileForm, EvidenceFilter, EvidenceForm
from gates.selectors.coverage import matrix, supports
from gates.selectors.evidence import evidence_of, narrowed, pks_of, runs_of, standings
from gates.selectors.verdicts import live_window
from gates.services import push_evidence_set
from policies import selectors as policies
from policies.models import Product


@require_GET
@page(Permission.VIEW)
def evidence(request: HtmxRequest, slug: str) -> HttpResponse:
    """What evidence covers of a generation's traffic and fallback rules, and what it does not."""
    product = policies.product(slug)
    number, digest = _generation(product, request.GET.get("generation", ""))
    found = matrix(product, digest, timezone.now())
    context = {
        "product": product,
        "matrix": found,
        "number": number,
        "numbers": [one.number for one in policies.generations(product)[:20]],
        "pks": pks_of(product, (cell.item for cell in found.cells if cell.item)),
        "violated": pks_of(product, found.violated),
        "supports": supports(product),
        "pushes": product.evidence_pushes.order_by("-id")[:5],
        "may_push": may(request.actor, Permission.EVIDENCE_PUSH, slug),
    }
    return render_page(request, "gates/evidence.html", "gates/_evidence_matrix.html", context)


@require_GET
@page(Permission.VIEW)
def pieces(request: HtmxRequest, slug: str) -> HttpResponse:
    """Every piece of evidence that ever came in, newest first, narrowed as asked."""
    product, asked = policies.product(slug), request.GET.dict()
    cursor = asked.pop("cursor", "")
    found = paged(narrowed(product, asked), cursor)
    asked = {name: value for name, value in asked.items() if value}
    context = {
        "product": product,
        "page": found,
        "standings": standings(product, found.rows),
        "filters": EvidenceFilter(request.GET),
        "query": urlencode(asked) + "&" if asked else "",
    }
    return render_page(
        request, "gates/evidence_pieces.html", "gates/_evidence_pieces.html", context
    )


@require_GET
@page(Permission.VIEW)
def piece(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """One piece with everything that it declared, and every run of the same suite on its cell."""
    product = policies.product(slug)
    row = evidence_of(product, pk)
    runs = paged(runs_of(row), request.GET.get("cursor", ""), size=20)
    context = {
        "product": product,
        "piece": row,
        "page": runs,
        "standings": standings(product, [row, *runs.rows]),
    }
    return render_page(request, "gates/evidence_piece.html", "gates/_evidence_runs.html", context)


@require_http_methods(["GET", "POST"])
@page(Permission.EVIDENCE_PUSH)
def push(request: HtmxRequest, slug: str) -> HttpResponse:
    """Push one cell of evidence from the page."""
    form = EvidenceForm(request.POST or None)
    if form.is_valid() and _pushed(request, slug, form, form.payload()):
        return redirect("gates:evidence", slug=slug)
    return _forms(request, slug, {"form": form}, refused=form.is_bound)


@require_POST
@page(Permission.EVIDENCE_PUSH)
def upload(request: HtmxRequest, slug: str) -> HttpResponse:
    """Push the file that CI would push."""
    form = EvidenceFileForm(request.POST, request.FILES)
    if form.is_valid() and _pushed(request, slug, form, form.cleaned_data["file"]):
        return redirect("gates:evidence", slug=slug)
    return _forms(request, slug, {"file_form": form}, refused=True)


def _pushed(request: HtmxRequest, slug: str, form: Any, payload: dict[str, Any]) -> bool:
    """Whether it was stored; what is wrong with it goes to the form, by place."""
    try:
        stored = push_evidence_set(request.actor, policies.product(slug), payload)
    except BadInput as problem:
        form.add_error(None, problem.detail)
        for fault in problem.extra.get("errors", []):
            form.add_error(None, f"{fault['pointer']}: {fault['text']}")
        return False
    new = sum(created for _, created in stored)
    said = f"Evidence stored. {new} of {len(stored)} new." if new else "It was all here before."
    messages.success(request, said)
    return True


def _forms(
    request: HtmxRequest, slug: str, forms: dict[str, Any], *, refused: bool
) -> HttpResponse:
    context = {"form": EvidenceForm(), "file_form": EvidenceFileForm(), **forms}
    context["product"] = policies.product(slug)
    status = 400 if refused else 200
    return render_page(request, "gates/evidence_push.html", None, context, status=status)


def _generation(product: Product, asked: str) -> tuple[int, str]:
    """Number and digest of the generation asked for; else of what is live, else of the newest."""
    number = whole_number(asked)
    if number is not None:
        return number, str(policies.revision(policies.generation(product, number)).digest)
    window = live_window(product)
    if window:
        revision = policies.revision_by_digest(product, window.digest)
        return revision.generation.number, window.digest
    newest = policies.generations(product)[0]
    return newest.number, str(policies.revision(newest).digest)

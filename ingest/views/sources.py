"""Pages: where data comes from, bringing a file by hand, and what an engine's counters tell."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.errors import BadInput
from controlplane.web import HtmxRequest, render_page
from ingest import selectors
from ingest.forms.files import UploadForm
from ingest.models import Source
from ingest.selectors.dimensions import DimensionShown, dimensions
from ingest.selectors.sources import Refusal
from ingest.services.uploads import Brought, bring
from ingest.views.engine import mapping_context
from policies import selectors as policies
from policies.models import Product

#: Reasons that the page lists; the batches have the rest.
SHOWN_REFUSALS = 12


@require_GET
@page(Permission.VIEW)
def sources(request: HtmxRequest, slug: str) -> HttpResponse:
    return _sources(request, slug, UploadForm(slug=slug))


@require_POST
@page(Permission.INGEST)
def upload(request: HtmxRequest, slug: str) -> HttpResponse:
    """Bring one file; the same file again leads to the batch that it was."""
    form = UploadForm(request.POST, request.FILES, slug=slug)
    if not form.is_valid():
        return _sources(request, slug, form, status=400)
    file = form.cleaned_data["file"]
    try:
        brought = bring(policies.product(slug), form.source_key(), file.name, file.read())
    except BadInput as error:
        form.add_error("file", error.detail)
        return _sources(request, slug, form, status=400)
    return _brought(request, slug, brought)


def _brought(request: HtmxRequest, slug: str, brought: Brought) -> HttpResponse:
    if not brought.new:
        messages.info(request, "This file was here before; nothing is counted twice.")
    if brought.batch is not None:
        return redirect("ingest:batch", slug=slug, batch_pk=brought.batch.pk)
    if brought.new or brought.refused:
        told = f"{brought.spans:,} spans are new, {brought.refused:,} were refused."
        messages.success(request, told)
    return redirect("ingest:sources", slug=slug)


def _sources(request: HtmxRequest, slug: str, form: UploadForm, status: int = 200) -> HttpResponse:
    product = policies.product(slug)
    rows = selectors.sources(product)
    context = {
        "product": product,
        "rows": rows,
        "refused": refused(rows),
        "set_aside": selectors.set_aside(product),
        "inbox": selectors.inbox_state(product),
        "watermark": selectors.watermark(product),
        "form": form,
        "may_ingest": may(request.actor, Permission.INGEST, slug),
    }
    if not request.htmx:
        context |= _beside(request, slug)
    return render_page(
        request, "ingest/sources.html", "ingest/_sources.html", context, status=status
    )


def _beside(request: HtmxRequest, slug: str) -> dict[str, object]:
    """What stands on the page and is not refreshed with its list."""
    return {
        **mapping_context(request, slug),
        "dimensions": near_their_bound(policies.product(slug)),
        "site": request.build_absolute_uri("/").rstrip("/"),
        "may_administer": may(request.actor, Permission.ADMINISTER, slug),
    }


def near_their_bound(product: Product) -> list[DimensionShown]:
    """Dimensions of which something is counted as `other`, or that have little room left."""
    found = dimensions(product, timezone.now())
    return [one for one in found if one.others or one.kept >= 0.8 * one.most]


def refused(rows: list[selectors.SourceRow]) -> list[tuple[Source, Refusal]]:
    """Reasons of every source, the most frequent first."""
    found = [(row.source, one) for row in rows for one in row.refusals]
    return sorted(found, key=lambda pair: -pair[1].count)[:SHOWN_REFUSALS]


@require_GET
@page(Permission.VIEW)
def figures(request: HtmxRequest, slug: str, source_pk: int) -> HttpResponse:
    product = policies.product(slug)
    source = selectors.source_of(product, source_pk)
    context = {
        "product": product,
        "source": source,
        "figures": selectors.engine_figures(product, source.pk),
    }
    return render_page(request, "ingest/figures.html", None, context)

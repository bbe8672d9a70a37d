"""Pages: what became of each delivery, and trying one again."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.web import HtmxRequest, paged, render_page, whole_number
from ingest import selectors, services
from ingest.selectors.batch_counts import told_counts
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def batches(request: HtmxRequest, slug: str) -> HttpResponse:
    product = policies.product(slug)
    source_pk = whole_number(request.GET.get("source", ""))
    found = paged(
        selectors.batches(product, source_pk),
        request.GET.get("cursor", ""),
        field="received_at",
    )
    query = "" if source_pk is None else f"source={source_pk}&"
    context = {"product": product, "batches": found, "query": query}
    return render_page(request, "ingest/batches.html", "ingest/_batches.html", context)


@require_GET
@page(Permission.VIEW)
def batch(request: HtmxRequest, slug: str, batch_pk: int) -> HttpResponse:
    product = policies.product(slug)
    found = selectors.batch_of(product, pk=batch_pk)
    context = {
        "product": product,
        "batch": found,
        "counts": told_counts(found),
        "may_ingest": may(request.actor, Permission.INGEST, slug),
    }
    return render_page(request, "ingest/batch.html", "ingest/_batch.html", context)


@require_POST
@page(Permission.INGEST)
def retry(request: HtmxRequest, slug: str, batch_pk: int) -> HttpResponse:
    found = selectors.batch_of(policies.product(slug), pk=batch_pk)
    services.retry(request.actor, found)
    return redirect("ingest:batch", slug=slug, batch_pk=batch_pk)

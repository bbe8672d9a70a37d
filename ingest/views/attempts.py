"""Page: the executions that engines told of, with what gateway and client saw of each."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest, paged, render_page, whole_number
from ingest import selectors
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def attempts(request: HtmxRequest, slug: str) -> HttpResponse:
    product = policies.product(slug)
    source_pk = whole_number(request.GET.get("source", ""))
    found = paged(
        selectors.attempts(product, source_pk),
        request.GET.get("cursor", ""),
        field="received_at",
    )
    context: dict[str, Any] = {
        "product": product,
        "attempts": selectors.joined(product, found.rows),
        "pages": found,
        "query": "" if source_pk is None else f"source={source_pk}&",
        "times": selectors.model_times(product, source_pk),
        "source_pk": source_pk,
    }
    return render_page(request, "ingest/attempts.html", "ingest/_attempts.html", context)

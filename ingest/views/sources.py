"""Pages: where data comes from, bringing a file by hand, and what an engine's counters tell."""

import hashlib

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.web import HtmxRequest, render_page
from ingest import selectors, services
from ingest.forms import UploadForm
from policies import selectors as policies

GZIP_MAGIC = b"\x1f\x8b"


@require_GET
@page(Permission.VIEW)
def sources(request: HtmxRequest, slug: str) -> HttpResponse:
    return _sources(request, slug, UploadForm())


@require_POST
@page(Permission.INGEST)
def upload(request: HtmxRequest, slug: str) -> HttpResponse:
    """Bring one file; the same file again leads to the batch that it was."""
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _sources(request, slug, form, status=400)
    body = form.cleaned_data["file"].read()
    key = form.source_key()
    batch, created = services.accept(
        policies.product(slug),
        key,
        f"upload-{key.kind}-{hashlib.sha256(body).hexdigest()}",
        key.kind,
        body,
        encoding="gzip" if body.startswith(GZIP_MAGIC) else "",
    )
    if not created:
        messages.info(request, "This file was here before; nothing is counted twice.")
    return redirect("ingest:batch", slug=slug, batch_pk=batch.pk)


def _sources(request: HtmxRequest, slug: str, form: UploadForm, status: int = 200) -> HttpResponse:
    product = policies.product(slug)
    context = {
        "product": product,
        "rows": selectors.sources(product),
        "watermark": selectors.watermark(product),
        "form": form,
        "may_ingest": may(request.actor, Permission.INGEST, slug),
    }
    return render_page(
        request, "ingest/sources.html", "ingest/_sources.html", context, status=status
    )


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

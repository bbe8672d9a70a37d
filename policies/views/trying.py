"""One request put to a generation, on paper: nothing is sent and nothing is stored."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest, render_page, whole_number
from policies import selectors
from policies.sections.request import trial
from policies.views.few import one_of_few


@require_safe
@page(Permission.VIEW)
def try_request(request: HtmxRequest, slug: str, number: int) -> HttpResponse:
    """The decision and every constraint; the address holds the question, so it can be shared."""
    product = selectors.product(slug)
    found = selectors.generation(product, number)
    revision = selectors.revision(found, whole_number(request.GET.get("revision", "")))
    with one_of_few():
        tried = trial(selectors.document_of(revision.digest), request.GET.dict())
    context = {"product": product, "generation": found, "revision": revision, "trial": tried}
    return render_page(request, "policies/try.html", "policies/_trial.html", context)

"""A packet as a download."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest
from gates.selectors.evaluations import evaluation_of
from gates.selectors.packets import evaluation_as_packet
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def packet(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """Everything that an evaluation rests on, in one file to recompute it from."""
    evaluation = evaluation_of(policies.product(slug), pk)
    content = evaluation_as_packet(evaluation)
    response = HttpResponse(content, content_type="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}-evaluation-{pk}.json"'
    return response

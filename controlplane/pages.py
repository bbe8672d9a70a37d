"""Django's own error answers, in the product's words."""

import logging

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from controlplane.errors import Forbidden, NotFound, Problem, is_machine, respond
from controlplane.web import request_id

logger = logging.getLogger(__name__)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return respond(
        request, NotFound("not_found", "Check the address, or start from the dashboard.")
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return respond(request, Forbidden("forbidden", "An owner of the product can give you a role."))


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    detail = "This form is older than your session. Go back, reload the page and send it again."
    return respond(request, Forbidden("stale_form", detail, title="This form has grown stale"))


def server_error(request: HttpRequest) -> HttpResponse:
    """A fault of ours. Rendered without a query, since the database may be the fault."""
    problem = Problem(
        "internal", "It has been written down. Nothing you sent was half done: try again."
    )
    if is_machine(request):
        return respond(request, problem)
    context = {"problem": problem, "request_id": request_id.get()}
    return HttpResponse(render_to_string("500.html", context), status=500)

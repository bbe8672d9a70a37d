"""Django's own error answers, in the product's words."""

import logging
import sys

from django.http import HttpRequest, HttpResponse

from controlplane.errors import (
    BadInput,
    Forbidden,
    NotFound,
    Problem,
    Unavailable,
    from_exception,
    respond,
)

logger = logging.getLogger(__name__)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django itself can't read: another host's name, parts without end, too many fields."""
    problem = BadInput(
        "bad_request",
        "Its address, its encoding or its fields can't be read. Go back, reload and send it again.",
    )
    return respond(request, problem, alone=True)


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
    """A fault of ours, or a database that is away before a view was reached (Django calls this
    while it handles the exception)."""
    error = sys.exception()
    away = from_exception(error) if isinstance(error, Exception) else None
    if isinstance(away, Unavailable):
        return respond(request, away)
    problem = Problem(
        "internal", "It has been written down. Nothing you sent was half done: try again."
    )
    return respond(request, problem, alone=True)

"""One error shape. Services raise a Problem; machines get RFC 9457, people get a page."""

import random
from collections.abc import Mapping
from typing import Any

import psycopg
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from rest_framework import exceptions as drf
from rest_framework.response import Response

PROBLEM_JSON = "application/problem+json"
#: Below these only programs ask.
MACHINES = ("/api/", "/edge/", "/v1/")


class Problem(Exception):  # noqa: N818 - the noun of RFC 9457
    """Something a caller can act on. `code` is stable, `detail` says what to do next."""

    status = 500
    title = "Something went wrong here"

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        title: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail or code)
        self.code = code
        self.detail = detail
        self.title = title or type(self).title
        self.status = status or type(self).status
        self.headers = dict(headers or {})
        self.extra = extra


class BadInput(Problem):
    status = 400
    title = "This can't be read as it is"


class Unauthenticated(Problem):
    status = 401
    title = "Who is asking is not known"


class Forbidden(Problem):
    status = 403
    title = "Not with your role"


class NotFound(Problem):
    status = 404
    title = "Nothing here by that name"


class Conflict(Problem):
    status = 409
    title = "The state has moved on"


class TooLarge(Problem):
    status = 413
    title = "More than one delivery may hold"


class Invalid(Problem):
    """Readable, and against the rules: 422 with the findings in `errors`."""

    status = 422
    title = "This breaks a rule of the product"


class TooMany(Problem):
    status = 429
    title = "Too many at once"


class Unavailable(Problem):
    """A part that we rest on is away or full. Nothing was acknowledged, so ask again."""

    status = 503
    title = "Not at this moment"


def retry_after(least_s: int, most_s: int) -> dict[str, str]:
    """Retry-After, spread so that all who were turned away together don't come back together."""
    return {"Retry-After": str(random.randint(least_s, most_s))}  # noqa: S311 (no secret)


#: What PostgreSQL says when it can't serve or store now, by SQLSTATE: connections (08), a read-only
#: server (25006), resources such as disk and connections (53), being stopped or started (57P),
#: failing storage (58030), and a lock or a row that another took first (40, 55P03, 57014).
_AWAY = ("08", "25006", "40", "53", "55P03", "57", "58030")


_LOST = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)


def unavailable(error: Exception) -> Unavailable | None:
    """The answer to a database that is down, full or read-only; None when the fault is ours."""
    state: str | None = getattr(error.__cause__ or error, "sqlstate", None)
    # A connection that broke, or that was never had, has no state to tell.
    away = isinstance(error, _LOST) if state is None else state.startswith(_AWAY)
    if not away:
        return None
    return Unavailable(
        "storage_unavailable",
        "What it asks for can't be read or stored right now. Nothing was half done: send it again"
        " after the seconds of Retry-After.",
        headers=retry_after(2, 6),
    )


def problem_body(problem: Problem, instance: str) -> dict[str, Any]:
    """The members of an RFC 9457 document."""
    return {
        "type": f"urn:orchid:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": instance,
        "code": problem.code,
        **problem.extra,
    }


def is_machine(request: HttpRequest) -> bool:
    """Whether the answer is for a program: by address, since a program may send any Accept."""
    return request.path.startswith(MACHINES)


def respond(request: HttpRequest, problem: Problem, *, alone: bool = False) -> HttpResponse:
    """The problem in the form that suits who asked; people get a page that stands `alone` where
    the common one, which asks the database, may fail too."""
    if is_machine(request):
        body = problem_body(problem, request.path)
        return JsonResponse(
            body, status=problem.status, content_type=PROBLEM_JSON, headers=problem.headers
        )
    if alone or isinstance(problem, Unavailable):
        return standing_alone(problem)
    htmx = bool(getattr(request, "htmx", False))
    template = "components/_problem.html" if htmx else "error.html"
    return render(request, template, {"problem": problem}, status=problem.status)


def standing_alone(problem: Problem, template: str = "500.html") -> HttpResponse:
    """A page that asks the database nothing, since the database may be the fault."""
    from controlplane.web import request_id  # which imports this module

    context = {"problem": problem, "request_id": request_id.get()}
    body = render_to_string(template, context)
    return HttpResponse(body, status=problem.status, headers=problem.headers)


def from_exception(error: Exception) -> Problem | None:
    """The Problem that a framework's exception stands for; None for a fault of ours."""
    match error:
        case Problem():
            return error
        case DatabaseError() | InterfaceError() | psycopg.Error():
            return unavailable(error)
        case Http404():
            return NotFound("not_found", str(error) or "Check the address.")
        case PermissionDenied() | drf.PermissionDenied():
            return Forbidden("forbidden", str(error) or "Ask an owner of the product for a role.")
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return Unauthenticated("unauthenticated", str(error.detail))
        case drf.ValidationError():
            return BadInput("invalid_input", "Some fields need another value.", errors=error.detail)
        case drf.ParseError():
            return BadInput("not_json", str(error.detail))
        case drf.APIException():
            code = str(error.get_codes())
            return Problem(code, str(error.detail), title="Refused", status=error.status_code)
    return None


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook. None lets Django's own 500 handling log and answer."""
    problem = from_exception(error)
    if problem is None:
        return None
    body = problem_body(problem, context["request"].path)
    response = Response(
        body, status=problem.status, content_type=PROBLEM_JSON, headers=problem.headers
    )
    if isinstance(error, drf.APIException):
        for header, attribute in (("WWW-Authenticate", "auth_header"), ("Retry-After", "wait")):
            if value := getattr(error, attribute, None):
                response[header] = str(value)
    return response

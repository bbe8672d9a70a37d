"""What surrounds every request: its identity, its measure, and problems as pages."""

import re
import time
import uuid
from collections.abc import Callable
from typing import cast
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

from controlplane import errors, metrics
from controlplane.web import request_id

Next = Callable[[HttpRequest], HttpResponse]
ACCEPTABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def identity_of(given: str) -> str:
    """The caller's own id of its request if it is sound, else a new one."""
    return given if ACCEPTABLE_ID.fullmatch(given) else uuid.uuid4().hex


class RequestIdentity:
    """Take the caller's X-Request-Id if it is sound, else make one; answer with it."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        identity = identity_of(request.headers.get("X-Request-Id", ""))
        token = request_id.set(identity)
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response.headers["X-Request-Id"] = identity
        return response


class SoundAddress:
    """Refuse a NUL in an address or a cookie: nothing of ours has one, and the database takes none.

    A cookie can write one as an escape.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        query = unquote_to_bytes(request.META.get("QUERY_STRING", ""))
        if b"\x00" in query or "\x00" in request.path_info:
            return self._refused(request, "bad_address", "An address holds no NUL character.")
        if "\x00" in "".join(request.COOKIES.values()):
            return self._refused(request, "bad_cookie", "A cookie holds no NUL character.")
        return self.get_response(request)

    def _refused(self, request: HttpRequest, code: str, detail: str) -> HttpResponse:
        return errors.respond(request, errors.BadInput(code, detail), alone=True)


class Measured:
    """Count and time each request under the name of its route, never under its path."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        metrics.observe_request(request, response.status_code, time.perf_counter() - began)
        return response


class ProblemPages:
    """Turn a Problem raised by a view into its answer; keep signed-in pages out of caches."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # In this order: to ask who it is makes an answer vary by cookie, also a public one.
        if "Cache-Control" not in response.headers and request.user.is_authenticated:
            add_never_cache_headers(response)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        problem = errors.from_exception(error)
        # The framework's own exceptions have answers of their own.
        if isinstance(error, errors.Problem) or isinstance(problem, errors.Unavailable):
            return errors.respond(request, cast("errors.Problem", problem))
        return None

"""Generated from the URL table: no route answers somebody unknown, unless it is named here."""

from collections.abc import Iterator

import pytest
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.urls import URLPattern, URLResolver, get_resolver

from tests.people import Cast

OPEN = {
    "healthz",
    "readyz",
    "metrics",
    "login",
    "password-reset",
    "password-reset/sent",
    "password-reset/done",
    "password-reset/<uidb64>/<token>",
    "invitations/<str:secret>",
    "schemas/orchid.policy.v1.json",
}
SAMPLES = {
    "<slug:slug>": "orchid-demo",
    "<str:secret>": "guess",
    "<uuid:pk>": "00000000-0000-0000-0000-000000000000",
}
REFUSED = (301, 302, 401, 403, 404, 405)


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route


ROUTES = sorted(set(routes(get_resolver().url_patterns)) - OPEN)


def filled(route: str) -> str:
    for placeholder, sample in SAMPLES.items():
        route = route.replace(placeholder, sample)
    parts = [part if "<" not in part else "1" for part in route.split("/")]
    return "/" + "/".join(parts)


def content_type(route: str) -> str:
    return "application/json" if route.startswith("api/") else MULTIPART_CONTENT


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("route", ROUTES)
def test_somebody_unknown_gets_nothing(route: str, method: str) -> None:
    answer = getattr(Client(), method)(filled(route))
    assert answer.status_code in REFUSED, (route, answer.status_code)
    if answer.status_code in (301, 302):
        assert answer.headers["Location"].startswith("/login"), answer.headers["Location"]


@pytest.mark.parametrize("route", [route for route in ROUTES if "<slug:slug>" in route])
def test_somebody_without_a_role_finds_no_product(cast: Cast, route: str) -> None:
    browser = cast.browser("sam")
    assert browser.get(filled(route)).status_code in (403, 404, 405)
    # 400: some look at the body before the product; either way the answer tells nothing of it.
    answer = browser.post(filled(route), {}, content_type(route))
    assert answer.status_code in (400, 403, 404, 405)

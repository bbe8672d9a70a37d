"""Whatever somebody who may do everything sends to whichever route: never a 5xx."""

import base64
import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.services import grant
from tests.accounts.routes import ROUTES as EVERY_ROUTE
from tests.releases.releases_cast import SLUG, cast, in_review, live_product

HUGE = "9" * 5000
NUL = "a\x00b"


def cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


# No route takes two of them, so that one query tries them all.
NUMBERS = ("source", "publication", "generation", "revision", "base")
#: The ends of the calendar, where neither an offset nor an hour more can be counted.
SPANS = [
    ("9999-12-31T00:00Z", "9999-12-31T01:00Z"),
    ("9999-12-31T23:00-14:00", "9999-12-31T23:59-14:00"),
    ("0001-01-01T00:00+14:00", "0001-01-02T00:00Z"),
    ("0001-01-01T00:00Z", "0001-01-02T00:00Z"),
    ("1969-12-31T00:00Z", "1970-01-02T00:00Z"),
]
QUERIES = [
    *({"from": start, "to": end, "until": start} for start, end in SPANS),
    {"product": NUL},
    dict.fromkeys(("source", "cursor", "actor", "text", "next", "kind"), NUL),
    dict.fromkeys(("what_if", "at", "class", "load", "digest", "base_digest"), HUGE),
    dict.fromkeys(("what_if", "at", "load", "deadline_in_ms"), "1e999") | {"class": "x"},
    *(dict.fromkeys(NUMBERS, written) for written in (HUGE, "9" * 20, "²")),
    {"kind": "triton_trace", "anchor_monotonic_ns": HUGE, "anchor_unix_ns": HUGE},
    {"cursor": cursor('["2026-01-01T00:00:00+00:00", 1e999]')},
    {"cursor": cursor('["2026-01-01", 1]')},
    {"cursor": cursor('["0001-01-01T00:00:00+14:00", 1]')},
    {"cursor": cursor('["2026-01-01T00:00:00+00:00", ' + "9" * 25 + "]")},
    {"cursor": cursor("[" * 3000)},
    {"cursor": "é"},
]
BODIES = [
    b"",
    b"{",
    b'{"a":' * 3000 + b"1" + b"}" * 3000,
    b"\xff\xfe",
    b'{"a": NaN}',
    b'{"a": 1e999}',
    b'{"a": "\\u0000"}',
    b'{"\\ud800": 1}',
    b'{"a": ' + b"9" * 5000 + b"}",
    b"[1]",
    b"null",
]
NAMES = [
    *("slug", "name", "description", "title", "document", "base", "generation", "rationale"),
    *("product", "expected_version", "reason", "decision", "bound_digest", "to", "items", "kind"),
    *("expected_revision", "suite", "suite_version", "route", "manifest", "digest", "where", "n"),
    *("mean", "spread", "violations", "store", "username", "password", "email", "role", "source"),
    *("base_digest", "credential", "server_run", "anchor_unix_ns", "resourceSpans"),
]
#: What a model server is changed by, which is the one thing that takes a PATCH.
WISHED = [
    *("http_url", "grpc_url", "metrics_url", "protocol", "pool", "poll_every_s", "warm_up"),
    *("trace_rate", "candidate_trace_rate"),
]
VALUES: list[Any] = [HUGE, NUL, "²", "NaN", 10**30, -1, 1e308, [], {}, [[["x"]]], None, True]
# Not ready is an honest 503; signing out would end the attack; the schema takes no input.
LEFT_OUT = {"readyz", "logout", "api/schema"}


ROUTES = [route for route in EVERY_ROUTE if route not in LEFT_OUT]


def filled(route: str, number: str = "1", text: str = "x") -> str:
    parts = route.replace("<slug:slug>", SLUG).split("/")
    numbers = [number if part.startswith("<int:") else part for part in parts]
    return "/" + "/".join(text if part.startswith("<") else part for part in numbers)


@pytest.fixture
def browser(db: None, settings: Settings, tmp_path: Any) -> Client:
    """Somebody with every role of a product that is live and has a proposal in review."""
    settings.KEYS_DIR = tmp_path / "keys"
    cast()
    everything = User.objects.create_user("all")
    for role in ("product_owner", "engineer", "sre", "auditor"):
        grant(SYSTEM_ACTOR, everything, role)
    in_review(live_product())
    client = Client(raise_request_exception=False)
    client.force_login(everything)
    return client


def to(route: str) -> str:
    return filled(route) + (f"?product={SLUG}" if route.startswith(("api/", "v1/")) else "")


def test_no_query_breaks_a_route(browser: Client) -> None:
    for route in ROUTES:
        if browser.get(filled(route)).status_code == 405:
            continue
        for query in QUERIES:
            asked = {"product": SLUG, **query} if route.startswith("api/") else query
            answer = browser.get(filled(route), asked)
            assert answer.status_code < 500, (route, query)


PLAIN: dict[str, str] = {}


@pytest.mark.parametrize(
    "part", [PLAIN, {"number": "0"}, {"number": "9" * 30}, {"text": "a%00b"}, {"text": "%ff"}]
)
def test_no_address_breaks_a_route(browser: Client, part: dict[str, str]) -> None:
    for route in ROUTES:
        path = filled(route, **part)
        if part != PLAIN and path == filled(route):
            continue  # it has no such part, and is asked as it is
        assert browser.get(path).status_code < 500, path
        assert browser.post(path).status_code < 500, path


def test_no_body_breaks_a_route(browser: Client) -> None:
    for route in ROUTES:
        is_machine = route.startswith(("api/", "v1/"))
        media = "application/json" if is_machine else "multipart/form-data; boundary=x"
        for number, body in enumerate(BODIES if is_machine else BODIES[:4]):
            headers = {"Batch-Id": f"b{number}"}
            headers |= {"Idempotency-Key": f"{route}-{number}"} if number % 2 else {}
            answer = browser.post(to(route), body, media, headers=headers)
            assert answer.status_code < 500, (route, media, body[:40])


def test_no_field_breaks_a_route(browser: Client) -> None:
    for route in ROUTES:
        for value in VALUES:
            if route.startswith(("api/", "v1/")):
                body = json.dumps(dict.fromkeys(NAMES, value)).encode()
                answer = browser.post(to(route), body, "application/json")
            else:
                answer = browser.post(to(route), dict.fromkeys(NAMES, str(value)))
            assert answer.status_code < 500, (route, value)


def taken(browser: Client, method: str) -> list[str]:
    """The routes that answer this method, and not with 405."""
    codes = {route: browser.generic(method, to(route)).status_code for route in ROUTES}
    assert not [route for route, code in codes.items() if code >= 500], method
    return [route for route, code in codes.items() if code != 405]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "NONE"])
def test_no_method_breaks_a_route(browser: Client, method: str) -> None:
    for route in taken(browser, method):
        for part in ({"number": "9" * 30}, {"text": "a%00b"}, {"text": "%ff"}):
            path = filled(route, **part)
            assert browser.generic(method, path).status_code < 500, path
        if method in ("HEAD", "OPTIONS", "TRACE"):
            continue  # they take no body
        media = "application/json"
        for body in BODIES:
            answer = browser.generic(method, to(route), body, media)
            assert answer.status_code < 500, (route, body[:40])


def test_no_change_breaks_a_server(browser: Client) -> None:
    at = f"/api/v1/ingest/servers?product={SLUG}"
    sound = {"name": "x", "http_url": "http://127.0.0.1:9", "protocol": "http"}
    made = browser.post(at, json.dumps(sound), "application/json")
    assert made.status_code == 201, made.content
    one = at.replace("?", "/x?")
    for name in WISHED:
        for value in [*VALUES, "http://[", "http://a:99999", 2**31, "\ud800"]:
            answer = browser.patch(one, json.dumps({name: value}), "application/json")
            assert answer.status_code < 500, (name, value)
            answer = browser.post(
                at, json.dumps(sound | {"name": "y", name: value}), "application/json"
            )
            assert answer.status_code < 500, (name, value)
            if answer.status_code == 201:
                browser.delete(at.replace("?", "/y?"))
    assert browser.delete(one, b"{", "application/json").status_code < 500


@pytest.mark.parametrize(
    "headers",
    [
        {"First-Seq": HUGE, "Last-Seq": HUGE},
        {"First-Seq": "²"},
        {"Watermark": "0001-01-01T00:00:00+14:00"},
        {"Watermark": "9999-12-31T23:59:59-14:00"},
        {"Boot-Id": NUL},
        {"Content-Encoding": "br"},
        {"X-Request-Id": NUL},
        {"Authorization": f"Bearer {NUL}"},
    ],
    ids=str,
)
def test_no_header_breaks_a_delivery(browser: Client, headers: dict[str, str]) -> None:
    for path in ("/api/v1/ingest/requests", "/api/v1/ingest/files", "/v1/traces"):
        answer = browser.post(
            f"{path}?product={SLUG}&kind=triton_trace",
            b"{}",
            "application/json",
            headers={"Batch-Id": "b", **headers},
        )
        assert answer.status_code < 500, path

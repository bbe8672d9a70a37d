"""Every door of two rooms, found in the URL table, and what each of them reads.

What a page reads is learned by watching it read; what the API reads is in its own schema. So a new
address and a new field are attacked without a line here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator

from tests.accounts.routes import TABLE, is_page
from tests.releases.releases_cast import SLUG

ROOMS = ("releases", "accounts", "allauth")
#: To sign out ends the walk, and the chain of the trail is walked by a test of its own.
LEFT_OUT = {"logout"}


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """The addresses of the rooms."""
    for one in patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        elif _room(one.callback) in ROOMS:
            yield route


def _room(view: Any) -> str:
    while hasattr(view, "__wrapped__"):
        view = view.__wrapped__
    module: str = getattr(view, "view_class", getattr(view, "cls", view)).__module__
    return module.partition(".")[0]


ROUTES = sorted(set(routes(get_resolver().url_patterns)) - LEFT_OUT)
TAKES_GET = [route for route in ROUTES if TABLE[route][0] is not None]
TAKES_POST = [route for route in ROUTES if TABLE[route][1] is not None]
FORMS = [route for route in TAKES_POST if is_page(route)]
API = [route for route in TAKES_POST if not is_page(route)]

#: A form's message, a problem's page, what stands alone, why a pool stays.
IN_WORDS = ("field__error", 'role="alert"', "Code <code>", "If it stays, give", "It stays, because")


@dataclass
class Place:
    """Somebody with a browser in a product where each address finds something."""

    client: Client
    #: The number of a thing by the word before it in an address.
    numbers: dict[str, int]
    sound: dict[str, Any]
    edge: str = "edge-1"

    def path(self, route: str, slug: str = SLUG) -> str:
        """An address filled with what is there."""
        before, parts = "", []
        for part in route.replace("<slug:slug>", slug).split("/"):
            if part.startswith("<int:"):
                parts.append(str(self.numbers.get(before, 1)))
            else:
                parts.append((self.edge if before == "edges" else "x") if "<" in part else part)
            before = part
        return "/" + "/".join(parts)


@contextmanager
def undone() -> Iterator[None]:
    """What a request did is taken back: the next one meets the same place."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def watched() -> Iterator[set[str]]:
    """The names that are read from a query or a form meanwhile."""
    read: set[str] = set()
    kept = {name: getattr(QueryDict, name) for name in ("__getitem__", "get", "getlist")}

    def watching(name: str) -> Any:
        def asked(self: QueryDict, key: str, *more: Any) -> Any:
            read.add(key)
            return kept[name](self, key, *more)

        return asked

    try:
        for name in kept:
            setattr(QueryDict, name, watching(name))
        yield read
    finally:
        for name, was in kept.items():
            setattr(QueryDict, name, was)


def read_by(place: Place, method: str, route: str) -> list[str]:
    with watched() as read, undone():
        getattr(place.client, method)(place.path(route))
    return sorted(filter(None, read - {"csrfmiddlewaretoken"}))


def fields_of_api() -> dict[str, list[str]]:
    """The fields of each body, by address."""
    described = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    shapes, found = described["components"]["schemas"], {}
    for path, methods in described["paths"].items():
        body = methods.get("post", {}).get("requestBody", {}).get("content", {})
        shape = body.get("application/json", {}).get("schema", {})
        named = shapes.get(shape.get("$ref", "").rpartition("/")[2], shape)
        found[plain(path)] = sorted(named.get("properties", {}))
    return found


def plain(route: str) -> str:
    """An address without the names and kinds of its variables."""
    return "/".join("*" if part[:1] in ("{", "<") else part for part in route.strip("/").split("/"))


def fault(answer: Any, route: str) -> str:
    """What is wrong with an answer, in words: a 5xx, a refusal in another shape, or in silence."""
    if answer.status_code >= 500:
        error = getattr(answer, "exc_info", None)
        return f"{answer.status_code} {error and error[1]!r:.200}"
    if answer.status_code < 400 or answer.status_code == 405:
        return ""
    if not is_page(route):
        sound = answer.headers["Content-Type"] == "application/problem+json"
        told = answer.json() if sound else {}
        return "" if told.get("code") and told.get("detail") else "a refusal of no shape"
    body = answer.content.decode()
    said = any(mark in body for mark in IN_WORDS)
    return "" if said and "Traceback" not in body else f"{answer.status_code} without a word"

"""Whatever is sent to whichever door of the releases and the accounts: an answer in words."""

import json
import os
from collections.abc import Iterator
from typing import Any

from tests.releases.hostile.doors import (
    API,
    FORMS,
    TAKES_GET,
    Place,
    fault,
    fields_of_api,
    plain,
    read_by,
    undone,
)
from tests.releases.hostile.hostile_values import BODIES, CURSORS, JSON, PARTS, TEXTS

#: All of it is for an attack by hand; each run takes other pairs of a field and a value.
EVERY = int(os.environ.get("HOSTILE_EVERY", "13"))
JSON_TYPE = "application/json"


def some(pairs: Iterator[Any]) -> Iterator[Any]:
    return (pair for number, pair in enumerate(pairs) if number % EVERY == 0)


def posted(place: Place, route: str, body: bytes | str, media: str = JSON_TYPE) -> Any:
    with undone():
        return place.client.post(place.path(route), body, media)


def with_one_wrong(sound: dict[str, Any], name: str, value: str) -> str:
    """A body in which one value is written as it is given, whatever that is."""
    others = {key: json.dumps(one) for key, one in sound.items() if key != name}
    return "{" + ", ".join(f'"{k}": {v}' for k, v in {**others, name: value}.items()) + "}"


def told(faults: list[tuple[Any, ...]]) -> str:
    return "\n".join(map(str, faults))


def test_no_value_of_a_field_breaks_the_api(place: Place) -> None:
    fields = fields_of_api()
    asked = ((r, name, v) for r in API for name in fields[plain(r)] for v in JSON)
    found = [
        (route, name, value[:40], wrong)
        for route, name, value in some(asked)
        if (wrong := fault(posted(place, route, with_one_wrong(place.sound, name, value)), route))
    ]
    assert told(found) == ""


def test_no_body_breaks_the_api(place: Place) -> None:
    found = [
        (route, body[:40], media, wrong)
        for route in API
        for body in BODIES
        for media in (JSON_TYPE, "text/plain", "multipart/form-data; boundary=x")[:: len(body) or 1]
        if (wrong := fault(posted(place, route, body, media), route))
    ]
    assert told(found) == ""


def test_no_value_of_a_field_breaks_a_form(place: Place) -> None:
    names = {route: read_by(place, "post", route) for route in FORMS}
    asked = ((r, name, value) for r in FORMS for name in names[r] for value in TEXTS)
    found = []
    for route, name, value in some(asked):
        form = {**place.sound, name: value}
        with undone():
            answer = place.client.post(place.path(route), form)
        if wrong := fault(answer, route):
            found.append((route, name, value[:40], wrong))
    assert told(found) == ""


def test_no_parts_break_a_form(place: Place) -> None:
    media = "multipart/form-data; boundary=x"
    found = [
        (route, body[:40], wrong)
        for route in FORMS
        for body in PARTS
        if (wrong := fault(posted(place, route, body, media), route))
    ]
    assert told(found) == ""


def test_no_query_breaks_a_door(place: Place) -> None:
    names = {route: read_by(place, "get", route) for route in TAKES_GET}
    asked = ((r, name, v) for r in TAKES_GET for name in names[r] for v in [*TEXTS, *CURSORS])
    found = []
    for route, name, value in some(asked):
        with undone():
            answer = place.client.get(place.path(route), {name: value, "product": "orchid-demo"})
        if wrong := fault(answer, route):
            found.append((route, name, value[:40], wrong))
    assert told(found) == ""

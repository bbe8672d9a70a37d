"""Names in the document that must exist elsewhere in it: routes, dimensions, classes.

Works on the given keys, so that a wrong name is reported beside faults of shape.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchid.engine.document.errors import pointer_of
from orchid.engine.document.quality import MODELLESS_ROUTES
from orchid.engine.segments import INPUT_BUCKET, OUTPUT_BUCKET, bucket_names

#: Where a route is named; `*` stands for any key or index.
ROUTE_VALUES = (
    "classes/*/model",
    "fallback/*/from",
    "routing/rules/*/route",
    "routing/classifier/small",
    "routing/classifier/large",
    "routing/cascade/small",
    "routing/cascade/large",
    "admission/conservative_route",
    "demand/cells/*/route",
)
#: Where a route without a model may be named as well.
SERVED_VALUES = ("fallback/*/to", "examples/*/expect/route")
ROUTE_KEYS = (
    "demand/model_factor",
    "fleet/replicas",
    "fleet/placement",
    "admission/live_tokens/per_route",
    "scheduling/routes",
)
SELECTORS = (
    "contract/eligible",
    "gates/segments/*/where",
    "gates/guardrails/*/where",
    "segments/floors/*/where",
    "fallback/*/where",
    "routing/rules/*/where",
    "routing/always_large/*",
    "models/*/early_stop/where",
)
DIMENSION_KEYS = (
    *SELECTORS,
    "segments/buckets",
    "classes/*/dimensions",
    "examples/*/given/segment",
)
CLASS_VALUES = ("examples/*/given/class",)
STRATUM_VALUES = ("rollout/strata/*",)

Place = tuple[tuple[str | int, ...], Any]


@dataclass(frozen=True, slots=True)
class Dangling:
    """A name at `pointer` that none of `allowed` spells."""

    pointer: str
    found: str
    allowed: tuple[str, ...]


def dangling(given: dict[str, Any]) -> list[Dangling]:
    """Every reference to a route, class or dimension that the document does not have."""
    routes, classes = _keys(given, "models"), _keys(given, "classes")
    dimensions = tuple(
        name for _, name in _places(given, "segments/dimensions/*") if isinstance(name, str)
    )
    return [
        *_unknown(given, ROUTE_VALUES, ROUTE_KEYS, routes),
        *_unknown(given, SERVED_VALUES, (), routes and (*routes, *MODELLESS_ROUTES)),
        *_unknown(given, CLASS_VALUES, (), classes),
        *_unknown(given, STRATUM_VALUES, (), ("route", *dimensions)),
        *_unknown(given, (), DIMENSION_KEYS, dimensions),
        *_loose_buckets(given, INPUT_BUCKET),
        *_loose_buckets(given, OUTPUT_BUCKET),
    ]


def _loose_buckets(given: dict[str, Any], dimension: str) -> list[Dangling]:
    """Cells that name a bucket which the dimension's edges don't make."""
    found = [edges for _, edges in _places(given, f"segments/buckets/{dimension}")]
    edges = tuple(found[0]) if found and isinstance(found[0], list) else ()
    if not all(isinstance(edge, int) and edge > 0 for edge in edges):
        return []
    names = bucket_names(edges) if edges else ()
    return [
        Dangling(pointer_of(path), name, names)
        for path, name in _places(given, f"demand/cells/*/{dimension}")
        if isinstance(name, str) and name not in names
    ]


def _keys(given: dict[str, Any], section: str) -> tuple[str, ...]:
    content = given.get(section)
    return tuple(content) if isinstance(content, dict) else ()


def _unknown(
    given: dict[str, Any],
    values: tuple[str, ...],
    keys: tuple[str, ...],
    allowed: tuple[str, ...],
) -> list[Dangling]:
    named = [place for pattern in values for place in _places(given, pattern)]
    named += [place for pattern in keys for place in _key_places(given, pattern)]
    known = frozenset(allowed)
    return [
        Dangling(pointer_of(path), name, allowed)
        for path, name in named
        if allowed and isinstance(name, str) and name not in known
    ]


def _key_places(given: Any, pattern: str) -> Iterator[Place]:
    for path, content in _places(given, pattern):
        if isinstance(content, dict):
            yield from (((*path, key), key) for key in content)


def _places(given: Any, pattern: str) -> Iterator[Place]:
    places: list[Place] = [((), given)]
    for part in pattern.split("/"):
        places = [inner for place in places for inner in _inner(place, part)]
    return iter(places)


def _inner(place: Place, part: str) -> list[Place]:
    path, value = place
    if isinstance(value, dict):
        names = list(value) if part == "*" else [part] if part in value else []
        return [((*path, name), value[name]) for name in names]
    if isinstance(value, list) and part == "*":
        return [((*path, i), item) for i, item in enumerate(value)]
    return []

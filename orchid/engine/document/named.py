"""The values of dimensions that a document itself speaks of.

A rule, a gate or a floor that names a value must find the requests that have it, so these values
are never folded into `other`, however many a product has.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import MODELLESS_ROUTES
from orchid.engine.segments import bucket_names, values_of

#: Keys of a document whose value maps dimensions to values.
_SELECTORS = frozenset({"where", "eligible", "dimensions"})

Named = tuple[str, str]


def named_values(document: PolicyDocument) -> frozenset[Named]:
    """(dimension, value) of every selector, class and bucket; also tenants, routes, manifests."""
    found = set(_in(document.model_dump(by_alias=True)))
    for dimension, edges in document.segments.buckets.items():
        found |= {(dimension, name) for name in bucket_names(edges)}
    for name, model in document.models.items():
        found |= {("route", name), ("manifest", manifest_digest(model))}
    return frozenset(found | {("route", name) for name in MODELLESS_ROUTES})


def _in(value: Any) -> Iterator[Named]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _of_key(str(key), item)
            yield from _in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _in(item)


def _of_key(key: str, item: Any) -> Iterator[Named]:
    if key in _SELECTORS and isinstance(item, Mapping):
        for dimension, allowed in item.items():
            if isinstance(allowed, str | list | tuple):
                yield from ((str(dimension), name) for name in values_of(allowed))
    elif key == "tenant" and isinstance(item, str):
        yield "tenant", item
    elif "/" in key:  # a share names its group as dimension/value
        dimension, _, name = key.partition("/")
        yield dimension, name

"""The JSON Schema of `orchid.policy/v1`, by which editors complete and check a document."""

import copy
import json
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from orchid.engine.document.every_key import values_by_key
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import DURATION_PATTERN

SCHEMA_ID = "urn:orchid:schema:policy:v1"
#: Characters of an example that an editor shows; the parts of a longer one have their own.
MAX_EXAMPLE = 160

Node = dict[str, Any]


@cache
def _built() -> Node:
    schema = PolicyDocument.model_json_schema(by_alias=True, mode="validation")
    for node in _nodes(schema):
        _tidy(node)
    _exemplify(schema, schema, values_by_key())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}


def json_schema() -> Node:
    """The schema as JSON values (draft 2020-12)."""
    return copy.deepcopy(_built())


@lru_cache(maxsize=256)
def known_keys(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that the section at `path` knows; empty where keys are free or there is none."""
    nodes = _nodes_at(path)
    return tuple(sorted({key for node in nodes for key in resolved(_built(), node)["properties"]}))


def forms_at(path: tuple[str | int, ...]) -> list[Node]:
    """What the value at `path` may be, one schema a form; empty where nothing may be."""
    return [form for node in _nodes_at(path) for form in alternatives(_built(), node)]


def _nodes_at(path: tuple[str | int, ...]) -> list[Node]:
    nodes = [_built()]
    for part in path:
        nodes = [child for node in nodes for child in children(_built(), node, part)]
    return nodes


@cache
def duration_keys() -> frozenset[str]:
    """The keys whose whole numbers are milliseconds of a duration."""
    return frozenset(
        key
        for section in (_built(), *_built()["$defs"].values())
        for key, node in section.get("properties", {}).items()
        if any(form.get("pattern") == DURATION_PATTERN for form in alternatives(_built(), node))
    )


def resolved(schema: Node, node: Node) -> Node:
    """The section that a node means, with `properties` in any case."""
    reference = node.get("$ref")
    found = node if reference is None else schema["$defs"][reference.rsplit("/", 1)[1]]
    return {"properties": {}, **found}


def alternatives(schema: Node, node: Node) -> list[Node]:
    """What a value at the node may be, one schema a form."""
    node = resolved(schema, node)
    options = node.get("anyOf") or node.get("oneOf")
    return [form for o in options for form in alternatives(schema, o)] if options else [node]


def children(schema: Node, node: Node, part: str | int) -> list[Node]:
    """The schemas of what is at a key or an index of the node's values."""
    found = []
    for form in alternatives(schema, node):
        candidates: list[Any] = [form.get("items")]
        if isinstance(part, str):
            free = form.get("patternProperties", {}).values()
            candidates = [form["properties"].get(part), *free]
        found += [child for child in candidates if isinstance(child, dict)][:1]
    return found


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from _nodes(item)


def _tidy(node: Node) -> None:
    """Without pydantic's titles and null defaults; free keys are names and nothing else."""
    if isinstance(node.get("title"), str):
        del node["title"]
    if "default" in node and node["default"] is None:
        del node["default"]
    if "patternProperties" in node:
        node["additionalProperties"] = False


def _exemplify(schema: Node, node: Node, value: Any) -> None:
    """Gives every key below the node that has none yet its value in the document."""
    parts: dict[Any, Any] = value if isinstance(value, dict) else dict(enumerate(value))
    for part, item in parts.items():
        for child in children(schema, node, part):
            if isinstance(part, str) and len(json.dumps(item)) <= MAX_EXAMPLE:
                child.setdefault("examples", [item])
            if isinstance(item, dict | list):
                _exemplify(schema, child, item)

"""The JSON Schema of `orchid.policy/v1`, by which editors complete and check a document."""

from functools import cache, lru_cache
from typing import Any

from orchid.engine.document.model import PolicyDocument

SCHEMA_ID = "urn:orchid:schema:policy:v1"


@cache
def _built() -> dict[str, Any]:
    schema = PolicyDocument.model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}


def json_schema() -> dict[str, Any]:
    """The schema as JSON values (draft 2020-12)."""
    return dict(_built())


@lru_cache(maxsize=256)
def known_keys(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that the section at `path` knows; empty where keys are free or there is none."""
    nodes = [_built()]
    for part in path:
        nodes = [child for node in nodes for child in _children(node, part)]
    return tuple(sorted({key for node in nodes for key in _resolved(node).get("properties", {})}))


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    reference = node.get("$ref")
    if reference is None:
        return node
    found: dict[str, Any] = _built()["$defs"][reference.rsplit("/", 1)[1]]
    return found


def _children(node: dict[str, Any], part: str | int) -> list[dict[str, Any]]:
    node = _resolved(node)
    if "anyOf" in node:
        return [child for option in node["anyOf"] for child in _children(option, part)]
    if isinstance(part, int):
        candidates = [node.get("items")]
    else:
        free = node.get("patternProperties", {}).values()
        candidates = [node.get("properties", {}).get(part), *free]
    return [child for child in candidates if isinstance(child, dict)][:1]

"""The type, the unit and the default of a key in words, read off the JSON Schema."""

import json
import re
from typing import Any

from orchid.engine.document.schema import Node, alternatives, duration_keys
from orchid.engine.document.values import (
    DIGEST_PATTERN,
    DURATION_PATTERN,
    NAME_PATTERN,
    SLUG_PATTERN,
    UNSIGNED_PATTERN,
    duration_text,
)

_TEXTS = {
    DIGEST_PATTERN: "digest",
    DURATION_PATTERN: "duration",
    NAME_PATTERN: "name",
    SLUG_PATTERN: "slug",
    UNSIGNED_PATTERN: "decimal",
}
_BARE = re.compile("[A-Za-z][A-Za-z0-9_./-]*")
#: The first ending that a key has tells its unit.
_UNITS = (
    ("usd_per_million", "$ a million tokens"),
    ("usd_per_h", "$ an hour"),
    ("usd", "$"),
    ("live_token_ms", "token milliseconds"),
    ("tokens_per_s", "tokens a second"),
    ("ms_per_token", "ms a token"),
    ("teu_per_s", "TEU a second"),
    ("arrivals_per_s", "requests a second"),
    ("_ms", "ms"),
    ("_s", "seconds"),
    ("_gib", "GiB"),
    ("tokens", "tokens"),
    ("teu", "TEU"),
    ("value_bytes", "bytes"),
)


def type_words(schema: Node, node: Node) -> str:
    """`duration`, `list of names` ...; several forms are joined by `or`."""
    named = (_form_words(schema, form) for form in alternatives(schema, node))
    words = list(dict.fromkeys(word for word in named if word))
    if "decimal" in words:  # text or a number: one thing to the author
        words = [word for word in words if not word.startswith(("number", "fraction"))]
    if "duration" in words:
        words = ["duration"]
    return " or ".join(words)


def _form_words(schema: Node, form: Node) -> str:
    if "enum" in form:
        return ", ".join(f"`{word}`" for word in form["enum"])
    if "const" in form:
        return f"`{form['const']}`"
    kind = form.get("type")
    if kind == "string":
        return _TEXTS.get(form.get("pattern", ""), "text")
    if kind == "array":
        return _list_words(schema, form)
    if kind == "object":
        return _mapping_words(schema, form)
    plain = {"boolean": "true or false", "null": ""}
    return plain[kind] if kind in plain else _number_words(form)


def _list_words(schema: Node, form: Node) -> str:
    pair = form.get("prefixItems")
    return f"list of {_plural(type_words(schema, pair[0] if pair else form['items']))}"


def _mapping_words(schema: Node, form: Node) -> str:
    free = list(form.get("patternProperties", {}).values())
    if not free:
        return "section"
    words = type_words(schema, free[0])
    return (
        "selector" if words == "name or list of names" else f"mapping of {_plural(words)} by name"
    )


def _plural(words: str) -> str:
    return re.sub(r"\b(name|section|list|decimal|fraction|number|selector)\b", r"\1s", words)


def _number_words(form: Node) -> str:
    noun = "whole number" if form["type"] == "integer" else "number"
    least, over = form.get("minimum"), form.get("exclusiveMinimum")
    most, under = form.get("maximum"), form.get("exclusiveMaximum")
    if noun == "number" and (most == 1 or under == 1):
        return "fraction" if over is None else "fraction above 0"
    return noun if least in (0, None) and over is None else f"{noun} above 0"


def unit_words(key: str, words: str) -> str:
    """Of a key of the type that `words` tells; empty where that says it, or it counts things."""
    if not any(noun in words for noun in ("number", "decimal")):
        return ""
    return next((unit for ending, unit in _UNITS if key.endswith(ending)), "")


def default_words(section: Node, key: str) -> str:
    if key in section.get("required", ()):
        return "required"
    value = section["properties"][key].get("default")
    if value in (None, [], {}):
        return "none"
    if isinstance(value, dict):
        return "as below"
    return f"`{duration_text(value) if key in duration_keys() else flow(value)}`"


def flow(value: Any) -> str:
    """The value on one line, as YAML takes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    bare = isinstance(value, str) and _BARE.fullmatch(value)
    return value if bare else json.dumps(value, ensure_ascii=False)

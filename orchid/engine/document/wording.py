"""Values and places of a document in the words of a reader."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from orchid.engine.document.schema import duration_keys
from orchid.engine.document.values import decimal_text, duration_text

NOTHING = "nothing"


def place_words(path: tuple[str, ...]) -> str:
    """`gates utility min` for /gates/utility/min."""
    return " ".join(part.replace("_", " ") for part in path) or "the document"


def value_words(key: str, value: Any) -> str:
    """The value as the author would write it."""
    if value is None:
        return NOTHING
    if isinstance(value, int) and key in duration_keys():
        return duration_text(value)
    if isinstance(value, dict):
        inner = (f"{name}: {value_words(name, item)}" for name, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(value_words(key, item) for item in value) + "]"
    return _scalar_words(value)


def _scalar_words(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return decimal_text(Decimal(repr(value))) if isinstance(value, float) else str(value)


def selector_words(where: Mapping[str, Any]) -> str:
    """`task is extraction, tenant class is standard or trial`."""
    found = (f"{key.replace('_', ' ')} is {_either(value)}" for key, value in where.items())
    return ", ".join(found) or "every request"


def _either(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _scope(where: Mapping[str, Any]) -> str:
    return f"where {selector_words(where)}" if where else "for every request"


def fallback_words(rule: dict[str, Any]) -> str:
    """One rule as a sentence without its verb."""
    where = _scope(rule.get("where", {}))
    if rule.get("deny"):
        return f"no fallback {where}"
    first = ", served first" if rule.get("prefer") else ""
    return f"fallback from {rule['from']} to {rule['to']}{first} {where}"


def floor_words(floor: dict[str, Any]) -> str:
    return f"floor {value_words('min_utility', floor['min_utility'])} {_scope(floor['where'])}"

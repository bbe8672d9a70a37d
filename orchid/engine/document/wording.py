"""Values and places of a document in the words of a reader."""

from typing import Any

from orchid.engine.document.values import duration_text
from orchid.engine.segments import where_key

DURATION_KEYS = frozenset({"window", "hold", "observe", "shadow", "hard_limits"})
NOTHING = "nothing"


def place_words(path: tuple[str, ...]) -> str:
    """`gates utility min` for /gates/utility/min."""
    return " ".join(part.replace("_", " ") for part in path) or "the document"


def value_words(key: str, value: Any) -> str:
    """The value as the author would write it."""
    if value is None:
        return NOTHING
    if key in DURATION_KEYS and isinstance(value, int):
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
    return f"{value:g}" if isinstance(value, float) else str(value)


def selector_words(where: dict[str, Any]) -> str:
    return where_key(where).replace("|", ", ") or "every request"


def fallback_words(rule: dict[str, Any]) -> str:
    """One rule as a sentence without its verb."""
    where = selector_words(rule.get("where", {}))
    if rule.get("deny"):
        return f"no fallback for {where}"
    first = ", served first" if rule.get("prefer") else ""
    return f"fallback from {rule['from']} to {rule['to']}{first} for {where}"


def floor_words(floor: dict[str, Any]) -> str:
    return f"floor {floor['min_utility']:g} for {selector_words(floor['where'])}"

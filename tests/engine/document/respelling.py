"""The same content written otherwise: number, duration and text spellings, key order, media."""

import json
import unicodedata
from decimal import Decimal
from random import Random
from typing import Any

from orchid.engine.document.schema import Node, alternatives, children, json_schema
from orchid.engine.document.values import DURATION_PATTERN, UNSIGNED_PATTERN

SCHEMA = json_schema()
UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Exact(str):
    """The text of a number, to be written as it is."""

    __slots__ = ()


def respelled(given: dict[str, Any], random: Random) -> str:
    """Text of YAML or JSON with the content of `given`, every scalar in a spelling of its own."""
    value = _respelled([SCHEMA], given, random)
    return random.choice([_json, _yaml])(value)


def _respelled(nodes: list[Node], value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        keys = random.sample(list(value), len(value))
        return {key: _respelled(_inner(nodes, key), value[key], random) for key in keys}
    if isinstance(value, list):
        return [_respelled(_inner(nodes, i), item, random) for i, item in enumerate(value)]
    return _scalar(_patterns(nodes), value, random)


def _inner(nodes: list[Node], part: str | int) -> list[Node]:
    return [child for node in nodes for child in children(SCHEMA, node, part)]


def _patterns(nodes: list[Node]) -> set[str]:
    forms = [form for node in nodes for form in alternatives(SCHEMA, node)]
    return {form.get("pattern", "") for form in forms}


def _scalar(patterns: set[str], value: Any, random: Random) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if DURATION_PATTERN in patterns:
        return random.choice(_durations(value))
    if UNSIGNED_PATTERN in patterns:
        numbers = _numbers(Decimal(str(value)))
        return random.choice([*numbers, str(value), f"{Decimal(str(value)):f}"])
    if isinstance(value, int | float):
        return random.choice(_numbers(Decimal(repr(value))))
    return unicodedata.normalize(random.choice(["NFC", "NFD"]), value)


def _durations(value: Any) -> list[Any]:
    if isinstance(value, str):
        digits = value.rstrip("msdh")
        value = int(digits) * UNITS_MS[value[len(digits) :]]
    units = [f"{value // ms}{unit}" for unit, ms in UNITS_MS.items() if value % ms == 0]
    return [value, Exact(f"{value}.0"), *units]


def _numbers(value: Decimal) -> list[Exact]:
    plain = f"{value:f}"
    whole = [Exact(f"{plain}.0"), Exact(f"{plain}e0")] if "." not in plain else [Exact(f"{plain}0")]
    return [Exact(plain), Exact(f"{value:e}"), Exact(f"{value:E}"), *whole]


def _json(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return str(value) if isinstance(value, Exact) else json.dumps(value)


def _yaml(value: Any, pad: str = "") -> str:
    """Block style with a comment on each line of a mapping."""
    inner = pad + "  "
    if isinstance(value, dict) and value:
        lines = [f"{pad}{json.dumps(k)}: {_yaml(v, inner)}" for k, v in value.items()]
        return " # so it is\n" + "\n".join(lines)
    if isinstance(value, list) and value:
        return "\n" + "\n".join(f"{pad}- {_yaml(item, inner)}" for item in value)
    return _json(value)

"""Large policy documents for measurements: the reference product, grown by tasks and languages."""

from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import yaml

REFERENCE = Path(__file__).parents[2] / "examples" / "orchid-serve" / "generation-1.yaml"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sv", "da", "fi", "el", "ro")
#: How a document of many rules is made up; the rest are routing rules.
FALLBACK_PART, FLOOR_PART = 0.5, 0.3
TENANTS = 100
#: Arrivals of each added class a second: all of them together stay inside the reference's headroom.
ADDED_ARRIVALS = 0.05

Where = dict[str, Any]


def large_document(rules: int) -> dict[str, Any]:
    """The given keys of a consistent document with `rules` selectors over those of the reference.

    Half are fallback rules (one in five a prohibition), three tenths floors, the rest routing
    rules. Classes grow with the rules up to one hundred more, budgets to one hundred tenants.
    """
    document: dict[str, Any] = yaml.safe_load(REFERENCE.read_text())
    fallbacks, floors = round(rules * FALLBACK_PART), round(rules * FLOOR_PART)
    document["fallback"] += [_fallback(i, at) for i, at in enumerate(_cells(fallbacks))]
    document["segments"]["floors"] += [_floor(i, at) for i, at in enumerate(_cells(floors))]
    routed = _cells(rules - fallbacks - floors)
    document["routing"]["rules"] += [_routing(i, at) for i, at in enumerate(routed)]
    document["classes"] |= {_class_name(at): _class(at) for at in _cells(min(100, rules // 20))}
    document["budgets"] += [
        budget for i in range(min(TENANTS, rules // 20)) for budget in _budgets(f"tenant-{i:03}")
    ]
    return document


def text_of(document: dict[str, Any]) -> str:
    """YAML as people write it: one rule a line."""
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=160)


def document_of_lines(lines: int) -> str:
    """The text of a grown document with at least so many lines, and at most a few more."""
    rules = 0
    while (text := text_of(large_document(rules))).count("\n") < lines:
        rules += max(1, (lines - text.count("\n")) // 8)
    return text


def _cells(count: int) -> Iterator[Where]:
    """Distinct pairs of task and language, so that no two selectors can tie."""
    tasks = range(-(-count // len(LANGUAGES)))
    pairs = ({"task": f"task_{t:03}", "language": lang} for t, lang in product(tasks, LANGUAGES))
    return islice(pairs, count)


def _fallback(index: int, where: Where) -> dict[str, Any]:
    if index % 5 == 4:
        return {"deny": True, "where": where}
    return {"from": "full", "to": "compact", "where": where | {"tenant_class": "standard"}}


def _floor(index: int, where: Where) -> dict[str, Any]:
    return {"where": where, "min_utility": round(0.895 + index % 30 / 1000, 3)}


def _routing(index: int, where: Where) -> dict[str, Any]:
    return {"where": where, "route": ("compact", "full", "premium")[index % 3]}


def _class_name(where: Where) -> str:
    return f"{where['task']}/{where['language']}"


def _class(where: Where) -> dict[str, Any]:
    return {
        "model": "full",
        "input_tokens": 900,
        "max_output_tokens": 120,
        "min_output_tokens": 64,
        "arrivals_per_s": ADDED_ARRIVALS,
        "interactive": True,
        "dimensions": where | {"tenant_class": "standard", "risk": "low"},
    }


def _budgets(tenant: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {"tenant": tenant, "window": "10s", "max_teu": 120_000},
        {"tenant": tenant, "window": "1d", "max_usd": "400.00"},
    )

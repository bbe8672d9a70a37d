"""Whom a change concerns, by the place that changes."""

from collections.abc import Mapping
from typing import Literal

Category = Literal["quality", "cost", "capacity", "none"]
Path = tuple[str, ...]

#: The longest prefix that matches a changed place decides whom the change concerns; `*` is any key.
CATEGORIES: Mapping[Path, Category] = {
    (): "quality",
    ("gates", "cost_per_success_usd"): "cost",
    ("demand",): "capacity",
    ("models", "*", "timing"): "capacity",
    ("models", "*", "kv"): "capacity",
    ("models", "*", "weights_gib"): "capacity",
    ("models", "*", "max_sequences"): "capacity",
    ("models", "*", "cancel"): "cost",
    ("classes", "*", "arrivals_per_s"): "capacity",
    ("classes", "*", "input_tokens"): "capacity",
    ("classes", "*", "max_output_tokens"): "capacity",
    ("classes", "*", "purpose"): "capacity",
    ("classes", "*", "reserve"): "capacity",
    ("admission",): "capacity",
    ("admission", "conservative_route"): "quality",
    ("scheduling",): "capacity",
    ("overload",): "capacity",
    ("routing", "cascade", "small_cost_ratio"): "cost",
    ("fleet",): "capacity",
    ("fleet", "device_usd_per_h"): "cost",
    ("fleet", "overhead_usd_per_h"): "cost",
    ("prices",): "cost",
    ("allocation",): "cost",
    ("budgets",): "capacity",
    ("rollout",): "capacity",
    ("approvals", "cost"): "cost",
    ("approvals", "capacity"): "capacity",
    ("examples",): "none",
}


def category_of(path: Path) -> Category:
    fitting = [prefix for prefix in CATEGORIES if starts(path, prefix)]
    return CATEGORIES[max(fitting, key=len)]


def starts(path: Path, prefix: Path) -> bool:
    """Whether the prefix, with its wildcards, is the beginning of the path."""
    pairs = zip(path, prefix, strict=False)
    return len(path) >= len(prefix) and all(b in ("*", a) for a, b in pairs)

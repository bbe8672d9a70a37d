"""Sentences about the items of a document's lists, without their verb."""

from collections.abc import Callable, Mapping
from typing import Any

from orchid.engine.document.categories import Path
from orchid.engine.document.money import EVERY_TENANT
from orchid.engine.document.wording import (
    fallback_words,
    floor_words,
    selector_words,
    value_words,
)

Item = Any
Words = Callable[[Item], str]


def segment_words(item: Item) -> str:
    least = _given(item, "minimum_sample", "at least {} requests")
    return f"gates on the segment {item['name']} ({selector_words(item['where'])}){least}"


def guardrail_words(item: Item) -> str:
    bounds = _given(item, "max", "at most {}") + _given(item, "min", "at least {}")
    window, where = value_words("window", item["window"]), item.get("where", {})
    scope = f" where {selector_words(where)}" if where else ""
    least = _given(item, "minimum_sample", "from {} requests on")
    return f"guardrail {item['measure']}{scope}{bounds} in {window}{least}"


def routing_words(item: Item) -> str:
    return f"route to {item['route']} where {selector_words(item['where'])}"


def always_large_words(item: Item) -> str:
    return f"always the large route where {selector_words(item)}"


def cell_words(item: Item) -> str:
    shape = _given(item, "input_bucket", "input of {} tokens")
    shape += _given(item, "output_bucket", "output of {} tokens")
    said = "not served" if item.get("disabled") else f"padded by {item.get('pad')}"
    return f"{item['route']}{shape}: {said}"


def budget_words(item: Item) -> str:
    who = "each tenant" if item["tenant"] == EVERY_TENANT else item["tenant"]
    caps = [
        f"{value_words(key, value)} {key.removeprefix('max_').replace('_', ' ')}"
        for key, value in item.items()
        if key.startswith("max_")
    ]
    return f"{who} at most {' and '.join(caps)} in {value_words('window', item['window'])}"


def revisit_words(item: Item) -> str:
    bounds = _given(item, "max", "over {}") + _given(item, "min", "under {}")
    window = value_words("window", item["window"])
    return f"reopen by {item['trigger']}{bounds} in {window} ({item['measure']})"


def stage_words(item: Item) -> str:
    asked = "".join(_given(item, key, words) for key, words in STAGE_KEYS.items())
    if "canary" in item:
        hold = item.get("hold")
        held = f"held {value_words('hold', hold)}" if hold is not None else "not held"
        return f"canary of {item['canary']:g} {held}{asked}"
    kind = next(kind for kind in ("observe", "shadow", "hard_limits") if kind in item)
    return f"{kind.replace('_', ' ')} for {value_words(kind, item[kind])}{asked}"


#: What a stage asks beside its duration.
STAGE_KEYS: Mapping[str, str] = {
    "minimum_per_stratum": "{} requests in each stratum",
    "peak": "an hour of {} of the busiest",
    "cache_cycles": "{} cache cycles",
    "approval": "approval by {}",
    "survival": "{} of request ids survive",
    "teu_error": "TEU off by {} at most",
    "agreement": "{} of decisions agree",
    "decisions": "{} decisions",
    "max_refused": "{} refused at most",
}


def freeze_words(item: Item) -> str:
    span = f"from {item['from']} until {item['until']}, {item.get('zone', 'UTC')}"
    return f"nothing published {span} ({item['name']})"


def example_words(item: Item) -> str:
    """`example: short_assistant with deadline in ms 300, expected to bound by full`."""
    given, expect = dict(item["given"]), item["expect"]
    segment = given.pop("segment", {})
    name = given.pop("class")
    said = [f"{key.replace('_', ' ')} {value_words(key, value)}" for key, value in given.items()]
    said += [selector_words(segment)] if segment else []
    shape = f" with {', '.join(said)}" if said else ""
    return f"example: {name}{shape}, expected to {_expected(expect)}"


def _expected(expect: Mapping[str, Any]) -> str:
    route, reason = expect.get("route"), expect.get("reason")
    said = str(expect["action"]).replace("_", " ")
    return said + (f" by {route}" if route else "") + (f" for {reason}" if reason else "")


def _given(item: Item, key: str, words: str) -> str:
    return f", {words.format(value_words(key, item[key]))}" if key in item else ""


#: How the items of a list are said.
ITEMS: Mapping[Path, Words] = {
    ("fallback",): fallback_words,
    ("segments", "floors"): floor_words,
    ("gates", "segments"): segment_words,
    ("gates", "guardrails"): guardrail_words,
    ("routing", "rules"): routing_words,
    ("routing", "always_large"): always_large_words,
    ("demand", "cells"): cell_words,
    ("budgets",): budget_words,
    ("revisit",): revisit_words,
    ("rollout", "stages"): stage_words,
    ("rollout", "freezes"): freeze_words,
    ("examples",): example_words,
}

"""Published prices with tiers: what the engine charges is what their tables say."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from orchid.engine.document.money import Price
from orchid.engine.economics import upstream_usd

FILE = Path(__file__).parents[1] / "data/prices/tiered.json"
MODELS: dict[str, dict[str, Decimal]] = json.loads(
    FILE.read_text(), parse_float=Decimal, parse_int=Decimal
)
KEYS = {
    "input_tokens": "input_cost_per_token",
    "cached_input_tokens": "cache_read_input_token_cost",
    "cache_write_tokens": "cache_creation_input_token_cost",
    "output_tokens": "output_cost_per_token",
}


def edge_of(costs: dict[str, Decimal]) -> int:
    """Tokens above which a prompt is long, in thousands, from the names of the keys."""
    (found,) = {m[1] for key in costs if (m := re.search(r"input_cost.*_above_(\d+)k_tokens", key))}
    return int(found)


def price_of(costs: dict[str, Decimal]) -> Price:
    million, edge = Decimal(1_000_000), edge_of(costs)
    keys: dict[str, Any] = {
        "input_usd_per_million": costs["input_cost_per_token"] * million,
        "cached_input_usd_per_million": costs["cache_read_input_token_cost"] * million,
        "output_usd_per_million": costs["output_cost_per_token"] * million,
        "long_prompt": {
            "above_tokens": edge * 1000,
            "input_usd_per_million": costs[f"input_cost_per_token_above_{edge}k_tokens"] * million,
            "output_usd_per_million": costs[f"output_cost_per_token_above_{edge}k_tokens"]
            * million,
        },
    }
    if "cache_creation_input_token_cost" in costs:
        written = costs["cache_creation_input_token_cost"] * million
        keys["cache_write_usd_per_million"] = written
    if "input_cost_per_token_batches" in costs:
        batch = costs["input_cost_per_token_batches"] / costs["input_cost_per_token"]
        keys["batch_factor"] = batch
    return Price.model_validate(keys)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_published_tier_of_a_long_prompt_is_what_is_charged(name: str) -> None:
    costs, checked = MODELS[name], 0
    price, edge = price_of(costs), edge_of(costs)
    for kind, key in KEYS.items():
        for suffix, batch in (("", False), ("_batches", True)):
            published = costs.get(f"{key}_above_{edge}k_tokens{suffix}")
            # Upstreams differ in whether a batch reads its cache at half the price too.
            if published is None or (batch and "cache" in key):
                continue
            tokens = {"input_tokens": 0, "output_tokens": 0, kind: edge * 1000 + 1}
            if kind == "output_tokens":
                tokens["cached_input_tokens"] = edge * 1000 + 1
            paid = charged(price, tokens, batch=batch)
            if kind == "output_tokens":
                tokens["output_tokens"] = 0
                paid -= charged(price, tokens, batch=batch)
            assert paid == published * (edge * 1000 + 1)
            checked += 1
    assert checked >= 3


def charged(price: Price, tokens: dict[str, int], *, batch: bool) -> Decimal:
    return upstream_usd(
        price,
        input_tokens=tokens["input_tokens"],
        cached_input_tokens=tokens.get("cached_input_tokens", 0),
        cache_write_tokens=tokens.get("cache_write_tokens", 0),
        output_tokens=tokens["output_tokens"],
        batch=batch,
    )

"""Device memory: the ledger that closes, cache a token, tokens a pool."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from orchid.engine.document.demand import Kv
from orchid.engine.document.model import PolicyDocument
from orchid.engine.memory import (
    GIB,
    blocks_for,
    can_coexist,
    idle_share,
    kv_bytes_per_token,
    live_tokens_per_device,
    pool_tokens,
    residency,
    usable_tokens,
)

SHAPES = Path(__file__).parents[1] / "data/model-shapes"
TABLE = list(csv.DictReader((SHAPES / "kv_bytes_per_token.csv").read_text().splitlines()))


def grouped(layers: int, kv_heads: int, head_dim: int, value_bytes: str = "2") -> Kv:
    return Kv(layers=layers, kv_heads=kv_heads, head_dim=head_dim, value_bytes=Decimal(value_bytes))


def test_the_residency_ledger_closes_on_80_gib(reference: PolicyDocument) -> None:
    ledger = residency(reference.fleet)
    assert ledger is not None
    assert ledger.lines["weights"] == Decimal("26.08")
    assert ledger.lines["kv_pool"] == 34
    assert ledger.used_gib == ledger.device_gib == 80
    assert ledger.closes


def test_a_second_full_version_does_not_fit(reference: PolicyDocument) -> None:
    ledger = residency(reference.fleet)
    assert ledger is not None
    assert ledger.with_second(Decimal("26.08")) == Decimal("106.08")
    assert not can_coexist(ledger, Decimal("26.08"))


def test_34_gib_hold_278528_live_tokens_of_which_236748_are_usable(
    reference: PolicyDocument,
) -> None:
    full = reference.models["full"]
    assert full.kv is not None
    assert kv_bytes_per_token(full.kv) == 131_072
    assert pool_tokens(Decimal(34) * GIB, Decimal(131_072)) == 278_528
    assert usable_tokens(278_528, Decimal("0.85")) == 236_748
    assert live_tokens_per_device(reference.fleet, full) == 236_748
    assert reference.admission.live_tokens.per_device == 236_748


@pytest.mark.parametrize(
    ("kv", "expected"),
    [
        (grouped(40, 40, 128), 819_200),  # OPT-13B: hidden 5,120 = 40 heads of 128
        (grouped(32, 8, 128), 131_072),  # Llama 3 8B
        (grouped(32, 32, 128), 524_288),
        (grouped(32, 8, 128, "0.5"), 32_768),  # the same in 4 bit
        (grouped(32, 1, 128), 16_384),  # one shared head
    ],
)
def test_cache_bytes_a_token(kv: Kv, expected: int) -> None:
    assert kv_bytes_per_token(kv) == expected


def test_ten_long_conversations_hold_10_gib() -> None:
    assert 10 * 8_192 * kv_bytes_per_token(grouped(32, 8, 128)) == 10 * GIB


def test_12_billion_bytes_hold_14648_tokens() -> None:
    tokens = pool_tokens(Decimal(12_000_000_000), Decimal(819_200))
    assert tokens == 14_648
    assert tokens // 2_048 == 7


def test_100_tokens_take_7_blocks_of_16() -> None:
    paged = blocks_for(100, 16)
    assert (paged.blocks, paged.slots, paged.unused) == (7, 112, 12)
    assert blocks_for(0, 16).blocks == 0
    assert round(idle_share(2_048, 100) * 100, 1) == Decimal("95.1")


def published_shape(name: str) -> Kv:
    """The cache shape that a published model configuration implies."""
    config: dict[str, Any] = json.loads((SHAPES / f"{name}.json").read_text())
    layers = config["num_hidden_layers"]
    if "kv_lora_rank" in config:
        latent, rope = config["kv_lora_rank"], config["qk_rope_head_dim"]
        return Kv(layers=layers, latent_dim=latent, rope_dim=rope, value_bytes=Decimal(2))
    head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return grouped(layers, config["num_key_value_heads"], head_dim)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["model"])
def test_published_models_need_the_known_cache(row: dict[str, str]) -> None:
    assert kv_bytes_per_token(published_shape(row["model"])) == int(row["kv_bytes_per_token_16bit"])


def test_ten_published_models_are_compared() -> None:
    assert len(TABLE) == 10

"""Cache a token of published models and of each class; configurations that have no sound shape."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from orchid.engine.document.demand import Kv
from orchid.engine.document.model import PolicyDocument
from orchid.engine.memory import (
    blocks_for,
    kv_bytes_per_token,
    memory_by_class,
)
from orchid.engine.model_config import ConfigError, kv_of_config

SHAPES = Path(__file__).parents[1] / "data/model-shapes"
TABLE = list(csv.DictReader((SHAPES / "kv_bytes_per_token.csv").read_text().splitlines()))


def grouped(layers: int, kv_heads: int, head_dim: int, value_bytes: str = "2") -> Kv:
    return Kv(layers=layers, kv_heads=kv_heads, head_dim=head_dim, value_bytes=Decimal(value_bytes))


@pytest.mark.parametrize(
    ("kv", "expected"),
    [
        (grouped(32, 8, 128, "0.5"), 32_768),  # 8 KV heads in 4 bit
        (grouped(32, 1, 128), 16_384),  # one shared head
    ],
)
def test_cache_bytes_a_token(kv: Kv, expected: int) -> None:
    assert kv_bytes_per_token(kv) == expected


def test_no_token_takes_no_block() -> None:
    assert blocks_for(0, 16).blocks == 0


def published(name: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((SHAPES / f"{name}.json").read_text())
    return config


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["model"])
def test_published_models_need_the_known_cache(row: dict[str, str]) -> None:
    kv = kv_of_config(published(row["model"]))
    assert kv_bytes_per_token(kv) == int(row["kv_bytes_per_token_16bit"])


def test_ten_published_models_are_compared() -> None:
    assert len(TABLE) == 10


@pytest.mark.parametrize(("bits", "expected"), [(8, 65_536), (4, 32_768), (32, 262_144)])
def test_a_quantized_cache_is_asked_for_by_its_bits(bits: int, expected: int) -> None:
    assert (
        kv_bytes_per_token(kv_of_config(published("llama-3.1-8b-instruct"), bits=bits)) == expected
    )


def test_a_measured_pool_of_a_real_engine_is_the_formulas() -> None:
    """An RTX 4090 with vLLM 0.19 reported 2,588 blocks of 16 tokens for Llama 3.1 8B."""
    kv = kv_of_config(published("llama-3.1-8b-instruct"))
    assert 2_588 * 16 * kv_bytes_per_token(kv) == 5_427_429_376


def test_a_configuration_may_nest_its_language_model() -> None:
    inner = published("qwen2.5-7b-instruct")
    assert kv_of_config({"model_type": "vision", "text_config": inner}) == kv_of_config(inner)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"num_hidden_layers": None}, "num_hidden_layers is missing"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000: a whole number from 1"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True"),
        ({"num_attention_heads": "32"}, "num_attention_heads is str"),
        ({"num_key_value_heads": 64}, "num_key_value_heads is 64: a whole number from 1 to 32"),
        ({"num_key_value_heads": 0}, "num_key_value_heads is 0"),
        ({"hidden_size": 4097}, "4097 is no multiple of 32 heads"),
        ({"hidden_size": float("nan")}, "hidden_size is nan"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "mixes kinds of layers"),
    ],
)
def test_a_configuration_without_a_sound_shape_is_refused_in_words(
    change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        kv_of_config({**published("llama-3.1-8b-instruct"), **change})


def test_bits_that_no_cache_has_are_refused() -> None:
    with pytest.raises(ConfigError, match="3 bits"):
        kv_of_config(published("llama-2-7b"), bits=3)


def test_each_class_reserves_whole_blocks_of_its_own_route(reference: PolicyDocument) -> None:
    held = memory_by_class(reference)
    short = held["short_assistant"]
    assert (short.route, short.reserved_tokens, short.blocks.blocks) == ("full", 1_020, 64)
    assert short.cache_bytes == 1_024 * 131_072
    assert short.sequences == 236_748 // 1_024
    assert short.idle_share == 1 - Decimal(964) / 1_024
    assert held["classification"].route == "compact"

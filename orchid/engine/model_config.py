"""The shape of a model's cache, read from the config.json that its publisher gives."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from orchid.engine.document.demand import Kv

#: Above every published model by a wide margin; more is a wrong file, not a large model.
MOST_LAYERS = 1_000
MOST_HEADS = 4_096
WIDEST = 1 << 20

#: Attention whose cache does not grow by one key and value a token in every layer.
OTHER_CACHES = ("layer_types", "attn_layer_period", "hybrid_override_pattern", "ssm_cfg")


class ConfigError(ValueError):
    """The configuration says no cache shape; the text names the key and what was found."""


def kv_of_config(config: Mapping[str, Any], *, bits: int = 16) -> Kv:
    """The cache shape that a configuration implies, with values of `bits` bits.

    Multi-head latent attention where `kv_lora_rank` is named, else grouped heads; a missing
    `num_key_value_heads` means one for each attention head, a missing `head_dim` the hidden size
    over the heads, as the model code of both families reads them. Weights may be quantized and the
    cache not, so `bits` is asked for and never taken from the weights' type.
    """
    inner = config.get("text_config")
    if isinstance(inner, Mapping) and "num_hidden_layers" not in config:
        return kv_of_config(inner, bits=bits)
    _refuse_other_caches(config)
    if bits not in (4, 8, 16, 32):
        raise ConfigError(f"a cache value of {bits} bits: 4, 8, 16 or 32 are known")
    layers, value_bytes = _whole(config, "num_hidden_layers", MOST_LAYERS), Decimal(bits) / 8
    if config.get("kv_lora_rank") is not None:
        latent = _whole(config, "kv_lora_rank", WIDEST)
        rope = _whole(config, "qk_rope_head_dim", WIDEST)
        return Kv(layers=layers, latent_dim=latent, rope_dim=rope, value_bytes=value_bytes)
    heads = _whole(config, "num_attention_heads", MOST_HEADS)
    kv_heads = _whole(config, "num_key_value_heads", heads, default=heads)
    return Kv(
        layers=layers,
        kv_heads=kv_heads,
        head_dim=_head_dim(config, heads),
        value_bytes=value_bytes,
    )


def _head_dim(config: Mapping[str, Any], heads: int) -> int:
    if config.get("head_dim") is not None:
        return _whole(config, "head_dim", WIDEST)
    hidden = _whole(config, "hidden_size", WIDEST)
    if hidden % heads:
        raise ConfigError(
            f"hidden_size {hidden} is no multiple of {heads} heads, and head_dim is not given"
        )
    return hidden // heads


def _whole(config: Mapping[str, Any], key: str, most: int, default: int | None = None) -> int:
    """A positive whole number within a bound; the error says what stands there instead."""
    found = config.get(key)
    if found is None:
        if default is None:
            raise ConfigError(f"{key} is missing: this is no configuration of a language model")
        return default
    if isinstance(found, bool) or not isinstance(found, int) or not 0 < found <= most:
        said = f"{found}" if isinstance(found, int | float) else type(found).__name__
        raise ConfigError(f"{key} is {said}: a whole number from 1 to {most} is expected")
    return found


def _refuse_other_caches(config: Mapping[str, Any]) -> None:
    """A mix of attention kinds holds less than the formula says: say so, and give no figure."""
    named = [key for key in OTHER_CACHES if config.get(key) is not None]
    kinds = config.get("layer_types")
    if named == ["layer_types"] and isinstance(kinds, list) and set(kinds) == {"full_attention"}:
        return
    if named:
        raise ConfigError(
            f"{named[0]} mixes kinds of layers, whose cache has no single size a token"
        )

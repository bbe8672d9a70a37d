"""What Triton tells of a model: its configuration and its metadata, over HTTP or gRPC.

HTTP spells every default out and has numbers; gRPC leaves defaults away and has 64-bit numbers as
text. Both come to one canonical form, so that a configuration has one digest however it was read.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import msgspec

from orchid.formats.reading import UnreadableError

#: The first value of each enumeration, which gRPC leaves away.
_FIRST = frozenset({"FORMAT_NONE", "PRIORITY_DEFAULT", "REJECT", "KIND_AUTO", "MODEL_KIND_AUTO"})
#: Mappings that are empty when nothing was said; another empty object was said: it switches on.
_MAPPINGS = frozenset(
    {"parameters", "metric_tags", "cc_model_filenames", "priority_queue_policy", "input_map"}
    | {"output_map"}
)
#: Backends that schedule single tokens by themselves, and whose zeros would be a generation.
LANGUAGE_BACKENDS = frozenset({"vllm", "tensorrtllm"})


class Tensor(msgspec.Struct, frozen=True):
    """An input or output with its batch dimension, if it has one; -1 is any length."""

    name: str
    datatype: str
    shape: tuple[int, ...] = ()


class ModelConfig(msgspec.Struct, frozen=True):
    """The parts of a configuration that a policy document can be held against."""

    name: str
    digest: str
    backend: str = ""
    max_batch_size: int = 0
    dynamic_batching: bool = False
    max_delay_us: int = 0
    max_queue_size: int = 0
    queue_timeout_us: int = 0
    priority_levels: int = 0
    instances: int = 0
    decoupled: bool = False
    sequence: bool = False
    response_cache: bool = False
    warmed_up: bool = False
    steps: tuple[str, ...] = ()
    optional_inputs: tuple[str, ...] = ()

    @property
    def is_language_backend(self) -> bool:
        return self.backend in LANGUAGE_BACKENDS


class ModelMetadata(msgspec.Struct, frozen=True):
    """What a client needs to know of a model to call it."""

    name: str
    versions: tuple[str, ...] = ()
    platform: str = ""
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()

    @property
    def shapes(self) -> str:
        """Inputs and outputs on one line, by name: what two models can differ in."""
        return f"{_listed(self.inputs)} -> {_listed(self.outputs)}"


def _listed(tensors: tuple[Tensor, ...]) -> str:
    words = (f"{one.name}:{one.datatype}{list(one.shape)}" for one in tensors)
    return ", ".join(sorted(words)) or "nothing"


def read_config(given: Any) -> ModelConfig:
    """A configuration as either client returns it; raises UnreadableError when it is none."""
    found = given.get("config", given) if isinstance(given, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(found.get("name"), str):
        raise UnreadableError("not a Triton model configuration: it names no model")
    config = canonical(found)
    try:
        return _config(config)
    except (TypeError, ValueError, AttributeError, msgspec.ValidationError) as error:
        raise UnreadableError(f"not a Triton model configuration: {error}") from error


def _config(config: Mapping[str, Any]) -> ModelConfig:
    batching = config.get("dynamic_batching", {})
    queue = batching.get("default_queue_policy", {})
    steps = config.get("ensemble_scheduling", {}).get("step", [])
    return msgspec.convert(
        {
            "name": config["name"],
            "digest": digest_of(config),
            "backend": config.get("backend", config.get("platform", "")),
            "max_batch_size": config.get("max_batch_size", 0),
            "dynamic_batching": "dynamic_batching" in config,
            "max_delay_us": batching.get("max_queue_delay_microseconds", 0),
            "max_queue_size": queue.get("max_queue_size", 0),
            "queue_timeout_us": queue.get("default_timeout_microseconds", 0),
            "priority_levels": batching.get("priority_levels", 0),
            "instances": sum(one.get("count", 1) for one in config.get("instance_group", [])),
            "decoupled": config.get("model_transaction_policy", {}).get("decoupled", False),
            "sequence": "sequence_batching" in config,
            "response_cache": config.get("response_cache", {}).get("enable", False),
            "warmed_up": bool(config.get("model_warmup")),
            "steps": [step["model_name"] for step in steps],
            "optional_inputs": [
                one["name"] for one in config.get("input", []) if one.get("optional")
            ],
        },
        ModelConfig,
    )


def digest_of(config: Mapping[str, Any]) -> str:
    """`sha256:` and 64 hexadecimal digits over the canonical form."""
    text = json.dumps(config, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def canonical(given: Any, key: str = "") -> Any:
    """Without defaults, and with numbers as numbers: equal for HTTP and gRPC."""
    if isinstance(given, Mapping):
        parts = {name: canonical(value, name) for name, value in given.items()}
        return {name: value for name, value in parts.items() if not _is_default(name, value)}
    if isinstance(given, list):
        return [canonical(one, key) for one in given]
    return _as_number(given) if isinstance(given, str) else given


def _is_default(name: str, value: Any) -> bool:
    """Whether gRPC would leave this away."""
    if isinstance(value, dict):
        return not value and name in _MAPPINGS
    return not value or (isinstance(value, str) and value in _FIRST)


def _as_number(text: str) -> int | str:
    """Whole numbers in their only spelling; `02` and `²` stay as they are written."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        return text
    return int(text) if str(int(text)) == text else text


def read_metadata(given: Any) -> ModelMetadata:
    """Metadata as either client returns it; raises UnreadableError when it is none."""
    try:
        return msgspec.convert(given, ModelMetadata, strict=False)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"not Triton model metadata: {error}") from error

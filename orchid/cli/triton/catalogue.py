"""Toy models and pools of `examples/triton/models.toml`, and a Triton model repository of them.

Beside models that sleep, a pool may hold what else a repository holds: an ensemble of two of them,
a router that calls one or the other from its own code, and a model that answers with a stream. The
stand-in serves the plain models alone.
"""

import shutil
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from string import Template


@dataclass(frozen=True)
class ToyModel:
    """A model whose service time follows from lengths alone."""

    name: str
    base_ms: float
    per_input_token_us: float
    per_output_token_us: float
    priority: int = 1  # the rate limiter's: higher starts later
    max_queue: int = 0  # requests that may wait for it; 0 is no bound

    def service_s(self, input_tokens: int, output_tokens: int) -> float:
        tokens_us = (
            input_tokens * self.per_input_token_us + output_tokens * self.per_output_token_us
        )
        return self.base_ms / 1e3 + tokens_us / 1e6


@dataclass(frozen=True)
class Composite:
    """A model made of others, or of many answers: its kind names its template and its code."""

    name: str
    kind: str  # ensemble | router | stream
    first: str = ""
    second: str = ""
    per_output_token_us: float = 0.0


@dataclass(frozen=True)
class Pool:
    """What one server offers: instances of each model, sharing `slots` executions at a time."""

    name: str
    slots: int
    instances: dict[str, int]
    models: dict[str, ToyModel]
    composites: dict[str, Composite] = field(default_factory=dict)


def pool(catalogue: Path, name: str, slots: int | None = None) -> Pool:
    """The pool `name` of a catalogue file, with its own number of slots or the one given.

    Raises KeyError with the names there are when it isn't among them.
    """
    told = tomllib.loads(catalogue.read_text(encoding="utf-8"))
    if name not in told["pools"]:
        raise KeyError(f"no pool {name!r} in {catalogue.name}; it has {', '.join(told['pools'])}")
    chosen = told["pools"][name]
    models = {key: ToyModel(key, **told["models"][key]) for key in chosen["instances"]}
    made = {key: Composite(key, **told["composites"][key]) for key in chosen.get("composites", [])}
    return Pool(name, slots or chosen["slots"], chosen["instances"], models, made)


def write_repository(wanted: Pool, examples: Path, target: Path) -> None:
    """Write each model's `config.pbtxt` and `1/model.py` under `target`."""
    template = Template((examples / "config.pbtxt.template").read_text(encoding="utf-8"))
    for name, model in wanted.models.items():
        folder = target / name
        (folder / "1").mkdir(parents=True, exist_ok=True)
        config = template.substitute(
            asdict(model), instances=wanted.instances[name], queue=_queue(model)
        )
        (folder / "config.pbtxt").write_text(config, encoding="utf-8")
        shutil.copy2(examples / "model.py", folder / "1/model.py")
    for composite in wanted.composites.values():
        _write_composite(composite, examples, target / composite.name)


def _queue(model: ToyModel) -> str:
    """Batches of one, so that Triton has a queue of its own whose length can be bounded."""
    if not model.max_queue:
        return "max_batch_size: 0"
    policy = (
        f"default_queue_policy {{ allow_timeout_override: true max_queue_size: {model.max_queue} }}"
    )
    return f"max_batch_size: 1\ndynamic_batching {{ {policy} }}"


def _write_composite(composite: Composite, examples: Path, folder: Path) -> None:
    (folder / "1").mkdir(parents=True, exist_ok=True)
    text = (examples / f"{composite.kind}.pbtxt.template").read_text(encoding="utf-8")
    config = Template(text).substitute(asdict(composite))
    (folder / "config.pbtxt").write_text(config, encoding="utf-8")
    code = examples / f"{composite.kind}.py"
    if code.is_file():
        shutil.copy2(code, folder / "1/model.py")

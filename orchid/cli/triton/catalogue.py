"""Toy models and pools of `examples/triton/models.toml`, and a Triton model repository of them."""

import shutil
import tomllib
from dataclasses import asdict, dataclass
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

    def service_s(self, input_tokens: int, output_tokens: int) -> float:
        tokens_us = (
            input_tokens * self.per_input_token_us + output_tokens * self.per_output_token_us
        )
        return self.base_ms / 1e3 + tokens_us / 1e6


@dataclass(frozen=True)
class Pool:
    """What one server offers: instances of each model, sharing `slots` executions at a time."""

    name: str
    slots: int
    instances: dict[str, int]
    models: dict[str, ToyModel]


def pool(catalogue: Path, name: str, slots: int | None = None) -> Pool:
    """The pool `name` of a catalogue file, with its own number of slots or the one given.

    Raises KeyError with the names there are when it isn't among them.
    """
    told = tomllib.loads(catalogue.read_text(encoding="utf-8"))
    if name not in told["pools"]:
        raise KeyError(f"no pool {name!r} in {catalogue.name}; it has {', '.join(told['pools'])}")
    chosen = told["pools"][name]
    models = {key: ToyModel(key, **told["models"][key]) for key in chosen["instances"]}
    return Pool(name, slots or chosen["slots"], chosen["instances"], models)


def write_repository(wanted: Pool, examples: Path, target: Path) -> None:
    """Write each model's `config.pbtxt` and `1/model.py` under `target`."""
    template = Template((examples / "config.pbtxt.template").read_text(encoding="utf-8"))
    for name, model in wanted.models.items():
        folder = target / name
        (folder / "1").mkdir(parents=True, exist_ok=True)
        config = template.substitute(asdict(model), instances=wanted.instances[name])
        (folder / "config.pbtxt").write_text(config, encoding="utf-8")
        shutil.copy2(examples / "model.py", folder / "1/model.py")

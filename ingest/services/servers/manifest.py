"""Whether a server holds what the generations that are served expect of it.

A document names models by route; it knows no version of a server's repository, no configuration
digest and no tensor shapes. So each of these is pinned when a server is first seen holding a route
of a generation, and held against that ever after, until somebody accepts what is there now.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.services.servers.drift import drift
from ingest.services.servers.findings import Finding
from ingest.services.servers.observing import SeenModel
from orchid.engine.document.model import PolicyDocument

PARTS = ("versions", "config", "shapes")
_CODES = {"versions": "other_version", "config": "other_digest", "shapes": "other_shape"}
_WORDS = {
    "versions": "serves another version",
    "config": "has another configuration",
    "shapes": "takes or gives other tensors",
}
ACCEPT = (
    "If this was meant, accept it on this page; otherwise load what the generation was seen with."
)
Pins = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Expected:
    """One route of one served generation. `names` are the engine's models that stand for it."""

    digest: str
    role: str
    route: str
    names: frozenset[str]
    document: PolicyDocument

    def held_by(self, models: Sequence[SeenModel]) -> list[SeenModel]:
        return [model for model in models if model.name in self.names]


def pinned(model_versions: Sequence[SeenModel]) -> dict[str, Any]:
    """What is pinned of one model: the versions that are ready, its configuration and shapes."""
    ready = sorted(model_versions, key=lambda one: one.version)
    config = ready[-1].config
    return {
        "versions": [one.version for one in ready],
        "config": config.digest if config else "",
        "shapes": ready[-1].shapes,
    }


def new_pins(
    expected: Sequence[Expected], models: Sequence[SeenModel], pins: Pins
) -> dict[str, dict[str, Any]]:
    """By generation, what is seen for the first time and whole enough to be held to."""
    found: dict[str, dict[str, Any]] = {}
    for one in expected:
        for name, versions in _ready(one, models).items():
            now = pinned(versions)
            if name not in pins.get(one.digest, {}) and now["config"] and now["shapes"]:
                found.setdefault(one.digest, {})[name] = now
    return found


def _ready(expected: Expected, models: Sequence[SeenModel]) -> dict[str, list[SeenModel]]:
    by_name: dict[str, list[SeenModel]] = {}
    for model in expected.held_by(models):
        if model.ready:
            by_name.setdefault(model.name, []).append(model)
    return by_name


def check(
    expected: Sequence[Expected], models: Sequence[SeenModel], pins: Pins
) -> Iterator[Finding]:
    """Everything in which the server is not what its generations expect."""
    for one in expected:
        ready = _ready(one, models)
        if not ready:
            yield _missing(one, models)
        for name, versions in ready.items():
            pin = pins.get(one.digest, {}).get(name)
            if pin:
                yield from _changed(one, name, pin, pinned(versions))
            configs = [version.config for version in versions if version.config]
            if configs:
                yield from drift(one.document, one.route, configs[-1])


def _missing(expected: Expected, models: Sequence[SeenModel]) -> Finding:
    held = expected.held_by(models)
    names = " or ".join(sorted(expected.names))
    whose = f"the {expected.role} generation's route {expected.route}"
    if held:
        why = held[0].reason or held[0].state.lower()
        text = f"{held[0].name}, which serves {whose}, is not ready: {why}."
        return Finding(
            "model_not_ready",
            text,
            "Look at the server's log; it takes no request for this route.",
            held[0].name,
            "READY",
            held[0].state,
            breaks_manifest=True,
        )
    text = f"Nothing called {names} is loaded, which {whose} needs."
    next_step = "Load it, or map the engine's name for it to this route on the Sources page."
    found = ", ".join(sorted({model.name for model in models})[:8]) or "no model"
    return Finding("missing_model", text, next_step, names, names, found, breaks_manifest=True)


def _changed(
    expected: Expected, name: str, pin: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[Finding]:
    for part in PARTS:
        if pin[part] == now[part]:
            continue
        yield Finding(
            code=_CODES[part],
            model=name,
            text=f"{name} {_WORDS[part]} than when the {expected.role} generation was first served "
            "by it.",
            next=ACCEPT,
            expected=_short(pin[part]),
            found=_short(now[part]),
            breaks_manifest=True,
        )


def _short(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return text[:19] if text.startswith("sha256:") else text[:300] or "nothing"

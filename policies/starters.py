"""Documents that a new product may begin from: the examples that ship with Orchid."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controlplane.env import ROOT
from controlplane.errors import BadInput
from orchid.engine.document.parse import parse


@dataclass(frozen=True)
class Starter:
    name: str
    label: str
    file: Path


STARTERS = {
    starter.name: starter
    for starter in (
        Starter(
            "reference",
            "Reference: three routes, six classes, a fleet of 28 devices",
            ROOT / "examples" / "orchid-serve" / "generation-1.yaml",
        ),
        Starter(
            "small",
            "Small: one machine, full route only, three gated segments",
            ROOT / "examples" / "orchid-demo" / "generation-1.yaml",
        ),
    )
}


def document(name: str, product_slug: str) -> dict[str, Any]:
    """The starter's document under the new product's name; raises BadInput for another name."""
    starter = STARTERS.get(name)
    if starter is None:
        raise BadInput("unknown_template", f"A template is one of {', '.join(STARTERS)}.")
    given = parse(starter.file.read_bytes(), "yaml")
    return {**given, "product": product_slug}

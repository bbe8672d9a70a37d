"""The reference product's document as text and values, and variations of it."""

import copy
from pathlib import Path
from typing import Any

import yaml

SOURCE = (Path(__file__).parents[1] / "examples/orchid-serve/generation-1.yaml").read_text()
_VALUES: dict[str, Any] = yaml.safe_load(SOURCE)


def changed(**sections: Any) -> dict[str, Any]:
    """The reference document with some sections updated (mappings) or replaced (others)."""
    given = copy.deepcopy(_VALUES)
    for name, value in sections.items():
        given[name] = {**given[name], **value} if isinstance(value, dict) else value
    return given

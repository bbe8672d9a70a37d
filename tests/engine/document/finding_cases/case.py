"""What a case of a finding is: a provoking document, and the nearest one without it.

A case is a list of edits of the reference document; a path names keys and positions, `None`
removes, and a path ending in `+` appends.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

from orchid.engine.document.findings import RouteUtility
from tests.reference_document import changed

Edits = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """`wrong` provokes the finding at `pointer` with `said` in its text; `right` does not."""

    pointer: str
    said: str
    wrong: Edits
    right: Edits
    base: Edits | None = None
    evidence: tuple[RouteUtility, ...] = field(default=())
    right_evidence: tuple[RouteUtility, ...] | None = None


def edited(edits: Edits) -> dict[str, Any]:
    """The reference document with the edits made in order."""
    given = changed()
    for path, value in edits.items():
        _edit(given, path.split("."), copy.deepcopy(value))
    return given


def _edit(place: Any, path: list[str], value: Any) -> None:
    *parents, last = path
    for part in parents:
        listed = isinstance(place, list)
        place = place[int(part)] if listed else place.setdefault(part, {})
    if last == "+":
        place.append(value)
    elif value is None:
        place.pop(last, None) if isinstance(place, dict) else place.pop(int(last))
    else:
        place[int(last) if isinstance(place, list) else last] = value


SHORT = {"task": "short_assistant", "tenant_class": "standard"}

"""Two documents side by side, as the lines that differ; the sections of one are in sections/."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchid.engine.document.written import as_yaml

CONTEXT_LINES = 3


@dataclass(frozen=True)
class Line:
    """A line of a document diff; `sign` is `+`, `-`, a space, or empty for a gap."""

    sign: str
    text: str

    @property
    def css(self) -> str:
        return {"+": "is-added", "-": "is-removed", "": "is-gap"}.get(self.sign, "")

    @property
    def spoken(self) -> str:
        return {"+": "added", "-": "removed"}.get(self.sign, "")


def document_diff(before: dict[str, Any], after: dict[str, Any]) -> list[Line]:
    """Changed lines with a few around them; a gap stands for what is equal."""
    unified = difflib.unified_diff(
        as_yaml(before).splitlines(), as_yaml(after).splitlines(), lineterm="", n=CONTEXT_LINES
    )
    return list(_lines(unified))


def _lines(unified: Iterator[str]) -> Iterator[Line]:
    for raw in list(unified)[2:]:
        if raw.startswith("@@"):
            yield Line("", f"line {raw.split('+')[1].split(',')[0]}")
        else:
            yield Line(raw[0], raw[1:])

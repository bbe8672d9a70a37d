"""What is wrong with a document, where, and what would be right."""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass

FOUND_LIMIT = 80


@dataclass(frozen=True, slots=True)
class DocumentError:
    """One fault: JSON pointer, value found, what is allowed, a stable code, the nearest key."""

    pointer: str
    found: str
    allowed: str
    code: str
    hint: str = ""

    def __str__(self) -> str:
        place = self.pointer or "the document"
        text = f"{place}: found {self.found}, allowed is {self.allowed}"
        return f"{text} ({self.hint})" if self.hint else text


class DocumentErrors(Exception):  # noqa: N818 -- the plural says that every fault is in it
    """Every fault of a document at once."""

    def __init__(self, errors: Iterable[DocumentError]) -> None:
        self.errors = list(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


def shown(value: object) -> str:
    """The value as a reader wrote it, cut to a bounded length."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= FOUND_LIMIT else text[: FOUND_LIMIT - 1] + "…"


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean ...` for the closest known spelling, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else ""


def pointer_of(parts: Iterable[str | int]) -> str:
    """RFC 6901."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "".join(f"/{part}" for part in escaped)

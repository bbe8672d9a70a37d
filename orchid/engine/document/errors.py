"""What is wrong with a document, where, and what would be right."""

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

FOUND_LIMIT = 80
#: Faults told at once; a document with more is not this schema's at all.
MAX_FAULTS = 500
#: Names listed as allowed, and names compared for the nearest: both are for a reader's eye.
NAMES_LISTED, NAMES_COMPARED = 40, 300
LONGEST_NAME = 80

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=repr)


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
    text = ""
    try:
        for part in _ENCODER.iterencode(_cut(value)):
            text += part
            if len(text) > FOUND_LIMIT:
                break
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= FOUND_LIMIT else text[: FOUND_LIMIT - 1] + "…"


def _cut(value: object) -> object:
    return value[: FOUND_LIMIT + 1] if isinstance(value, str) else value


def listed(names: Sequence[str]) -> str:
    """`one of a, b, c`, cut to a bounded length."""
    if not names:
        return "nothing here"
    more = len(names) - NAMES_LISTED
    rest = f" and {more:,} more" if more > 0 else ""
    return "one of " + ", ".join(names[:NAMES_LISTED]) + rest


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean ...` for the closest known spelling, else nothing."""
    if len(word) > LONGEST_NAME:
        return ""
    candidates = list(islice(known, NAMES_COMPARED))
    close = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else ""


def pointer_of(parts: Iterable[str | int]) -> str:
    """RFC 6901."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "".join(f"/{part}" for part in escaped)

"""JSON text to values; a key that an object has twice is remembered until its place is known."""

import json
from typing import Any

from orchid.engine.document.bounds import MAX_DEPTH, broken_number, refuse, whole_number


class Repeated(dict[str, Any]):
    """An object in which `again` were given more than once; the first value of each is kept."""

    again: tuple[str, ...] = ()


def read_json(text: str) -> Any:
    """Raises DocumentErrors: not JSON, too deep, numbers that can't be kept."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_int=whole_number,
            parse_float=broken_number,
        )
    except json.JSONDecodeError as error:
        found = f"no JSON at line {error.lineno}, column {error.colno} ({error.msg})"
        raise refuse((), found, "JSON", "not_json") from None
    except RecursionError:
        raise refuse((), "deeper nesting", f"at most {MAX_DEPTH} levels", "too_deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) == len(pairs):
        return content
    repeated = Repeated()
    again = {}
    for key, value in pairs:
        if key in repeated:
            again[key] = True
        repeated.setdefault(key, value)
    repeated.again = tuple(again)
    return repeated


def _no_constant(word: str) -> Any:
    raise refuse((), word, "a finite number", "not_finite")

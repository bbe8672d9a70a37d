"""JSON bodies as strict as the database: bounded, finite, with text that can be stored."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from controlplane.errors import BadInput

#: A policy document may have 1 MB and evidence comes in sets; nothing else is near this.
LARGEST_JSON = 8 * 1024 * 1024


class StrictJSON(BaseParser):
    """What DRF's own parser lets through or fails on: endless nesting, NUL, half a character."""

    media_type = "application/json"

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(LARGEST_JSON + 1)
        if len(body) > LARGEST_JSON:
            raise BadInput("too_large", f"A body may have {LARGEST_JSON} bytes.", status=413)
        try:
            value = json.loads(body.decode("utf-8-sig"), parse_constant=_not_finite)
        except RecursionError as error:
            raise ParseError("The JSON is nested too deep.") from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}") from error
        if fault := next(filter(None, map(_fault, _scalars(value))), ""):
            raise ParseError(fault)
        return value


def _not_finite(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _scalars(value: Any) -> Iterator[Any]:
    """Every key and value that is not a container, without recursion."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            waiting += [*found.keys(), *found.values()]
        elif isinstance(found, list):
            waiting += found
        else:
            yield found


def _fault(value: Any) -> str:
    """Why a value can't be kept; empty when it can."""
    if isinstance(value, float) and not math.isfinite(value):
        return "A number is too large to be one."
    if isinstance(value, str):
        if "\x00" in value:
            return "Text holds no NUL character."
        if any("\ud800" <= character <= "\udfff" for character in value):
            return "Text holds half of a surrogate pair."
    return ""

"""Values that the document itself declares: inputs of the others, shown as such."""

import re
from decimal import Decimal
from typing import Any

from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)
from orchid.engine.document.load import load_document
from orchid.engine.document.values import DECIMAL_PATTERN


def _declared(material: Material, given: Given) -> Worked:
    pointer = given.text("at")
    value: Any = material.content
    for step in pointer.removeprefix("/").split("/"):
        if not isinstance(value, dict) or step not in value:
            raise FigureError(f"the document has nothing at {pointer}")
        value = value[step]
    if isinstance(value, dict | list) or value is None:
        raise FigureError(f"{pointer} is no single value")
    return Worked(_quoted(value), {"at": pointer})


def _quoted(value: bool | int | float | str) -> Value:
    """Numbers as numbers, in whichever of its spellings the document has them."""
    if isinstance(value, bool) or not re.fullmatch(DECIMAL_PATTERN, str(value)):
        return value if isinstance(value, bool) else str(value)
    return Decimal(str(value))


DERIVATIONS = (
    Derivation(
        "document_value", "", load_document, "declared by the document", _declared, declared=True
    ),
)

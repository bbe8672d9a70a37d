"""Values that the document itself declares: inputs of the others, shown as such."""

from typing import Any

from orchid.engine.derivations.worked import Derivation, FigureError, Given, Material, Worked
from orchid.engine.document.load import load_document


def _declared(material: Material, given: Given) -> Worked:
    pointer = given.text("at")
    value: Any = material.content
    for step in pointer.removeprefix("/").split("/"):
        if not isinstance(value, dict) or step not in value:
            raise FigureError(f"the document has nothing at {pointer}")
        value = value[step]
    if isinstance(value, dict | list) or value is None:
        raise FigureError(f"{pointer} is no single value")
    return Worked(value if isinstance(value, bool | str | int) else str(value), {"at": pointer})


DERIVATIONS = (
    Derivation(
        "document_value", "", load_document, "declared by the document", _declared, declared=True
    ),
)

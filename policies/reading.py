"""From bytes to a checked document of one product, with every fault told at once."""

from collections.abc import Mapping
from typing import Any

from controlplane.errors import Invalid
from orchid.engine.document.canonical import normalised_document
from orchid.engine.document.load import DocumentError, DocumentErrors, LoadedDocument, load_document

Given = bytes | str | Mapping[str, Any]


def read(product_slug: str, given: Given) -> LoadedDocument:
    """Raises Invalid (`document_invalid`) with one entry a fault."""
    try:
        loaded = load_document(given)
    except DocumentErrors as faults:
        raise Invalid(
            "document_invalid",
            f"The document has {len(faults.errors)} fault(s); none of it was stored.",
            errors=[fault(error) for error in faults.errors],
        ) from faults
    if loaded.document.product != product_slug:
        found = loaded.document.product
        raise Invalid(
            "other_product",
            f"The document says product: {found}; it was sent to {product_slug}.",
            errors=[{"pointer": "/product", "text": f"must be {product_slug}"}],
        )
    return loaded


def fault(error: DocumentError) -> dict[str, str]:
    text = f"found {error.found}; allowed is {error.allowed}"
    return {
        "pointer": error.pointer or "/",
        "code": error.code,
        "text": f"{text} ({error.hint})" if error.hint else text,
    }


def stored_form(loaded: LoadedDocument) -> dict[str, Any]:
    """The given keys in their one spelling: what is stored has the digest that it is named by."""
    return normalised_document(loaded.document)
